/** Tests when an upload counts as stalled. */
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import fc from 'fast-check';
import { watchArrival } from './arrival.ts';

const rule = { windowMs: 1_000, leastBytes: 100 };

test('an upload is given up after the first window with too few bytes, and not later', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const bytes = fc.oneof(fc.constantFrom(99, 100, 101), fc.nat(1_000));
  fc.assert(
    fc.property(fc.array(bytes, { maxLength: 8 }), fc.nat(500), (windows, before) => {
      const socket = { bytesRead: before };
      const raw = { socket, complete: false } as unknown as IncomingMessage;
      using arrival = watchArrival(raw, rule);
      let hasStalled = false;
      for (const arrived of windows) {
        t.mock.timers.tick(999);
        socket.bytesRead += arrived;
        assert.equal(arrival.signal.aborted, hasStalled);
        t.mock.timers.tick(1);
        hasStalled ||= arrived < rule.leastBytes;
        assert.equal(arrival.signal.aborted, hasStalled);
      }
      if (hasStalled) assert.equal(arrival.signal.reason.code, 'REQUEST_TIMEOUT');
    }),
  );
});

test('a request that has arrived, or is no longer watched, is not given up', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const raw = { socket: { bytesRead: 0 }, complete: true };
  const complete = watchArrival(raw as unknown as IncomingMessage, rule);
  const other = { socket: { bytesRead: 0 }, complete: false };
  const unwatched = watchArrival(other as unknown as IncomingMessage, rule);
  unwatched[Symbol.dispose]();
  t.mock.timers.tick(10_000);
  assert.deepEqual([complete.signal.aborted, unwatched.signal.aborted], [false, false]);
  complete[Symbol.dispose]();
});
