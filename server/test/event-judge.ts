/** A service that accepts events, shared by tests. */
import assert from 'node:assert/strict';
import type { EventKind } from '../src/features/events/events.ts';
import { sampleEvent } from './event-samples.ts';
import { createItems } from './seed.ts';
import { startService, type Call } from './service.ts';
import { openStoredEvents } from './stored-events.ts';

/** Starts the service with two items. Returns functions that send events. */
export async function startEventService() {
  const service = await startService({ REELFEED_ROLES: 'api' });
  const stored = await openStoredEvents(service);
  const [contentId = '', otherId = ''] = await createItems(service, 2);
  const post = (path: string, body: unknown, call: Call = {}) =>
    service.call('POST', path, { key: service.publishableKey, body, ...call });
  const sendOne = (event: unknown, call?: Call) => post('/v1/events', event, call);
  const sendBatch = (events: unknown, call?: Call) => post('/v1/events/batch', { events }, call);
  const event = (kind: EventKind = 'like', fields = {}) => sampleEvent(kind, contentId, fields);

  /** Sends an event alone, and between two valid ones. Returns its error, or null. */
  async function judge(raw: unknown): Promise<{ code: string; message: string } | null> {
    await stored.fresh();
    const [before, after] = [event(), event()];
    const batch = await sendBatch([before, raw, after]);
    assert.equal(batch.status, 200, batch.text);
    const { received, failed, errors } = batch.body.data;
    assert.deepEqual([received, failed, errors.length], failed === 0 ? [3, 0, 0] : [2, 1, 1]);
    const kept = await stored.fresh();
    assert.equal(kept.length, received, 'what is received is stored, what failed is not');
    for (const { eventId } of [before, after]) {
      assert.ok(kept.some((one) => one.eventId === eventId));
    }
    const alone = await sendOne(raw);
    if (failed === 0) {
      assert.equal(alone.status, 200, alone.text);
      return null;
    }
    assert.equal(errors[0].index, 1);
    assert.equal(alone.status, 400, alone.text);
    if (typeof raw === 'object' && raw !== null && !Array.isArray(raw)) {
      const { code, message } = alone.body.error;
      assert.deepEqual({ code, message }, { code: errors[0].code, message: errors[0].message });
    }
    return errors[0];
  }

  return { service, stored, contentId, otherId, post, sendOne, sendBatch, event, judge };
}
