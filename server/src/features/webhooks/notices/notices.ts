/**
 * Mail notices: one when a webhook has been failing for a while, and one when it is disabled for
 * that reason. Each is a job that is enqueued in the same transaction as its cause, so a crash does
 * not lose it.
 */
import { Type } from 'typebox';
import { inTransaction, type Db, type Tx } from '../../../platform/database/database.ts';
import type { Hints } from '../../../platform/hints/hints.ts';
import { defineJob, doublingDelay } from '../../../platform/queue/job-definition.ts';
import { enqueue } from '../../../platform/queue/queue.ts';
import { OneOf } from '../../../platform/http/schemas.ts';
import { markNoticed } from './notice-queries.ts';

export const noticeKinds = ['failing', 'disabled'] as const;
export type NoticeKind = (typeof noticeKinds)[number];

export const sendNoticeJob = defineJob({
  name: 'send-webhook-notice',
  payload: Type.Object({ webhookId: Type.String(), kind: OneOf(noticeKinds) }),
  timeoutMs: 60_000,
  retry: { maxAttempts: 8, delayMs: doublingDelay(30_000, 3_600_000) },
  concurrency: 2,
  sharesPlaces: true,
});

export async function enqueueNotice(
  tx: Tx,
  organizationId: string,
  webhookId: string,
  kind: NoticeKind,
): Promise<void> {
  await enqueue(tx, sendNoticeJob, { webhookId, kind }, { organizationId });
}

/**
 * Enqueues a notice for each webhook that has been failing for this long, once per failing period.
 */
export async function noticeFailing(db: Db, hints: Hints, afterMs: number): Promise<void> {
  const noticed = await inTransaction(db, async (tx) => {
    const webhooks = await markNoticed(tx, afterMs);
    for (const { organizationId, webhookId } of webhooks) {
      await enqueueNotice(tx, organizationId, webhookId, 'failing');
    }
    return webhooks.length;
  });
  if (noticed > 0) hints.give(sendNoticeJob.name);
}
