/** Adds up the facts that match a filter, in groups that a report chooses. */
import type { Db } from '../../../platform/database/database.ts';
import { hourMs } from '../../../platform/time.ts';
import { readPeople, type People } from '../projections/links/link-queries.ts';
import { startupBucket } from '../statistics/startup-histogram.ts';
import type { Hash } from '../statistics/viewer-key.ts';
import { decodeFacts } from './codec.ts';
import { MemberPairs } from './member-pairs.ts';
import { selectChunks, type ReadChunk } from './queries.ts';
import {
  countOffset,
  countryName,
  decodeWeight,
  factColumn,
  factCounts,
  factDevices,
  type Facts,
} from './facts.ts';

/** What a fact must have; all of it. */
export type FactFilter = {
  readonly device?: number;
  readonly country?: number;
  readonly entryPoint?: Hash;
  readonly appVersion?: Hash;
  /** Items; sessions match only without. */
  readonly contentIds?: ReadonlySet<string>;
};

/** By what facts are told apart. Hours and days are moments of the organization's clock. */
export type FactGrouping = 'hour' | 'day' | 'content' | 'device' | 'country' | 'entryPoint';

export type FactQuery = {
  readonly startMs: number;
  readonly endMs: number;
  readonly filter: FactFilter;
  readonly groupBy: FactGrouping;
  /** Tells facts apart by time as well: keys are `${moment} ${key}`. */
  readonly within?: 'hour' | 'day';
  /** Whose views are counted: of those who watched, or of all who did anything. */
  readonly viewers?: 'watching' | 'active';
  readonly startups?: boolean;
  readonly reached?: boolean;
};

export type Startups = Map<number, { count: number; total: number }>;
export type FactCounts = Record<(typeof factCounts)[number], number>;
/** A moment, an id, a label's hash, or a name; '' is unknown. */
export type GroupKey = string | number;

/** What facts add up to. Groups without any facts are missing. */
export class FactSums {
  readonly groups = new Map<GroupKey, number>();
  readonly pairs = new MemberPairs();
  readonly startups = new Map<number, Startups>();
  readonly reached = new Map<number, Map<number, number>>();
  #counts = new Float64Array(factCounts.length * 16);

