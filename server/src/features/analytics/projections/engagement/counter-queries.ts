/**
 * SQL for counters, distributions and viewer sets. Only one process writes at a time, because it
 * locks the row of its projection. Read-modify-write is therefore safe here.
 */
import { sql, type RawBuilder } from 'kysely';
import {
  bytesArray,
  dateArray,
  int8Array,
  textArray,
  timestampArray,
  uuidArray,
} from '../../../../platform/database/binary-arrays.ts';
import type { Tx } from '../../../../platform/database/database.ts';
import type { Grain } from '../../tables.ts';
import { contentItems } from '../../../content/content.ts';
import { audienceColumns, contentColumns, type Counts } from './contribution.ts';

export type ContentKey = { organizationId: string; contentId: string };

/** Returns which of these items exist. Each may be given only once. */
export async function selectExistingContent(
  tx: Tx,
  items: readonly ContentKey[],
): Promise<ContentKey[]> {
  const { rows } = await sql<ContentKey>`
    select given.organization_id as "organizationId", given.content_id as "contentId"
    from unnest(${textArray(items.map(({ organizationId }) => organizationId))}::text[],
      ${uuidArray(items.map(({ contentId }) => contentId))}::uuid[])
      as given (organization_id, content_id)
    join ${contentItems} item on item.organization_id = given.organization_id
      and item.content_id = given.content_id
  `.execute(tx);
  return rows;
}

export type ContentCounts = ContentKey & { grain: Grain; periodMs: number; counts: Counts };

export async function addContentCounts(tx: Tx, rows: readonly ContentCounts[]): Promise<void> {
  const names = ['organization_id', 'grain', 'period', 'content_id'];
  const keysOf = (some: readonly ContentCounts[]) => sql`
    ${textArray(some.map(({ organizationId }) => organizationId))}::text[],
    ${textArray(some.map(({ grain }) => grain))}::text[],
    ${timestampArray(some.map(({ periodMs }) => periodMs))}::timestamptz[],
    ${uuidArray(some.map(({ contentId }) => contentId))}::uuid[]`;
  await addToCounters(tx, { table: 'content_counter', names, keysOf }, contentColumns, rows);
}

export type AudienceCounts = {
  organizationId: string;
  grain: Exclude<Grain, 'total'>;
  periodMs: number;
  device: string;
  country: string;
  counts: Counts;
};

export async function addAudienceCounts(tx: Tx, rows: readonly AudienceCounts[]): Promise<void> {
  const names = ['organization_id', 'grain', 'period', 'device', 'country'];
  const keysOf = (some: readonly AudienceCounts[]) => sql`
    ${textArray(some.map(({ organizationId }) => organizationId))}::text[],
    ${textArray(some.map(({ grain }) => grain))}::text[],
    ${timestampArray(some.map(({ periodMs }) => periodMs))}::timestamptz[],
    ${textArray(some.map(({ device }) => device))}::text[],
    ${textArray(some.map(({ country }) => country))}::text[]`;
  await addToCounters(tx, { table: 'audience_counter', names, keysOf }, audienceColumns, rows);
}

type CounterTable<Row> = {
  table: 'content_counter' | 'audience_counter';
  /** The columns of the primary key, with an array of values for each. */
  names: readonly string[];
  keysOf: (rows: readonly Row[]) => RawBuilder<unknown>;
};

async function addToCounters<Row extends { counts: Counts }>(
  tx: Tx,
  { table, names, keysOf }: CounterTable<Row>,
  columns: readonly string[],
  rows: readonly Row[],
): Promise<void> {
  if (rows.length === 0) return;
  const values = columns.map(
    (_, column) => sql`${int8Array(rows.map(({ counts }) => counts[column] ?? 0))}::int8[]`,
  );
  const key = sql.join(names.map((name) => sql.ref(name)));
  const counted = columns.map((name) => sql.ref(name));
  const sums = counted.map((name) => sql`${name} = counter.${name} + excluded.${name}`);
  await sql`
    insert into ${sql.table(table)} as counter (${key}, ${sql.join(counted)})
    select * from unnest(${keysOf(rows)}, ${sql.join(values)})
    on conflict (${key}) do update set ${sql.join(sums)}
  `.execute(tx);
  // Only a decrease can reach zero, for example when a late event shows that a view began in
  // another hour.
  const fallen = rows.filter(({ counts }) => counts.some((count) => count < 0));
  if (fallen.length === 0) return;
  const zeros = counted.map((name) => sql`${name} = 0`);
  await sql`
    delete from ${sql.table(table)} where (${key}) in (select * from unnest(${keysOf(fallen)}))
      and ${sql.join(zeros, sql` and `)}
  `.execute(tx);
}

