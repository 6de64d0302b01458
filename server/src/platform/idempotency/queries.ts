import { sql } from 'kysely';
import type { Db, Tx } from '../database/database.ts';
import type { OrganizationId } from '../ids.ts';

export type StoredAnswer = {
  fingerprint: Buffer;
  statusCode: number;
  headers: Record<string, string>;
  body: Buffer;
};

/**
 * Takes the lock of one key until the transaction ends; false when another request holds it.
 * Two keys that share a 64-bit hash would only wait for each other.
 */
export async function tryLockKey(
  tx: Tx,
  organizationId: OrganizationId,
  key: string,
): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${`${organizationId} ${key}`}, 74)) as locked
  `.execute(tx);
  return rows[0]?.locked ?? false;
}

export async function findAnswer(
  tx: Tx,
  organizationId: OrganizationId,
  key: string,
  keptForHours: number,
): Promise<StoredAnswer | null> {
  const row = await tx
    .selectFrom('idempotent_request')
    .select(['fingerprint', 'status_code', 'headers', 'body'])
    .where('organization_id', '=', organizationId)
    .where('idempotency_key', '=', key)
    .where('created_at', '>', sql<Date>`now() - make_interval(hours => ${keptForHours})`)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { fingerprint, status_code: statusCode, headers, body } = row;
  return { fingerprint, statusCode, headers, body };
}

/** Replaces an answer that is older than its time, which the pruning has not reached yet. */
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
  };
  await tx
    .insertInto('idempotent_request')
    .values({ organization_id: organizationId, idempotency_key: key, ...row })
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'idempotency_key'])
        .doUpdateSet({ ...row, created_at: sql<Date>`now()` }),
    )
    .execute();
}

export async function pruneAnswers(db: Db, keptForHours: number): Promise<void> {
  await db
    .deleteFrom('idempotent_request')
    .where('created_at', '<', sql<Date>`now() - make_interval(hours => ${keptForHours})`)
    .execute();
}
