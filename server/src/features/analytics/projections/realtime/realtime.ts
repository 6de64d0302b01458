/**
 * The projection `realtime`: what happened in each minute of the last two hours, in total and by
 * item, and who watched. An event counts in the minute of its timestamp; older ones are ignored.
 */
import type { Tx } from '../../../../platform/database/database.ts';
import type { ProjectionWriter, Viewer } from '../../../../platform/projections/projection.ts';
import { minuteMs } from '../../../../platform/values/time.ts';
import {
  noItem,
  type EventBlock,
  type EventProjection,
  type LoggedEvent,
} from '../../../events/events.ts';
import { ViewerSecrets } from '../../../organizations/organizations.ts';
import { hashViewer, memberOf, viewerOf } from '../../statistics/viewer-key.ts';
import { erasedKeys } from '../../statistics/viewer-keys.ts';
import {
  addViewer,
  createViewerSet,
  decodeViewerSet,
  encodeViewerSet,
} from '../../statistics/viewer-set.ts';
import { selectExistingContent } from '../engagement/counter-queries.ts';
import { getOrMake } from '../../../../platform/values/maps.ts';
import { viewedContentOf } from '../engagement/view-state.ts';
import {
  addMinuteCounts,
  deleteMinutesOfItems,
  deleteOldMinutes,
  minuteColumns,
  selectMinuteSets,
  selectMinuteSetsOf,
  upsertMinuteSets,
  type MinuteColumn,
  type MinuteCounts,
} from './realtime-queries.ts';

export const keptMinutes = 120;

export const realtime: EventProjection = {
  name: 'realtime',
  tables: ['minute_counter', 'minute_viewer_set'],
  createWriter: () => new RealtimeWriter(),
  maxDuty: 0.5,
  eraseViewer: forgetViewer,
  purgeItems: deleteMinutesOfItems,
  expire: [
    (tx, limit) => deleteOldMinutes(tx, 'minute_counter', keptMinutes, limit),
    (tx, limit) => deleteOldMinutes(tx, 'minute_viewer_set', keptMinutes, limit),
  ],
  rebuild: { from: 'log' },
};

const columnOfKind: Partial<Record<LoggedEvent['event'], MinuteColumn>> = {
  impression: 'impressions',
  playStart: 'plays',
  completion: 'completions',
  like: 'likes',
  share: 'shares',
  save: 'saves',
  rebuffer: 'rebuffers',
  error: 'errors',
};
const watchingKinds = new Set<LoggedEvent['event']>(['playStart', 'watchProgress', 'completion']);

type Minute = {
  readonly organizationId: string;
  readonly minuteMs: number;
  /** By item; `noItem` stands for all. */
  readonly counts: Map<string, number[]>;
  readonly viewers: Set<string>;
};

class RealtimeWriter implements ProjectionWriter<LoggedEvent> {
  #pass = new Map<string, Minute>();
  readonly #secrets = new ViewerSecrets();

  collect(blocks: readonly EventBlock[]): void {
    const oldestMs = Date.now() - keptMinutes * minuteMs;
    for (const { organizationId, events, receivedAt } of blocks) {
      if (receivedAt < oldestMs) continue;
      for (const event of events) {
        if (event.at >= oldestMs) this.#collect(organizationId, event);
      }
    }
  }

  #collect(organizationId: string, event: LoggedEvent): void {
    const startMs = event.at - (event.at % minuteMs);
    const minute = getOrMake(this.#pass, `${organizationId} ${startMs}`, () => ({
      organizationId,
      minuteMs: startMs,
      counts: new Map<string, number[]>(),
      viewers: new Set<string>(),
    }));
    const column = columnOfKind[event.event];
    if (column !== undefined) {
      addTo(minute, noItem, column);
      const contentId = viewedContentOf(event);
      if (contentId !== null && contentId !== noItem) addTo(minute, contentId, column);
    }
    const viewer = watchingKinds.has(event.event) ? viewerOf(event) : null;
    if (viewer !== null) minute.viewers.add(viewer);
  }

  async write(tx: Tx): Promise<void> {
    const minutes = [...this.#pass.values()];
    this.#pass = new Map();
    if (minutes.length === 0) return;
    await addMinuteCounts(tx, await ofKnownItems(tx, minutes));
    await this.#addViewers(
      tx,
      minutes.filter(({ viewers }) => viewers.size > 0),
    );
  }

  async #addViewers(tx: Tx, minutes: readonly Minute[]): Promise<void> {
    if (minutes.length === 0) return;
    await this.#secrets.load(tx, new Set(minutes.map(({ organizationId }) => organizationId)));
    const keyOf = (minute: Pick<Minute, 'organizationId' | 'minuteMs'>) =>
      `${minute.organizationId} ${minute.minuteMs}`;
    const known = new Map(
      (await selectMinuteSets(tx, minutes)).map((row) => [keyOf(row), decodeViewerSet(row.sketch)]),
    );
    const changed = minutes.flatMap((minute) => {
      const { organizationId, viewers } = minute;
      const set = known.get(keyOf(minute)) ?? createViewerSet();
      let hasChanged = false;
      for (const viewer of viewers) {
        const member = memberOf(hashViewer(this.#secrets, organizationId, viewer));
        if (addViewer(set, member)) hasChanged = true;
      }
      return hasChanged
        ? [{ organizationId, minuteMs: minute.minuteMs, sketch: encodeViewerSet(set) }]
        : [];
    });
    await upsertMinuteSets(tx, changed);
  }

  forget(): void {
    this.#pass = new Map();
  }
}

function addTo({ counts }: Minute, contentId: string, column: MinuteColumn): void {
  const row = getOrMake(counts, contentId, () => minuteColumns.map(() => 0));
  const index = minuteColumns.indexOf(column);
  row[index] = (row[index] ?? 0) + 1;
}

/** Late events of permanently deleted items count in the total but for no item. */
async function ofKnownItems(tx: Tx, minutes: readonly Minute[]): Promise<MinuteCounts[]> {
  const rows = minutes.flatMap(({ organizationId, minuteMs: startMs, counts }) =>
    [...counts].map(([contentId, row]) => ({
      organizationId,
      minuteMs: startMs,
      contentId,
      counts: row,
    })),
  );
  const keyOf = ({ organizationId, contentId }: { organizationId: string; contentId: string }) =>
    `${organizationId} ${contentId}`;
  const items = new Map(
    rows.filter(({ contentId }) => contentId !== noItem).map((row) => [keyOf(row), row]),
  );
  const existing = new Set((await selectExistingContent(tx, [...items.values()])).map(keyOf));
  return rows.filter((row) => row.contentId === noItem || existing.has(keyOf(row)));
}

async function forgetViewer(tx: Tx, viewer: Viewer): Promise<number> {
  const keys = await erasedKeys(tx, viewer);
  const members = keys.map((key) => memberOf(key.toString('latin1')));
  const sets = (await selectMinuteSetsOf(tx, viewer.organizationId)).flatMap((row) => {
    const set = decodeViewerSet(row.sketch);
    const had = members.filter((member) => set.members?.delete(member) === true);
    return had.length > 0 ? [{ ...row, sketch: encodeViewerSet(set) }] : [];
  });
  await upsertMinuteSets(tx, sets);
  return sets.length;
}
