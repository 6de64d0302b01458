/**
 * Periodically rereads the states of webhooks whose deliveries are waiting for their turn or a
 * connection, so that changes by other processes are noticed and unchanged states do not expire.
 * While the database is away, states expire and no request starts.
 */
import type { Db } from '../../../platform/database/database.ts';
import { maxStateAgeMs } from '../endpoints/endpoint-changes.ts';
import { readRevisions } from './claim-queries.ts';
import type { Sending, SendingWebhook } from './send.ts';
import { renewTurns } from './turn-queries.ts';

/** Interval at which to call `renewStates`. */
export const renewStatesEveryMs = maxStateAgeMs / 4;

/** States of deliveries that have not begun and are old enough to be reread. */
export function agedStates(sendings: Iterable<Sending>): ReadonlySet<SendingWebhook> {
  const now = performance.now();
  const aged = new Set<SendingWebhook>();
  for (const { hasBegun, webhook } of sendings) {
    if (!hasBegun && now - webhook.readAt >= renewStatesEveryMs) aged.add(webhook);
  }
  return aged;
}

/**
 * Also extends this sender's turns at rate-limited webhooks.
 * @returns the webhooks that have changed; no request may start under their old states
 */
export async function renewStates(
  db: Db,
  senderId: string | null,
  aged: ReadonlySet<SendingWebhook>,
): Promise<readonly SendingWebhook[]> {
  const readAt = performance.now();
  const limited = [...aged].filter(({ rateLimit }) => rateLimit !== null);
  const limitedIds = limited.map(({ webhookId }) => webhookId);
  const turns = limited.length === 0 ? null : await renewTurns(db, senderId, limitedIds);
  const ids = new Set(Array.from(aged, ({ webhookId }) => webhookId));
  const rows = await readRevisions(db, [...ids]);
  const revisions = new Map(rows.map(({ webhookId, revision }) => [webhookId, revision]));
  const changed: SendingWebhook[] = [];
  for (const webhook of aged) {
    const hasTurn = webhook.rateLimit === null || turns?.has(webhook.webhookId) === true;
    const isSame = hasTurn && revisions.get(webhook.webhookId) === webhook.revision;
    webhook.readAt = isSame ? readAt : Number.NEGATIVE_INFINITY;
    if (!isSame) changed.push(webhook);
  }
  return changed;
}
