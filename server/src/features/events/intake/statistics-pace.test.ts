import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sampleEvent } from '../../../../test/event-samples.ts';
import { createItem, query } from '../../../../test/seed.ts';
import { eventually, startService } from '../../../../test/service.ts';
import { isFallingBehind, maxLagMs, type Lag } from './statistics-pace.ts';

const late = maxLagMs + 1_000;
const lag = (ageMs: number, events: number, isRun = true): Lag => ({ ageMs, events, isRun });

test('only a projection that works and still falls behind slows intake down', () => {
  assert.ok(isFallingBehind(lag(late, 10), lag(late + 500, 20)));
  assert.ok(!isFallingBehind(lag(late, 10), lag(late - 500, 20)), 'it catches up');
  assert.ok(!isFallingBehind(lag(late, 10), lag(late + 500, 10)), 'it waits at a damaged block');
  assert.ok(!isFallingBehind(lag(late, 10), lag(late + 500, 20, false)), 'nobody runs it');
  assert.ok(!isFallingBehind(lag(1, 10), lag(maxLagMs, 20)), 'it is not late');
  assert.ok(!isFallingBehind(undefined, lag(late, 20)), 'nothing is known yet');
});

describe('a process that takes events in', () => {
  test('answers 503 while statistics fall behind, and continues when they do not', async () => {
    const service = await startService({ REELFEED_ROLES: 'api' });
    const { id } = await createItem(service);
    const post = () => service.call('POST', '/v1/events', { body: sampleEvent('like', id) });
    assert.equal((await post()).status, 200);
    // A worker elsewhere, which counts and is 25 seconds behind.
    await query(
      service,
      `update event_block set received_at = received_at - interval '25 seconds'`,
    );
    await query(
      service,
      `insert into projection (name) values ('engagement') on conflict do nothing`,
    );
    await query(
      service,
      `insert into lease (name, holder_id, held_until)
       values ('projection engagement', gen_random_uuid(), now() + interval '1 hour')`,
    );
    const work = setInterval(() => {
      void query(service, 'update projection set events = events + 1');
    }, 300);
    const refused = await eventually('intake to slow down', async () => {
      const reply = await post();
      return reply.status === 503 ? reply : null;
    }).finally(() => clearInterval(work));
    assert.equal(refused.body.error.code, 'UNAVAILABLE');
    assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/);
    // It has died: refusing events would not help anybody.
    await query(service, `update lease set held_until = now() - interval '1 second'`);
    await eventually('intake to go on', async () => ((await post()).status === 200 ? true : null));
  });
});
