/**
 * Webhook health. A webhook whose attempts have all failed for the configured time is disabled, and
 * the organization's other webhooks are notified. This is decided in the transaction that records a
 * failed attempt; a recorded success ends the failing period (`record-queries.ts`).
 */
import type { Tx } from '../../../platform/database/database.ts';
import { recordEvent } from '../outbox/outbox.ts';
import { enqueueNotice } from '../notices/notices.ts';
import { disableFailing, markFailing, type DisabledWebhook } from './health-queries.ts';
import type { AttemptRecord } from './record-queries.ts';

/** The webhooks whose health a batch of records changes. */
export type HealthChanges = {
  readonly failing: readonly string[];
  /** Webhooks that may have been failing for long enough. */
  readonly overdue: readonly string[];
};

/** Returns null if nothing changes, as in most batches. */
export function healthChanges(
  records: readonly AttemptRecord[],
  disableAfterMs: number,
): HealthChanges | null {
  const failing = new Set<string>();
  const overdue = new Set<string>();
  for (const { webhookId, next, failingSinceS, claimedAtS } of records) {
    if (next !== 'failed' && next !== 'retry') continue;
    if (failingSinceS === null) failing.add(webhookId);
    else if (disableAfterMs > 0 && (claimedAtS - failingSinceS) * 1_000 >= disableAfterMs) {
      overdue.add(webhookId);
    }
  }
  for (const { webhookId, next } of records) {
    if (next !== 'success') continue;
    failing.delete(webhookId);
    overdue.delete(webhookId);
  }
  if (failing.size + overdue.size === 0) return null;
  return { failing: [...failing], overdue: [...overdue] };
}

/** @returns the webhooks that were disabled */
export async function applyHealth(
  tx: Tx,
  { failing, overdue }: HealthChanges,
  disableAfterMs: number,
): Promise<readonly DisabledWebhook[]> {
  if (failing.length > 0) await markFailing(tx, failing);
  if (overdue.length === 0) return [];
  const disabled = await disableFailing(tx, overdue, disableAfterMs);
  for (const { organizationId, webhookId, url, description, ...moments } of disabled) {
    await enqueueNotice(tx, organizationId, webhookId, 'disabled');
    await recordEvent(tx, organizationId, 'webhook.disabled', {
      webhookId,
      // The rest of a URL may contain a token.
      host: new URL(url).host,
      description,
      reason: 'failing',
      failingSince: moments.failingSince.toISOString(),
      disabledAt: moments.disabledAt.toISOString(),
    });
  }
  return disabled;
}
