/**
 * Reads the states of webhooks again whose deliveries wait for their turn or for a connection, so
 * that a change by another process is noticed, and no state ages without one. While the database is
 * away, states expire and nothing begins.
 */
import type { Db } from '../../../platform/database/database.ts';
import { maxStateAgeMs } from '../endpoints/endpoint-changes.ts';
import { readRevisions } from './claim-queries.ts';
import type { Sending, SendingWebhook } from './send.ts';
import { renewTurns } from './turn-queries.ts';

/** How often to call `renewStates`. */
export const renewStatesEveryMs = maxStateAgeMs / 4;

/** The states of deliveries that have not begun which are old enough to be read again. */
export function agedStates(sendings: Iterable<Sending>): ReadonlySet<SendingWebhook> {
  const now = performance.now();
  const aged = new Set<SendingWebhook>();
  for (const { hasBegun, webhook } of sendings) {
    if (!hasBegun && now - webhook.readAt >= renewStatesEveryMs) aged.add(webhook);
  }
  return aged;
}

/**
 * Keeps the turns of this sender as well where webhooks have a rate limit.
 *
 * @returns the webhooks that have changed: nothing may begin under these states
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