  groupOf(key: GroupKey): number {
    let group = this.groups.get(key);
    if (group === undefined) {
      group = this.groups.size;
      this.groups.set(key, group);
      const needed = (group + 1) * factCounts.length;
      if (needed > this.#counts.length) {
        const larger = new Float64Array(needed * 2);
        larger.set(this.#counts);
        this.#counts = larger;
      }
    }
    return group;
  }

  addTo(group: number, count: number, value: number): void {
    const at = group * factCounts.length + count;
    this.#counts[at] = (this.#counts[at] ?? 0) + value;
  }

  countsOf(key: GroupKey): FactCounts {
    const at = (this.groups.get(key) ?? -1) * factCounts.length;
    return Object.fromEntries(
      factCounts.map((name, index) => [name, at < 0 ? 0 : (this.#counts[at + index] ?? 0)]),
    ) as FactCounts;
  }

  /** Unique viewers of each group. */
  viewersByGroup(): Map<GroupKey, number> {
    const counts = new Int32Array(this.groups.size);
    this.pairs.forEach((_, group) => {
      counts[group] = (counts[group] ?? 0) + 1;
    });
    return new Map([...this.groups].map(([key, group]) => [key, counts[group] ?? 0]));
  }

  /**
   * Unique viewers of groups together: a viewer of two groups with one index counts once.
   *
   * @param indexOf where a group counts, from 0 to `length` − 1; null: nowhere
   */
  viewersByIndex(length: number, indexOf: (key: GroupKey) => number | null): number[] {
    const indexes = new Map<number, number>();
    for (const [key, group] of this.groups) {
      const index = indexOf(key);
      if (index !== null) indexes.set(group, index);
    }
    const together = new MemberPairs();
    this.pairs.forEach((member, group) => {
      const index = indexes.get(group);
      if (index !== undefined) together.add(member, index, 1);
    });
    const counts = Array.from({ length }, () => 0);
    together.forEach((_, index) => {
      counts[index] = (counts[index] ?? 0) + 1;
    });
    return counts;
  }
}

/** Chunks of some megabytes in all. */
const chunksAtOnce = 32;
const maxTurnMs = 10;

export async function sumFacts(
  db: Db,
  organizationId: string,
  query: FactQuery,
): Promise<FactSums> {
  const people = query.viewers === undefined ? null : await readPeople(db, organizationId);
  const sums = new FactSums();
  let turnAt = performance.now();
  for (let after: ReadChunk | null = null; ;) {
    const chunks: ReadChunk[] = await selectChunks(db, organizationId, query, {
      after,
      limit: chunksAtOnce,
    });
    for (const { dayMs, body } of chunks) {
      addFacts(sums, decodeFacts(body), dayMs, { ...query, people });
      // Others have their turn in between.
      if (performance.now() - turnAt > maxTurnMs) {
        await new Promise(setImmediate);
        turnAt = performance.now();
      }
    }
    after = chunks.at(-1) ?? null;
    if (chunks.length < chunksAtOnce) return sums;
  }
}

type WithPeople = FactQuery & { readonly people: People | null };

function addFacts(sums: FactSums, facts: Facts, dayMs: number, query: WithPeople): void {
  const rows = matchingRows(facts, query.filter);
  if (rows.length === 0) return;
  const groups = groupsOf(sums, facts, rows, { ...query, dayMs });
  const weights = weightsOf(facts, rows);
  for (let count = 0; count < factCounts.length; count += 1) {
    const values = facts.columns[countOffset + count];
    if (values === null || values === undefined) continue;
    for (let index = 0; index < rows.length; index += 1) {
      const value = values[rows[index] ?? 0] ?? 0;
      if (value !== 0) sums.addTo(groups[index] ?? 0, count, value * (weights[index] ?? 0));
    }
  }
  if (query.viewers !== undefined) addViewers(sums, facts, { rows, groups, weights }, query);
  if (query.startups === true) addStartups(sums, facts, { rows, groups, weights });
  if (query.reached === true) addReached(sums, facts, { rows, groups, weights });
}

type Matching = { rows: Int32Array; groups: Int32Array; weights: Int32Array };

/** The numbers of the rows that a filter asks for. */
function matchingRows({ rows, columns, labels, contents }: Facts, filter: FactFilter): Int32Array {
  const { device, country, entryPoint, appVersion, contentIds } = filter;
  const wanted: [column: number, matches: (value: number) => boolean][] = [];
  const equals = (column: number, value: number) =>
    wanted.push([column, (found) => found === value]);
  if (device !== undefined) equals(factColumn.device, device);
  if (country !== undefined) equals(factColumn.country, country);
  if (entryPoint !== undefined) equals(factColumn.entryPoint, labels.indexOf(entryPoint));
  if (appVersion !== undefined) equals(factColumn.appVersion, labels.indexOf(appVersion));
  if (contentIds !== undefined) {
    const isWanted = contents.map((id) => contentIds.has(id));
    wanted.push([factColumn.content, (index) => isWanted[index] === true]);
  }
  let matching = new Int32Array(rows);
  for (let row = 0; row < rows; row += 1) matching[row] = row;
  for (const [column, matches] of wanted) {
    const values = columns[column];
    matching = matching.filter((row) => matches(values?.[row] ?? 0));
  }
  return matching;
}

function weightsOf({ columns }: Facts, rows: Int32Array): Int32Array {
  const values = columns[factColumn.weight];
  return rows.map((row) => decodeWeight(values?.[row] ?? 0));
}

function groupsOf(
  sums: FactSums,
  { columns, contents, labels }: Facts,
  rows: Int32Array,
  { groupBy, within, dayMs }: Pick<FactQuery, 'groupBy' | 'within'> & { dayMs: number },
): Int32Array {
  if (groupBy === 'day') return new Int32Array(rows.length).fill(sums.groupOf(dayMs));
  const keyOf: (value: number) => GroupKey = {
    hour: (hour: number) => dayMs + hour * hourMs,
    content: (index: number) => contents[index] ?? '',
    device: (index: number) => factDevices[index] ?? '',
    country: countryName,
    entryPoint: (index: number) => labels[index] ?? '',
  }[groupBy];
  const values = columns[factColumn[groupBy]];
  const hours = within === 'hour' ? columns[factColumn.hour] : null;
  const known = new Map<number, number>();
  return rows.map((row) => {
    const value = values?.[row] ?? 0;
    const hour = hours?.[row] ?? 0;
    const place = value * 24 + hour;
    let group = known.get(place);
    if (group === undefined) {
      const key = keyOf(value);
      group = sums.groupOf(within === undefined ? key : `${dayMs + hour * hourMs} ${key}`);
      known.set(place, group);
    }
    return group;
  });
}

function addViewers(
  sums: FactSums,
  { columns }: Facts,
  { rows, groups, weights }: Matching,
  { viewers, people }: WithPeople,
): void {
  const members = columns[factColumn.member];
  const watched = columns[factColumn.isWatched];
  for (let index = 0; index < rows.length; index += 1) {
    const row = rows[index] ?? 0;
    const member = members?.[row] ?? 0;
    if (member === 0 || (viewers === 'watching' && (watched?.[row] ?? 0) === 0)) continue;
    sums.pairs.add(people?.get(member) ?? member, groups[index] ?? 0, weights[index] ?? 0);
  }
}

function addStartups(
  { startups }: FactSums,
  { columns }: Facts,
  { rows, groups, weights }: Matching,
): void {
  const values = columns[factColumn.startup];
  for (let index = 0; index < rows.length; index += 1) {
    const ms = (values?.[rows[index] ?? 0] ?? 0) - 1;
    if (ms < 0) continue;
    const group = groups[index] ?? 0;
    let histogram = startups.get(group);
    if (histogram === undefined) {
      histogram = new Map();
      startups.set(group, histogram);
    }
    const bucket = startupBucket(ms);
    const found = histogram.get(bucket) ?? { count: 0, total: 0 };
    const weight = weights[index] ?? 0;
    histogram.set(bucket, { count: found.count + weight, total: found.total + ms * weight });
  }
}

function addReached(
  { reached }: FactSums,
  { columns }: Facts,
  { rows, groups, weights }: Matching,
): void {
  const values = columns[factColumn.reached];
  for (let index = 0; index < rows.length; index += 1) {
    const step = (values?.[rows[index] ?? 0] ?? 0) - 1;
    if (step < 0) continue;
    const group = groups[index] ?? 0;
    const steps = reached.get(group) ?? new Map<number, number>();
    reached.set(group, steps);
    steps.set(step, (steps.get(step) ?? 0) + (weights[index] ?? 0));
  }
}
