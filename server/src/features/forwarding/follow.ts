/**
 * Follows the event log for each forwarding.
 *
 *   log ── a range ──▶ batches (deliveries that name it) ── read when it is sent ──▶ the receiver
 *
 * 1. A range's deliveries are created in the transaction that advances the position past it, so
 *    each event is in exactly one batch. A delivery may arrive more than once, like all webhook
 *    deliveries.
 * 2. At most four batches of a forwarding are under way: a slow or absent receiver delays only its
 *    own position in the log, which acts as its queue.
 * 3. A disabled webhook keeps its position. Deleting the webhook deletes its forwarding.
 * 4. A batch that runs out of attempts is a failed delivery, which can be retried as long as the
 *    log holds its range; the forwarding continues.
 */
import type { Logger } from 'pino';
import { inTransaction, type Db, type Tx } from '../../platform/database/database.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import type { EngagementLog } from '../events/events.ts';
import {
  findWebhook,
  recordDelivery,
  selectPending,
  webhookDeliveries,
} from '../webhooks/webhooks.ts';
import { measureRange } from './batch.ts';
import {
  deleteForwardingRow,
  lockForwarding,
  moveForwarding,
  pageForwardings,
  type ForwardingId,
} from './queries.ts';

export type FollowParts = {
  readonly db: Db;
  readonly eventLog: EngagementLog;
  readonly hints: Hints;
  readonly log: Logger;
};

const maxPending = 4;
const forwardingsAtOnce = 100;
/** Limit per turn, so that no forwarding keeps the others waiting. */
const maxRanges = 20;

/** Creates batches of accepted events for receivers that have room. */
export async function followLog(parts: FollowParts, signal: AbortSignal): Promise<void> {
  const { db, hints, log } = parts;
  for (let after = ''; !signal.aborted;) {
    const page = await pageForwardings(db, after, forwardingsAtOnce);
    for (const { forwardingId } of page) {
      if (signal.aborted) return;
      try {
        if (await advance(parts, forwardingId, signal)) hints.give(webhookDeliveries);
      } catch (error) {
        if (signal.aborted) throw error;
        log.warn({ err: error, forwardingId }, 'events could not be forwarded');
      }
    }
    const last = page.at(-1);
    if (last === undefined || page.length < forwardingsAtOnce) return;
    after = last.forwardingId;
  }
}

/** @returns whether there are new deliveries */
async function advance(
  parts: FollowParts,
  forwardingId: ForwardingId,
  signal: AbortSignal,
): Promise<boolean> {
  let hasNew = false;
  for (let range = 0; range < maxRanges && !signal.aborted; range += 1) {
    const moved = await inTransaction(parts.db, (tx) => takeRange(tx, parts, forwardingId));
    hasNew ||= moved.batches > 0;
    if (moved.isOver) break;
  }
  return hasNew;
}

const over = { batches: 0, isOver: true };

async function takeRange(
  tx: Tx,
  { eventLog }: FollowParts,
  forwardingId: ForwardingId,
): Promise<{ batches: number; isOver: boolean }> {
  const row = await lockForwarding(tx, forwardingId);
  if (row === null) return over;
  const { organizationId, webhookId, kinds, position: from } = row;
  const webhook = await findWebhook(tx, organizationId, webhookId);
  if (webhook === null) {
    await deleteForwardingRow(tx, organizationId, forwardingId);
    return over;
  }
  if (webhook.status !== 'active') return over;
  const pending = await selectPending(tx, row, row.pending);
  if (pending.length >= maxPending) return over;
  const stepEnd = row.stepEnd ?? (await eventLog.end());
  const range = await measureRange(eventLog, { organizationId, kinds, from, stepEnd });
  const { blocks, last, parts, isLast } = range;
  if (blocks === 0 && isLast && row.stepEnd === null) return over;
  for (let part = 0; part < parts; part += 1) {
    const reference = { forwardingId, kinds, from, stepEnd, blocks, last, part, parts };
    const deliveryId = await recordDelivery(tx, row, 'events.batch', reference);
    // The webhook no longer subscribes, so the forwarding keeps its position.
    if (deliveryId === null) return over;
    pending.push(deliveryId);
  }
  await moveForwarding(tx, {
    ...row,
    position: range.next,
    stepEnd: isLast ? null : stepEnd,
    pending,
    batches: row.batches + parts,
  });
  return { batches: parts, isOver: isLast };
}
