/**
 * SQL for turns: only one sender at a time sends to a rate-limited webhook, and it alone knows what
 * began within the last second.
 *
 * 1. A claim takes or extends the turn. A request begins at most `maxStateAgeMs` after the query
 *    that granted the turn (`endpoint-changes.ts`), and therefore within the turn.
 * 2. Another sender may take the turn one second after it ended. Its first request therefore begins
 *    at least a second after the previous sender's last one, even if that sender was killed.
 */
import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';

export const turnEnd = sql`clock_timestamp() + interval '1 second'`;

/** Whether a sender may take the turn aliased as `turn`. */
export function isFree(senderId: string) {
  return sql`(turn.sender_id = ${senderId}::uuid
    or turn.ends_at < clock_timestamp() - interval '1 second')`;
}

/** Extends the sender's turns. Returns their webhooks. */
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

export async function deleteEndedTurns(db: Db): Promise<void> {
  await sql`delete from webhook_turn where ends_at < clock_timestamp() - interval '1 hour'`.execute(
    db,
  );
}
