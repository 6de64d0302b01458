/** Event forwarding: sends copies of accepted events to a webhook; see `follow.ts`. */
import type { Tx } from '../../platform/database/database.ts';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import { newTypeId, parseTypeId, type OrganizationId } from '../../platform/values/ids.ts';
import { formatTimestamp, parseTimestamp } from '../../platform/values/time.ts';
import type { EngagementLog } from '../events/events.ts';
import { findWebhook, isSubscribed } from '../webhooks/webhooks.ts';
import {
  deleteForwardingRow,
  insertForwarding,
  lockForwardings,
  type ForwardingId,
  type ForwardingRow,
} from './queries.ts';

export const maxForwardings = 10;

export type NewForwarding = {
  readonly webhookId: string;
  readonly kinds?: readonly string[];
  readonly startAt?: string;
};

/** @throws {ApiError} VALIDATION_ERROR, LIMIT_EXCEEDED */
export async function createForwarding(
  tx: Tx,
  organizationId: OrganizationId,
  { webhookId, kinds = ['*'], startAt }: NewForwarding,
  eventLog: EngagementLog,
): Promise<ForwardingRow> {
  const id = parseTypeId('whk', webhookId);
  const webhook = id && (await findWebhook(tx, organizationId, id));
  if (id === null || webhook === null) throw fieldError('webhookId', 'must be the id of a webhook');
  if (!isSubscribed(webhook.events, 'events.batch')) {
    throw fieldError('webhookId', 'must be a webhook that subscribes to events.batch');
  }
  const startMs = startAt === undefined ? null : (parseTimestamp(startAt)?.getTime() ?? NaN);
  if (Number.isNaN(startMs)) throw fieldError('startAt', 'must be a timestamp');
  if ((await lockForwardings(tx, organizationId)) >= maxForwardings) {
    throw new ApiError('LIMIT_EXCEEDED', {
      message: `An organization can have at most ${maxForwardings} forwardings.`,
    });
  }
  return insertForwarding(tx, {
    forwardingId: newTypeId('efw'),
    organizationId,
    webhookId: id,
    kinds,
    position: await (startMs === null ? eventLog.end() : eventLog.positionAt(startMs)),
  });
}

/**
 * Existing deliveries are still sent.
 * @throws {ApiError} NOT_FOUND
 */
export async function deleteForwarding(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
): Promise<ForwardingId> {
  const forwardingId = parseTypeId('efw', id);
  if (forwardingId === null || !(await deleteForwardingRow(tx, organizationId, forwardingId))) {
    throw new ApiError('NOT_FOUND', { message: 'There is no forwarding with this id.' });
  }
  return forwardingId;
}

/** @param lagMs age of the oldest event that is not in a batch yet */
export function presentForwarding(row: ForwardingRow, lagMs: number) {
  return {
    id: row.forwardingId,
    webhookId: row.webhookId,
    kinds: [...row.kinds],
    batches: row.batches,
    lagSeconds: Math.round(lagMs / 1_000),
    createdAt: formatTimestamp(row.createdAt),
  };
}
