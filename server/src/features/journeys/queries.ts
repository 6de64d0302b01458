/**
 * SQL for journeys. The chunks of a day have three levels by size; full ones are not merged
 * further.
 */
import { sql, type RawBuilder } from 'kysely';
import {
  bytesArray,
  dateArray,
  int8Array,
  textArray,
  uuidArray,
} from '../../platform/database/binary-arrays.ts';
import type { Db, Tx } from '../../platform/database/database.ts';
import { contentItems } from '../content/content.ts';

export type JourneyDay = { readonly organizationId: string; readonly dayMs: number };
export type Bodies = { readonly body: Buffer; readonly properties: Buffer | null };
export type StoredChunk = JourneyDay &
  Bodies & { readonly chunk: string; readonly level: number; readonly rows: number };

export async function insertJourneyChunks(tx: Tx, chunks: readonly StoredChunk[]): Promise<void> {
  if (chunks.length === 0) return;
  const properties = chunks.map((chunk) => chunk.properties ?? Buffer.alloc(0));
  await sql`
    insert into journey_chunk (organization_id, day, level, chunk, row_count, body, properties)
    select organization_id, day, level, chunk, row_count, body,
      case when properties <> '' then properties end
    from unnest(
      ${textArray(chunks.map(({ organizationId }) => organizationId))}::text[],
      ${dateArray(chunks.map(({ dayMs }) => dayMs))}::date[],
      ${int8Array(chunks.map(({ level }) => level))}::int8[],
      ${uuidArray(chunks.map(({ chunk }) => chunk))}::uuid[],
      ${int8Array(chunks.map(({ rows }) => rows))}::int8[],
      ${bytesArray(chunks.map(({ body }) => body))}::bytea[],
      ${bytesArray(properties)}::bytea[])
      as given (organization_id, day, level, chunk, row_count, body, properties)`.execute(tx);
}

type CrowdedLevel = JourneyDay & { readonly level: number };

/** Levels of these days with at least `minChunks` chunks that can still be merged. */
export async function selectCrowdedJourneyLevels(
  tx: Tx,
  days: readonly JourneyDay[],
  { fullLevel, minChunks }: { fullLevel: number; minChunks: number },
): Promise<CrowdedLevel[]> {
  if (days.length === 0) return [];
  const { rows } = await sql<CrowdedLevel>`
    select stored.organization_id as "organizationId",
      (extract(epoch from stored.day) * 1000)::int8 as "dayMs", stored.level
    from unnest(${textArray(days.map(({ organizationId }) => organizationId))}::text[],
      ${dateArray(days.map(({ dayMs }) => dayMs))}::date[]) as given (organization_id, day)
    join journey_chunk stored on stored.organization_id = given.organization_id
      and stored.day = given.day and stored.level < ${fullLevel}
    group by stored.organization_id, stored.day, stored.level
    having count(*) >= ${minChunks}`.execute(tx);
  return rows;
}

/** Removes the chunks of a level and returns them. */
export async function takeJourneyChunks(
  tx: Tx,
  { organizationId, dayMs, level }: CrowdedLevel,
): Promise<Bodies[]> {
  const { rows } = await sql<Bodies>`
    delete from journey_chunk where organization_id = ${organizationId}
      and day = ${formatDate(dayMs)}::date and level = ${level}
    returning body, properties`.execute(tx);
  return rows;
}

type ChunkKey = { readonly day: string; readonly level: number; readonly chunk: string };
export type ReadJourneyChunk = ChunkKey & Bodies & { readonly dayMs: number };
export type Days = { readonly startMs: number; readonly endMs: number };

/** Chunks in day order, after `after`. */
export async function selectJourneyChunks(
  db: Db,
  organizationId: string,
  { startMs, endMs }: Days,
  page: { after: ChunkKey | null; limit: number; withProperties: boolean },
): Promise<ReadJourneyChunk[]> {
  const { after, limit, withProperties } = page;
  const behind =
    after === null
      ? sql``
      : sql`and (day, level, chunk) > (${after.day}::date, ${after.level}::int8, ${after.chunk}::uuid)`;
  const properties = withProperties ? sql`properties` : sql`null::bytea as properties`;
  const { rows } = await sql<ReadJourneyChunk>`
    select day::text as day, level, chunk, body, ${properties},
      (extract(epoch from day) * 1000)::int8 as "dayMs"
    from journey_chunk
    where organization_id = ${organizationId} and day >= ${formatDate(startMs)}::date
      and day < ${formatDate(endMs)}::date ${behind}
    order by day, level, chunk limit ${limit}`.execute(db);
  return rows;
}

/** The number of events on these days. */
export async function countRows(
  db: Db,
  organizationId: string,
  { startMs, endMs }: Days,
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select coalesce(sum(row_count), 0)::int8 as total from journey_chunk
    where organization_id = ${organizationId} and day >= ${formatDate(startMs)}::date
      and day < ${formatDate(endMs)}::date`.execute(db);
  return rows[0]?.total ?? 0;
}

export async function replaceJourneyChunk(
  tx: Tx,
  organizationId: string,
  { day, level, chunk, body, properties, rows }: ChunkKey & Bodies & { rows: number },
): Promise<void> {
  const key = sql`organization_id = ${organizationId}
    and day = ${day}::date and level = ${level} and chunk = ${chunk}::uuid`;
  await (
    rows === 0
      ? sql`delete from journey_chunk where ${key}`
      : sql`update journey_chunk
          set body = ${body}, properties = ${properties}, row_count = ${rows} where ${key}`
  ).execute(tx);
}

export async function deleteOldChunks(tx: Tx, keptDays: number, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from journey_chunk where ctid = any(array(
      select ctid from journey_chunk
      where day < (now() at time zone 'UTC')::date - ${keptDays}::int limit ${limit}))`.execute(tx);
  return Number(numAffectedRows);
}

/** Copies the days for which the log no longer contains every event. */
export async function keepOldChunks(tx: Tx, schema: string, firstDayMs: number): Promise<void> {
  if (firstDayMs === -Infinity) return;
  const copy = sql.id(schema, 'journey_chunk');
  const isOld = firstDayMs === Infinity ? sql`true` : sql`day < ${formatDate(firstDayMs)}::date`;
  await sql`delete from ${copy} where ${isOld}`.execute(tx);
  await sql`insert into ${copy} select * from journey_chunk where ${isOld}`.execute(tx);
}

const itemLabels = {
  item: sql`array[content_id::text]`,
  tag: sql`tags`,
  author: sql`array_remove(array[author], null)`,
  section: sql`array_remove(array[section], null)`,
  contentType: sql`array[content_type::text]`,
  language: sql`array_remove(array[language], null)`,
} satisfies Record<string, RawBuilder<unknown>>;
export type ItemLabel = keyof typeof itemLabels;

/** Current attributes of the given items, or of all. Deleted items are missing. */
export async function selectItemLabels(
  db: Db,
  organizationId: string,
  label: ItemLabel,
  contentIds: readonly string[] | null,
): Promise<Map<string, readonly string[]>> {
  const isAsked =
    contentIds === null ? sql`true` : sql`content_id = any(${uuidArray(contentIds)}::uuid[])`;
  const { rows } = await sql<{ id: string; labels: string[] }>`
    select content_id as id, ${itemLabels[label]} as labels from ${contentItems} item
    where organization_id = ${organizationId} and ${isAsked}`.execute(db);
  return new Map(rows.map(({ id, labels }) => [id, labels]));
}

function formatDate(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
