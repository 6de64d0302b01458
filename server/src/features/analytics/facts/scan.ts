import { awaitedLater } from '../../../platform/async/awaited-later.ts';
import type { Db } from '../../../platform/database/database.ts';
import { hourMs } from '../../../platform/values/time.ts';
import { entryPointOfHash } from '../projections/engagement/label.ts';
import { readPeople, type UsersOfDevices } from '../projections/links/link-queries.ts';
import { startupBucket } from '../statistics/startup-histogram.ts';
import { decodeFacts } from './codec.ts';
import {
  countIndex,
  countOffset,
  countryName,
  decodeWeight,
  factColumn,
  factCounts,
  factDevices,
  type CountName,
  type Facts,
} from './facts.ts';
import { selectFactChunks, type ReadFactChunk } from './queries.ts';
import {
  FactSums,
  type FactFilter,
  type FactQuery,
  type FactRange,
  type GroupKey,
  type Grouped,
  type Matching,
  type ViewersOf,
} from './sums.ts';

export async function sumFacts(
  db: Db,
  organizationId: string,
  range: FactRange,
  query: FactQuery,
): Promise<FactSums> {
  const sums = new FactSums(query);
  await addFacts(db, organizationId, range, [sums]);
  return sums;
}

/** This many chunks take a few megabytes. */
const chunksAtOnce = 32;
const maxTurnMs = 10;

/** Adds the facts of a range to several sums at once, because reading them is most of the work. */
export async function addFacts(
  db: Db,
  organizationId: string,
  range: FactRange,
  all: readonly FactSums[],
): Promise<void> {
  const hasViewers = all.some(({ query }) => query.viewers !== undefined);
  const people = hasViewers ? await readPeople(db, organizationId) : null;
  let turnAt = performance.now();
  let last: ReadFactChunk | null = null;
  for await (const chunk of readChunks(db, organizationId, range)) {
    if (last !== null && last.dayMs !== chunk.dayMs) for (const sums of all) sums.endDay();
    last = chunk;
    const facts = decodeFacts(chunk.body);
    const matching = matchingRows(facts, range.filter);
    if (matching.rows.length > 0) {
      for (const sums of all) addMatching(sums, facts, matching, { dayMs: chunk.dayMs, people });
    }
    // Yields to the event loop.
    if (performance.now() - turnAt > maxTurnMs) {
      await new Promise(setImmediate);
      turnAt = performance.now();
    }
  }
  for (const sums of all) sums.end();
}

/** Chunks in day order. Prefetches the next ones while the current ones are processed. */
async function* readChunks(
  db: Db,
  organizationId: string,
  range: FactRange,
): AsyncGenerator<ReadFactChunk> {
  const read = (after: ReadFactChunk | null) =>
    selectFactChunks(db, organizationId, range, { after, limit: chunksAtOnce });
  for (let next = awaitedLater(read(null)); ;) {
    const chunks = await next;
    const last = chunks.at(-1);
    const isLast = last === undefined || chunks.length < chunksAtOnce;
    if (!isLast) next = awaitedLater(read(last));
    yield* chunks;
    if (isLast) return;
  }
}

function addMatching(
  sums: FactSums,
  facts: Facts,
  matching: Matching,
  { dayMs, people }: { dayMs: number; people: UsersOfDevices | null },
): void {
  const { counts = factCounts, viewers, startups, reached } = sums.query;
  const grouped = sums.query.split?.group(facts, matching) ?? {
    ...matching,
    groups: groupsOf(sums, facts, matching.rows, dayMs),
  };
  for (const name of counts) {
    const count = countIndex[name];
    const values = facts.columns[countOffset + count];
    if (values === null || values === undefined) continue;
    sums.addCounts(count, values, grouped, grouped.groups);
  }
  if (viewers !== undefined) addViewers(sums, facts, grouped, people);
  if (startups === true) addStartups(sums, facts, grouped);
  if (reached === true) addReached(sums, facts, grouped);
}

