import { sql } from 'kysely';
import { sendAhead, type Tx } from '../database/database.ts';
import type { OrganizationId } from '../values/ids.ts';

export type StoredAnswer = {
  fingerprint: Buffer;
  statusCode: number;
  headers: Record<string, string>;
  body: Buffer;
  /** Family of the key that made the request; null if an earlier version stored the response. */
  keyFamily: string | null;
};

/**
 * Locks one key until the transaction ends, and looks up its stored response; `isLocked` is false
 * if another request holds the lock. One round trip, but two statements: the second must see what
 * the previous holder of the lock has committed. If two keys share a 64-bit hash, one is merely
 * told that the other is in flight.
 */
export async function lockKey(
  tx: Tx,
  organizationId: OrganizationId,
  key: string,
  keptForHours: number,
): Promise<{ isLocked: boolean; stored: StoredAnswer | null }> {
  const lock = await sendAhead(
    tx,
    sql<{ locked: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended(${`${organizationId} ${key}`}, 74)) as locked
    `.compile(tx),
  );
  const stored = await findAnswer(tx, organizationId, key, keptForHours);
  const { rows } = await lock.result;
  return { isLocked: rows[0]?.locked ?? false, stored };
}

async function findAnswer(
  tx: Tx,
  organizationId: OrganizationId,
  key: string,
  keptForHours: number,
): Promise<StoredAnswer | null> {
  const row = await tx
    .selectFrom('idempotent_request')
    .select(['fingerprint', 'status_code', 'headers', 'body', 'key_family'])
    .where('organization_id', '=', organizationId)
    .where('idempotency_key', '=', key)
    .where('created_at', '>', sql<Date>`now() - make_interval(hours => ${keptForHours})`)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { fingerprint, status_code: statusCode, headers, body, key_family: keyFamily } = row;
  return { fingerprint, statusCode, headers, body, keyFamily };
}

/**
 * Stores a response in the same round trip as the commit. Replaces an expired response that has not
 * been deleted yet.
 */
export async function storeAnswer(
  tx: Tx,
  organizationId: OrganizationId,
  key: string,
  answer: StoredAnswer,
): Promise<void> {
  const row = {
    fingerprint: answer.fingerprint,
    status_code: answer.statusCode,
    headers: JSON.stringify(answer.headers),
    body: answer.body,
    key_family: answer.keyFamily,
  };
  const insert = tx
    .insertInto('idempotent_request')
    .values({ organization_id: organizationId, idempotency_key: key, ...row })
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'idempotency_key'])
        .doUpdateSet({ ...row, created_at: sql<Date>`now()` }),
    );
  await sendAhead(tx, insert.compile());
}

/** Deletes the response stored for a key. */
export async function forgetAnswer(tx: Tx, organizationId: string, key: string): Promise<void> {
  await sql`
    delete from idempotent_request
    where organization_id = ${organizationId} and idempotency_key = ${key}`.execute(tx);
}

/** Deletes at most `limit` expired responses. @returns how many */
export async function pruneAnswers(tx: Tx, keptForHours: number, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from idempotent_request where (organization_id, idempotency_key) in (
      select organization_id, idempotency_key from idempotent_request
      where created_at < now() - make_interval(hours => ${keptForHours})
      order by created_at limit ${limit}
      for update skip locked
    )`.execute(tx);
  return Number(numAffectedRows);
}
