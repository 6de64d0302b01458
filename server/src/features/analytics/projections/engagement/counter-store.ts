/**
 * Writes what a pass has changed: counters are incremented, distributions and viewer sets are
 * written as whole values. The most recently used of these stay in memory. As with states, a
 * process that loses its lease or fails must call `forget`.
 */
import { getOrMake } from '../../../../platform/values/maps.ts';
import { dayMs } from '../../../../platform/values/time.ts';
import type { Tx } from '../../../../platform/database/database.ts';
import { RecentMap } from '../../statistics/recent-map.ts';
import {
  addViewer,
  createViewerSet,
  decodeViewerSet,
  encodeViewerSet,
  type ViewerSet,
} from '../../statistics/viewer-set.ts';
import {
  addDetail,
  emptyDetail,
  readDetail,
  writeDetail,
  type ContentDetail,
} from './content-detail.ts';
import {
  addCounts,
  emptyAudienceCounts,
  emptyContentCounts,
  isZero,
  type Counts,
} from './contribution.ts';
import {
  addAudienceCounts,
  addContentCounts,
  selectDetails,
  selectExistingContent,
  selectViewerSets,
  writeDetails,
  writeViewerSets,
  type AudienceCounts,
  type ContentCounts,
  type ContentKey,
  type DetailKey,
  setTables,
  type SetKey,
  type SetTable,
} from './counter-queries.ts';
import { splitAudienceKey, type EngagementPass, type OrganizationPass } from './engagement-pass.ts';

const wholeOrganization = '00000000-0000-0000-0000-000000000000';

/** Approximate size of a set in memory, in bytes; the limit keeps the total below 64 MB. */
function weighSet({ members }: ViewerSet): number {
  return 200 + (members === null ? 16_384 : members.size * 40);
}

export class CounterStore {
  readonly #details = new RecentMap<ContentDetail>(4_000);
  readonly #sets = new RecentMap<ViewerSet>(16_000_000, weighSet);

  /** @returns which of the changed items exist */
  async write(tx: Tx, pass: EngagementPass): Promise<Exists> {
    const exists = await findExisting(tx, pass);
    await addContentCounts(tx, contentRows(pass, exists));
    await addAudienceCounts(tx, audienceRows(pass));
    await this.#writeDetails(tx, pass, exists);
    for (const table of setTables) await this.#writeSets(tx, table, pass, exists);
    return exists;
  }

  forget(): void {
    this.#details.clear();
    this.#sets.clear();
  }

  async #writeDetails(tx: Tx, pass: EngagementPass, exists: Exists): Promise<void> {
    const changes: { name: string; key: DetailKey; change: ContentDetail }[] = [];
    for (const [organizationId, { details }] of pass) {
      for (const [contentId, days] of details) {
        if (!exists(organizationId, contentId)) continue;
        for (const [day, change] of days) {
          const key = { organizationId, contentId, dayMs: day };
          changes.push({ name: detailName(key), key, change });
        }
      }
    }
    const unknown = changes.filter(({ name }) => this.#details.get(name) === undefined);
    if (unknown.length > 0) {
      const rows = await selectDetails(
        tx,
        unknown.map(({ key }) => key),
      );
      for (const row of rows) this.#details.set(detailName(row), readDetail(row.detail));
    }
    const written = changes.map(({ name, key, change }) => {
      const detail = this.#details.get(name) ?? emptyDetail();
      addDetail(detail, change);
      this.#details.set(name, detail);
      return { ...key, detail: writeDetail(detail) };
    });
    await writeDetails(tx, written);
  }

  async #writeSets(tx: Tx, table: SetTable, pass: EngagementPass, exists: Exists): Promise<void> {
    const joining = [...membersOf(pass, table, exists)];
    const unknown = joining.filter(({ name }) => this.#sets.get(name) === undefined);
    if (unknown.length > 0) {
      const rows = await selectViewerSets(
        tx,
        table,
        unknown.map(({ key }) => key),
      );
      for (const row of rows) this.#sets.set(setName(table, row), decodeViewerSet(row.sketch));
    }
    const written: (SetKey & { sketch: Buffer })[] = [];
    for (const { name, key, members } of joining) {
      const set = this.#sets.get(name) ?? createViewerSet();
      const weight = weighSet(set);
      let hasGrown = false;
      for (const member of members) if (addViewer(set, member)) hasGrown = true;
      this.#sets.set(name, set);
      if (!hasGrown) continue;
      this.#sets.grew(Math.max(0, weighSet(set) - weight));
      written.push({ ...key, sketch: encodeViewerSet(set) });
    }
    await writeViewerSets(tx, table, written);
  }
}

function detailName({ organizationId, contentId, dayMs: day }: DetailKey): string {
  return `${organizationId} ${contentId} ${day}`;
}

