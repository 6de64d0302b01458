import { sql } from 'kysely';
import type { Db } from '../../platform/database/database.ts';

export type RequestEntry = {
  keyId: string;
  requestId: string;
  method: string;
  route: string;
  status: number;
  durationMs: number;
  leftOut: number;
};

/** A single statement is its own transaction. */
export async function insertRequests(db: Db, entries: readonly RequestEntry[]): Promise<void> {
  await sql`
    insert into key_request (api_key_id, request_id, method, route, status, duration_ms, left_out)
    select * from unnest(
      ${entries.map(({ keyId }) => keyId)}::text[],
      ${entries.map(({ requestId }) => requestId)}::text[],
      ${entries.map(({ method }) => method)}::text[],
      ${entries.map(({ route }) => route)}::text[],
      ${entries.map(({ status }) => status)}::smallint[],
      ${entries.map(({ durationMs }) => durationMs)}::real[],
      ${entries.map(({ leftOut }) => leftOut)}::integer[]
    )
    on conflict do nothing`.execute(db);
}

export type RequestRow = Omit<RequestEntry, 'keyId'>;

/** Only requests with at least this status. */
export type RequestFilter = { keyId: string; minStatus: number };

/** The requests of a key, latest first. */
export async function listRequests(
  db: Db,
  { keyId, minStatus }: RequestFilter,
  { limit, before }: { limit: number; before: string | null },
): Promise<RequestRow[]> {
  const { rows } = await sql<RequestRow>`
    select request_id as "requestId", method, route, status, duration_ms as "durationMs",
      left_out as "leftOut"
    from key_request
    where api_key_id = ${keyId} and status >= ${minStatus}
      and ${before === null ? sql`true` : sql`request_id < ${before}`}
    order by request_id desc limit ${limit}`.execute(db);
  return rows;
}

export async function countRequests(db: Db, { keyId, minStatus }: RequestFilter): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from key_request
    where api_key_id = ${keyId} and status >= ${minStatus}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Keeps at most `maxRequests` per key, and none with an id before `firstId`. */
export async function pruneRequests(
  db: Db,
  { firstId, maxRequests }: { firstId: string; maxRequests: number },
): Promise<void> {
  await sql`
    delete from key_request using (
      select key.api_key_id, greatest(${firstId}, (
        select request_id from key_request latest where latest.api_key_id = key.api_key_id
        order by request_id desc offset ${maxRequests - 1} limit 1)) as first_id
      from api_key key
    ) kept
    where key_request.api_key_id = kept.api_key_id and key_request.request_id < kept.first_id
  `.execute(db);
}
