import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sampleEvent } from '../../../../test/event-samples.ts';
import { createItem, query } from '../../../../test/seed.ts';
import { eventually, startService, type TestService } from '../../../../test/service.ts';
import { until } from '../../../../test/waiting.ts';
import {
  closedFromMs,
  followCatchUp,
  shareToRefuse,
  slowFromMs,
  type Lag,
} from './statistics-pace.ts';

const lag = (ageMs: number, isWorking = true): Lag => ({ ageMs, isWorking });

test('requests are refused more and more with the age, for projections that work', () => {
  const half = (slowFromMs + closedFromMs) / 2;
  const shares = [0, slowFromMs, half, closedFromMs, 10 * closedFromMs].map((ageMs) =>
    shareToRefuse(lag(ageMs), 0),
  );
  assert.deepEqual(shares, [0, 0, 0.5, 1, 1]);
  assert.equal(shareToRefuse(lag(10 * closedFromMs, false), 0), 0, 'nobody runs it, or it waits');
});

test('one that was away may catch up, but not fall behind again', () => {
  let lowest: number | undefined;
  const see = (ageMs: number, isWorking = true): number => {
    lowest = followCatchUp(lowest, lag(ageMs, isWorking));
    return shareToRefuse(lag(ageMs, isWorking), lowest);
  };
  assert.equal(see(3_600_000), 0, 'it was away for an hour');
  assert.equal(see(3_000_000), 0);
  assert.equal(see(3_000_000 + slowFromMs), 0);
  assert.equal(see(3_000_000 + closedFromMs), 1, 'it does not catch up any more');
  assert.equal(see(20_000), 0);
  assert.equal(see(1_000), 0, 'it has caught up');
  assert.equal(see(closedFromMs), 1);
  assert.equal(see(closedFromMs, false), 0, 'it waits at a damaged block');
  assert.equal(see(3_600_000), 0, 'the block was mended');
  let young: number | undefined;
  young = followCatchUp(young, lag(closedFromMs));
  assert.equal(shareToRefuse(lag(closedFromMs), young), 1, 'a process that starts in an overload');
});

/**
 * Simulates a projection that counts at a fraction of the senders' speed and reports progress only
 * at the end of each pass.
 *
 * @returns the highest age in the last five of ten minutes, in seconds
 */
function simulate(speed: number, passSeconds: number): number {
  let [sent, counted, passEnd, passTo] = [0, 0, passSeconds, 0];
  let lowest: number | undefined;
  let [share, worst] = [0, 0];
  // When the n-th second's worth of events was taken in.
  const takenAt: number[] = [];
  const stepSeconds = 0.1;
  for (let now = 0; now < 600; now += stepSeconds) {
    sent += stepSeconds * (1 - share);
    while (takenAt.length <= Math.floor(sent * 10)) takenAt.push(now);
    if (now >= passEnd) {
      counted = passTo;
      passTo = Math.min(sent, counted + speed * passSeconds);
      passEnd = now + passSeconds;
    }
    const oldest = takenAt[Math.floor(counted * 10)] ?? now;
    const ageMs = counted < sent ? (now - oldest) * 1_000 : 0;
    if (now > 300) worst = Math.max(worst, ageMs / 1_000);
    if (Math.floor(now) === Math.floor(now - stepSeconds)) continue;
    lowest = followCatchUp(lowest, lag(ageMs));
    share = shareToRefuse(lag(ageMs), lowest);
  }
  return worst;
}

test('the lag is bounded whatever the load and however long a pass takes', () => {
  // The more slowly events are counted, the longer those taken in before the age was reported have
  // to wait.
  for (const [speed, maxSeconds] of [
    [0.95, 20],
    [0.7, 30],
    [0.5, 45],
    [0.2, 115],
  ] as const) {
    for (const passSeconds of [0.2, 0.5, 0.9, 1.5, 2, 3, 5]) {
      const worst = simulate(speed, passSeconds);
      const what = `${worst.toFixed(1)} s at speed ${speed}, passes of ${passSeconds} s`;
      assert.ok(worst < maxSeconds, what);
    }
  }
});

describe('a process that takes events in', () => {
  /** A worker elsewhere holds the first partition and has not counted anything. */
  async function startWithSlowFollower(): Promise<{ service: TestService; id: string }> {
    const service = await startService({ REELFEED_ROLES: 'api' });
    const { id } = await createItem(service);
    await query(
      service,
      `insert into projection (name) values ('engagement') on conflict do nothing`,
    );
    await query(
      service,
      `insert into lease (name, holder_id, held_until)
       values ('projections 0', gen_random_uuid(), now() + interval '1 hour')`,
    );
    return { service, id };
  }

  const age = (service: TestService, seconds: number) =>
    query(
      service,
      `update event_block set received_at = received_at - interval '${seconds} seconds'`,
    );

  test('rejects some, then all, by the age of uncounted events, and accepts events again afterwards', async () => {
    const { service, id } = await startWithSlowFollower();
    const post = () => service.call('POST', '/v1/events', { body: sampleEvent('like', id) });
    /** The status codes of twenty requests, sorted. */
    const burst = async () =>
      (await Promise.all(Array.from({ length: 20 }, post))).map(({ status }) => status).toSorted();
    assert.deepEqual(await burst(), Array<number>(20).fill(200));
    await age(service, 16);
    await until('some to be refused', burst, (statuses) => {
      return statuses.includes(200) && statuses.includes(503);
    });
    await age(service, 15);
    await until('all to be refused', burst, (statuses) => !statuses.includes(200));
    const refused = await post();
    assert.equal(refused.body.error.code, 'UNAVAILABLE');
    assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/);
    // The projection keeps failing at a block, so rejecting events would not help.
    await query(service, 'update projection set failing_since = now()');
    await until('intake to go on', burst, (statuses) => !statuses.includes(503));
  });

  test('takes everything when the slow follower has died', async () => {
    const { service, id } = await startWithSlowFollower();
    const post = () => service.call('POST', '/v1/events', { body: sampleEvent('like', id) });
    assert.equal((await post()).status, 200);
    await age(service, 30);
    await eventually('intake to close', async () => ((await post()).status === 503 ? true : null));
    await query(service, `update lease set held_until = now() - interval '1 second'`);
    await eventually('intake to go on', async () => ((await post()).status === 200 ? true : null));
  });
});