function setName(table: SetTable, { organizationId, contentId, grain, periodMs }: SetKey): string {
  return `${table} ${organizationId} ${contentId} ${grain} ${periodMs}`;
}

export type Exists = (organizationId: string, contentId: string) => boolean;

/**
 * Permanently deleted items get no rows. Their purge takes the lock of this projection, so it
 * either removes what was written or is visible here.
 */
async function findExisting(tx: Tx, pass: EngagementPass): Promise<Exists> {
  const touched = new Map<string, ContentKey>();
  const touch = (organizationId: string, contentId: string) => {
    touched.set(`${organizationId} ${contentId}`, { organizationId, contentId });
  };
  for (const [organizationId, { contents, details, watchers, reactors }] of pass) {
    for (const contentId of contents.keys()) touch(organizationId, contentId);
    for (const contentId of details.keys()) touch(organizationId, contentId);
    for (const { ofItems } of [watchers, reactors]) {
      for (const contentId of ofItems.keys()) touch(organizationId, contentId);
    }
  }
  const found = await selectExistingContent(tx, [...touched.values()]);
  const existing = new Set(
    found.map(({ organizationId, contentId }) => `${organizationId} ${contentId}`),
  );
  return (organizationId, contentId) => existing.has(`${organizationId} ${contentId}`);
}

type Joining = { name: string; key: SetKey; members: Iterable<number> };

/** The sets that a pass adds to, with their new members. */
function* membersOf(pass: EngagementPass, table: SetTable, exists: Exists): Generator<Joining> {
  for (const [organizationId, organization] of pass) {
    const { ofItems, byHour } =
      table === 'viewer_set' ? organization.watchers : organization.reactors;
    for (const [contentId, days] of ofItems) {
      if (!exists(organizationId, contentId)) continue;
      for (const [day, members] of days) {
        const key = { organizationId, contentId, grain: 'day', periodMs: day } as const;
        yield { name: setName(table, key), key, members };
      }
    }
    const ofDays = new Map<number, number[]>();
    const whole = { organizationId, contentId: wholeOrganization };
    for (const [hour, members] of byHour) {
      const key = { ...whole, grain: 'hour', periodMs: hour } as const;
      yield { name: setName(table, key), key, members };
      getOrMake(ofDays, hour - (hour % dayMs), () => new Array<number>()).push(...members);
    }
    for (const [day, members] of ofDays) {
      const key = { ...whole, grain: 'day', periodMs: day } as const;
      yield { name: setName(table, key), key, members };
    }
  }
}

/** The given hourly counts, and their sums by day and over all time. */
function contentRows(pass: EngagementPass, exists: Exists): ContentCounts[] {
  const rows: ContentCounts[] = [];
  for (const [organizationId, { contents }] of pass) {
    for (const [contentId, hours] of contents) {
      if (!exists(organizationId, contentId)) continue;
      const key = { organizationId, contentId };
      const total = emptyContentCounts();
      const days = new Map<number, Counts>();
      for (const [hour, counts] of hours) {
        if (isZero(counts)) continue;
        rows.push({ ...key, grain: 'hour', periodMs: hour, counts });
        addCounts(getOrMake(days, hour - (hour % dayMs), emptyContentCounts), counts);
        addCounts(total, counts);
      }
      for (const [day, counts] of days) {
        if (!isZero(counts)) rows.push({ ...key, grain: 'day', periodMs: day, counts });
      }
      if (!isZero(total)) rows.push({ ...key, grain: 'total', periodMs: 0, counts: total });
    }
  }
  return rows.toSorted((a, b) => a.periodMs - b.periodMs || (a.contentId < b.contentId ? -1 : 1));
}

function audienceRows(pass: EngagementPass): AudienceCounts[] {
  const rows: AudienceCounts[] = [];
  for (const [organizationId, organization] of pass) {
    for (const [key, days] of audienceDays(organization)) {
      const part = { organizationId, ...splitAudienceKey(key) };
      for (const [day, counts] of days) {
        if (!isZero(counts)) rows.push({ ...part, grain: 'day', periodMs: day, counts });
      }
    }
    for (const [hour, parts] of organization.audience) {
      for (const [key, counts] of parts) {
        const part = { organizationId, ...splitAudienceKey(key) };
        if (!isZero(counts)) rows.push({ ...part, grain: 'hour', periodMs: hour, counts });
      }
    }
  }
  return rows;
}

function audienceDays({ audience }: OrganizationPass): Map<string, Map<number, Counts>> {
  const days = new Map<string, Map<number, Counts>>();
  for (const [hour, parts] of audience) {
    for (const [key, counts] of parts) {
      const daysOfPart = getOrMake(days, key, () => new Map<number, Counts>());
      addCounts(getOrMake(daysOfPart, hour - (hour % dayMs), emptyAudienceCounts), counts);
    }
  }
  return days;
}
