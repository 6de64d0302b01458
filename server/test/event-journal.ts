/** A client that keeps a journal of its events, and the check against what was stored. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { sampleEvent } from './event-samples.ts';
import { send } from './service.ts';
import { pause } from './waiting.ts';

export type Journal = {
  sent: Set<string>;
  acknowledged: Set<string>;
  refusals: Map<string, number>;
};

export const newJournal = (): Journal => ({
  sent: new Set(),
  acknowledged: new Set(),
  refusals: new Map(),
});

/**
 * Sends batches one after another until stopped, like the client library: unacknowledged events are
 * resent with the same ids.
 */
export async function sendEvents(
  target: () => string,
  { key, contentId }: { key: string; contentId: string },
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const events = Array.from({ length: randomInt(1, 60) }, () => sampleEvent('like', contentId));
    for (const { eventId } of events) journal.sent.add(String(eventId));
    for (;;) {
      const outcome = await send(`${target()}/v1/events/batch`, 'POST', {
        key,
        body: { events },
      }).catch(() => null);
      if (outcome?.status === 200) {
        assert.equal(outcome.body.data.received, events.length);
        for (const { eventId } of events) journal.acknowledged.add(String(eventId));
        break;
      }
      const what = outcome === null ? 'broken' : String(outcome.status);
      journal.refusals.set(what, (journal.refusals.get(what) ?? 0) + 1);
      if (outcome?.status === 503) assert.match(outcome.headers.get('retry-after') ?? '', /^\d+$/);
      await pause(20, 'before another try');
    }
  }
}

/** Every acknowledged event is stored once, and only events that were sent are stored. */
export function assertExactlyOnce(stored: readonly string[], journal: Journal): void {
  const once = new Set(stored);
  assert.equal(once.size, stored.length, `${stored.length - once.size} events are there twice`);
  const lost = [...journal.acknowledged].filter((id) => !once.has(id));
  assert.deepEqual(lost, [], `${lost.length} acknowledged events are lost`);
  assert.ok(stored.every((id) => journal.sent.has(id)));
}

/** An item of a newly started instance, and the key for sending its events. */
export async function createFirstItem({ url, output }: { url: string; output: string }) {
  const key = /(rf_pk_\w+)/.exec(output)?.[1] ?? '';
  const secretKey = /(rf_sk_\w+)/.exec(output)?.[1] ?? '';
  const made = await send(`${url}/v1/content/upload`, 'POST', {
    key: secretKey,
    body: { title: 'Item' },
  });
  return { key, contentId: made.body.data.id as string };
}