export type DetailKey = ContentKey & { dayMs: number };

export async function selectDetails(
  tx: Tx,
  keys: readonly DetailKey[],
): Promise<(DetailKey & { detail: unknown })[]> {
  const { rows } = await sql<{
    organization_id: string;
    content_id: string;
    day_s: number;
    detail: unknown;
  }>`
    select found.organization_id, found.content_id,
      extract(epoch from found.day)::float8 as day_s, found.detail
    from unnest(${textArray(keys.map(({ organizationId }) => organizationId))}::text[],
      ${dateArray(keys.map(({ dayMs }) => dayMs))}::date[],
      ${uuidArray(keys.map(({ contentId }) => contentId))}::uuid[])
      as wanted (organization_id, day, content_id)
    join content_day found on found.organization_id = wanted.organization_id
      and found.day = wanted.day and found.content_id = wanted.content_id
  `.execute(tx);
  return rows.map((row) => ({
    organizationId: row.organization_id,
    contentId: row.content_id,
    dayMs: row.day_s * 1_000,
    detail: row.detail,
  }));
}

/** Writes current distributions; null deletes one. */
export async function writeDetails(
  tx: Tx,
  rows: readonly (DetailKey & { detail: string | null })[],
): Promise<void> {
  if (rows.length === 0) return;
  const keys = (some: readonly DetailKey[]) => sql`
    ${textArray(some.map(({ organizationId }) => organizationId))}::text[],
    ${dateArray(some.map(({ dayMs }) => dayMs))}::date[],
    ${uuidArray(some.map(({ contentId }) => contentId))}::uuid[]`;
  const written = rows.filter(({ detail }) => detail !== null);
  await sql`
    insert into content_day (organization_id, day, content_id, detail)
    select organization_id, day, content_id, detail::json
    from unnest(${keys(written)}, ${textArray(written.map(({ detail }) => detail ?? ''))}::text[])
      as given (organization_id, day, content_id, detail)
    on conflict (organization_id, day, content_id) do update set detail = excluded.detail
  `.execute(tx);
  const emptied = rows.filter(({ detail }) => detail === null);
  if (emptied.length === 0) return;
  await sql`
    delete from content_day where (organization_id, day, content_id) in
      (select * from unnest(${keys(emptied)}))
  `.execute(tx);
}

/** The sets of viewers who watched, and of those who liked, shared or saved. */
export type SetTable = 'viewer_set' | 'reactor_set';
export const setTables = ['viewer_set', 'reactor_set'] as const satisfies readonly SetTable[];

export type SetKey = ContentKey & { grain: Exclude<Grain, 'total'>; periodMs: number };

function setKeys(keys: readonly SetKey[]): RawBuilder<unknown> {
  return sql`
    ${textArray(keys.map(({ organizationId }) => organizationId))}::text[],
    ${textArray(keys.map(({ grain }) => grain))}::text[],
    ${timestampArray(keys.map(({ periodMs }) => periodMs))}::timestamptz[],
    ${uuidArray(keys.map(({ contentId }) => contentId))}::uuid[]`;
}

export async function selectViewerSets(
  tx: Tx,
  table: SetTable,
  keys: readonly SetKey[],
): Promise<(SetKey & { sketch: Buffer })[]> {
  const { rows } = await sql<{
    organization_id: string;
    grain: SetKey['grain'];
    period: Date;
    content_id: string;
    sketch: Buffer;
  }>`
    select found.organization_id, found.grain, found.period, found.content_id, found.sketch
    from unnest(${setKeys(keys)}) as wanted (organization_id, grain, period, content_id)
    join ${sql.table(table)} found on found.organization_id = wanted.organization_id
      and found.grain = wanted.grain and found.period = wanted.period
      and found.content_id = wanted.content_id
  `.execute(tx);
  return rows.map((row) => ({
    organizationId: row.organization_id,
    grain: row.grain,
    periodMs: row.period.getTime(),
    contentId: row.content_id,
    sketch: row.sketch,
  }));
}

export async function writeViewerSets(
  tx: Tx,
  table: SetTable,
  rows: readonly (SetKey & { sketch: Buffer })[],
): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    insert into ${sql.table(table)} (organization_id, grain, period, content_id, sketch)
    select * from unnest(${setKeys(rows)}, ${bytesArray(rows.map(({ sketch }) => sketch))}::bytea[])
    on conflict (organization_id, grain, period, content_id)
      do update set sketch = excluded.sketch
  `.execute(tx);
}
