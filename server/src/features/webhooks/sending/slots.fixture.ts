import assert from 'node:assert/strict';
import { SendSlots } from './slots.ts';
import type { Slot } from './webhook-load.ts';

/**
 * SendSlots with a manual clock, and what has started, in order. A webhook's organization is the part
 * of its name before the slash.
 */
export function openSlots(limits = { total: 16, perWebhook: 64 }) {
  const clock = { now: 0 };
  const started: { item: string; slot: Slot }[] = [];
  const rated = new Set<string>();
  const slots = new SendSlots<string>(
    limits,
    (item, slot) => started.push({ item, slot }),
    () => clock.now,
  );
  const know = (webhookId: string, { isFailing = false, rateLimit = null as number | null } = {}) =>
    slots.know({
      organizationId: webhookId.split('/')[0] ?? '',
      webhookId,
      failingSinceS: isFailing ? 1 : null,
      rateLimit,
    });
  const enter = (webhookId: string, count: number, isFailing = false) => {
    if (!rated.has(webhookId)) know(webhookId, { isFailing });
    for (let n = 0; n < count; n += 1) slots.enter(webhookId, `${webhookId}${n}`);
  };
  /** Ends a webhook's oldest send. */
  const end = (webhookId: string, result: 'success' | 'failure' | 'not made') => {
    const index = started.findIndex(({ slot }) => slot.webhookId === webhookId);
    const [ended] = started.splice(index, 1);
    assert.ok(ended !== undefined);
    slots.end(ended.slot, result);
  };
  /** Lets a webhook succeed once. */
  const prove = (webhookId: string) => {
    enter(webhookId, 1);
    end(webhookId, 'success');
  };
  /** Gives each send its connection. */
  const connectAll = () => {
    // The list grows during the loop.
    for (const { slot } of started) slots.begin(slot);
  };
  const limitRate = (webhookId: string, rateLimit: number | null) => {
    rated.add(webhookId);
    know(webhookId, { rateLimit });
  };
  return { clock, started, slots, enter, end, prove, connectAll, limitRate };
}

export const allowance = (slots: SendSlots<string>, webhookId: string) =>
  slots.room(0).allowances.get(webhookId);
