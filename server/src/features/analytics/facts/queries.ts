/**
 * SQL for facts. The chunks of a day have three levels by size; full ones are not merged further.
 */
import { sql } from 'kysely';
import {
  bytesArray,
  dateArray,
  int8Array,
  textArray,
  uuidArray,
} from '../../../platform/database/binary-arrays.ts';
import type { Db, Tx } from '../../../platform/database/database.ts';

export type FactDay = { readonly organizationId: string; readonly dayMs: number };
export type FactChunk = FactDay & {
  readonly chunk: string;
  readonly level: number;
  readonly rows: number;
  readonly body: Buffer;
};

export async function insertFactChunks(tx: Tx, chunks: readonly FactChunk[]): Promise<void> {
  if (chunks.length === 0) return;
  await sql`
    insert into view_fact (organization_id, day, level, chunk, row_count, body)
    select * from unnest(
      ${textArray(chunks.map(({ organizationId }) => organizationId))}::text[],
      ${dateArray(chunks.map(({ dayMs }) => dayMs))}::date[],
      ${int8Array(chunks.map(({ level }) => level))}::int8[],
      ${uuidArray(chunks.map(({ chunk }) => chunk))}::uuid[],
      ${int8Array(chunks.map(({ rows }) => rows))}::int8[],
      ${bytesArray(chunks.map(({ body }) => body))}::bytea[])`.execute(tx);
}

type CrowdedLevel = FactDay & { readonly level: number };

/** Levels of these days with at least `minChunks` chunks that can still be merged. */
export async function selectCrowdedFactLevels(
  tx: Tx,
  days: readonly FactDay[],
  { fullLevel, minChunks }: { fullLevel: number; minChunks: number },
): Promise<CrowdedLevel[]> {
  if (days.length === 0) return [];
  const { rows } = await sql<{ organizationId: string; dayMs: number; level: number }>`
    select fact.organization_id as "organizationId",
      (extract(epoch from fact.day) * 1000)::int8 as "dayMs", fact.level
    from unnest(${textArray(days.map(({ organizationId }) => organizationId))}::text[],
      ${dateArray(days.map(({ dayMs }) => dayMs))}::date[]) as given (organization_id, day)
    join view_fact fact on fact.organization_id = given.organization_id and fact.day = given.day
      and fact.level < ${fullLevel}
    group by fact.organization_id, fact.day, fact.level
    having count(*) >= ${minChunks}`.execute(tx);
  return rows;
}

export async function takeFactChunks(tx: Tx, { organizationId, dayMs, level }: CrowdedLevel) {
  const { rows } = await sql<{ body: Buffer }>`
    delete from view_fact where organization_id = ${organizationId}
      and day = ${formatDate(dayMs)}::date and level = ${level}
    returning body`.execute(tx);
  return rows.map(({ body }) => body);
}

type ChunkKey = { day: string; level: number; chunk: string };
export type ReadFactChunk = ChunkKey & { readonly dayMs: number; readonly body: Buffer };

/** Chunks in day order, after `after`. */
export async function selectFactChunks(
  db: Db,
  organizationId: string,
  { startMs, endMs }: { startMs: number; endMs: number },
  page: { after: ChunkKey | null; limit: number },
): Promise<ReadFactChunk[]> {
  const { after, limit } = page;
  const behind =
    after === null
      ? sql``
      : sql`and (day, level, chunk) > (${after.day}::date, ${after.level}::int8, ${after.chunk}::uuid)`;
  const { rows } = await sql<ReadFactChunk>`
    select day::text as day, level, chunk, body, (extract(epoch from day) * 1000)::int8 as "dayMs"
    from view_fact
    where organization_id = ${organizationId} and day >= ${formatDate(startMs)}::date
      and day < ${formatDate(endMs)}::date ${behind}
    order by day, level, chunk limit ${limit}`.execute(db);
  return rows;
}

export async function replaceFactChunk(
  tx: Tx,
  organizationId: string,
  { day, level, chunk, body, rows }: ChunkKey & { body: Buffer; rows: number },
): Promise<void> {
  await sql`
    update view_fact set body = ${body}, row_count = ${rows}
    where organization_id = ${organizationId}
      and day = ${day}::date and level = ${level} and chunk = ${chunk}::uuid`.execute(tx);
}

function formatDate(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