function matchingRows(facts: Facts, filter: FactFilter): Matching {
  const { columns, labels } = facts;
  const { device, country, entryPoint, appVersion, contentIds } = filter;
  const rows = new Int32Array(facts.rows);
  for (let row = 0; row < rows.length; row += 1) rows[row] = row;
  let count = facts.rows;
  const keep = (column: number, isWanted: (value: number) => boolean) => {
    const values = columns[column];
    let kept = 0;
    for (let index = 0; index < count; index += 1) {
      const row = rows[index] ?? 0;
      if (!isWanted(values?.[row] ?? 0)) continue;
      rows[kept] = row;
      kept += 1;
    }
    count = kept;
  };
  const keepEqual = (column: number, wanted: number) => keep(column, (value) => value === wanted);
  if (device !== undefined) keepEqual(factColumn.device, device);
  if (country !== undefined) keepEqual(factColumn.country, country);
  if (entryPoint !== undefined) {
    const isWanted = labels.map((hash) => entryPointOfHash(hash) === entryPoint);
    keep(factColumn.entryPoint, (index) => isWanted[index] === true);
  }
  if (appVersion !== undefined) keepEqual(factColumn.appVersion, labels.indexOf(appVersion));
  if (contentIds !== undefined) {
    const isWanted = facts.contents.map((key) => contentIds.has(key));
    keep(factColumn.content, (index) => isWanted[index] === true);
  }
  const matching = rows.subarray(0, count);
  return { rows: matching, weights: weightsOf(facts, matching) };
}

function weightsOf({ columns }: Facts, rows: Int32Array): Int32Array {
  const values = columns[factColumn.weight];
  const weights = new Int32Array(rows.length);
  for (let index = 0; index < rows.length; index += 1) {
    weights[index] = decodeWeight(values?.[rows[index] ?? 0] ?? 0);
  }
  return weights;
}

function groupsOf(sums: FactSums, facts: Facts, rows: Int32Array, dayMs: number): Int32Array {
  const { groupBy, within } = sums.query;
  if (groupBy === 'day') return new Int32Array(rows.length).fill(sums.groupOf(dayMs));
  const { columns, labels } = facts;
  const keyOf: (value: number) => GroupKey = {
    hour: (hour: number) => dayMs + hour * hourMs,
    content: (index: number) => facts.contents[index] ?? '',
    device: (index: number) => factDevices[index] ?? '',
    country: countryName,
    entryPoint: (index: number) => entryPointOfHash(labels[index] ?? ''),
  }[groupBy];
  const values = columns[factColumn[groupBy]];
  const hours = within === 'hour' ? columns[factColumn.hour] : null;
  const groups = new Int32Array(rows.length);
  const known = new Map<number, number>();
  for (let index = 0; index < rows.length; index += 1) {
    const row = rows[index] ?? 0;
    const value = values?.[row] ?? 0;
    const hour = hours?.[row] ?? 0;
    const place = value * 24 + hour;
    let group = known.get(place);
    if (group === undefined) {
      const key = keyOf(value);
      group = sums.groupOf(within === undefined ? key : `${dayMs + hour * hourMs} ${key}`);
      known.set(place, group);
    }
    groups[index] = group;
  }
  return groups;
}

const countColumn = (name: CountName) => countOffset + countIndex[name];
/** Columns of which at least one must be nonzero; undefined accepts all facts. */
const wantedColumns: Readonly<Record<ViewersOf, readonly number[] | undefined>> = {
  watching: [factColumn.isWatched],
  reacting: [countColumn('likes'), countColumn('shares'), countColumn('saves')],
  liking: [countColumn('likes')],
  active: undefined,
};

function addViewers(
  { query, viewers }: FactSums,
  { columns }: Facts,
  { rows, groups, weights }: Grouped,
  people: UsersOfDevices | null,
): void {
  const members = columns[factColumn.member];
  const wanted = wantedColumns[query.viewers ?? 'active']?.map((column) => columns[column]);
  for (let index = 0; index < rows.length; index += 1) {
    const row = rows[index] ?? 0;
    const member = members?.[row] ?? 0;
    if (member === 0) continue;
    if (wanted !== undefined && wanted.every((values) => (values?.[row] ?? 0) === 0)) continue;
    viewers.add(people?.get(member) ?? member, groups[index] ?? 0, weights[index] ?? 0);
  }
}

function addStartups(
  { startups }: FactSums,
  { columns }: Facts,
  { rows, groups, weights }: Grouped,
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
  { rows, groups, weights }: Grouped,
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
