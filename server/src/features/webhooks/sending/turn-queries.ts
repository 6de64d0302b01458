/**
 * The SQL of turns: a webhook with a rate limit is sent to by one sender at a time, which alone
 * knows what began within the last second.
 *
 * 1. A claim takes or prolongs the turn. A request begins at most `maxStateAgeMs` after the query
 *    that gave its sender the turn (`endpoint-changes.ts`), and so within it.
 * 2. Another sender may take the turn one second after it has ended. So its first request begins a
 *    second after the last one of the sender before it, also where that one was killed.
 */
import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';

/** When a turn ends that is taken now. */
export const turnEnd = sql`clock_timestamp() + interval '1 second'`;

/** Whether a sender may take the turn that is named `turn`. */
export function isFree(senderId: string) {
  return sql`(turn.sender_id = ${senderId}::uuid
    or turn.ends_at < clock_timestamp() - interval '1 second')`;
}

/** Prolongs turns that the sender has. Returns the webhooks of these. */
export async function renewTurns(
  db: Db,
  senderId: string | null,
  webhookIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ webhookId: string }>`
    update webhook_turn set ends_at = ${turnEnd}
    where sender_id = ${senderId}::uuid and webhook_id = any(${webhookIds}::text[])
    returning webhook_id as "webhookId"`.execute(db);
  return new Set(rows.map(({ webhookId }) => webhookId));
}

/** Removes what turns have left behind. */
export async function deleteEndedTurns(db: Db): Promise<void> {
  await sql`delete from webhook_turn where ends_at < clock_timestamp() - interval '1 hour'`.execute(
    db,
  );
}
