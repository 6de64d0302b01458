/**
 * Proves that a feed survives ten seconds without its database, whether it refuses connections or
 * hangs.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cloneDatabase } from './database.ts';
import { putNetworkBefore } from './faulty-network.ts';
import { createReadyItems } from './seed.ts';
import { eventually, startService } from './service.ts';
import { pause } from './waiting.ts';

const outageMs = 10_000;
/**
 * Pages come from memory for five seconds; later requests wait at most this long for the database.
 */
const answeredWithinMs = 15_000;

for (const what of ['refuse', 'freeze'] as const) {
  test(`${what}: the feed responds from memory or with 503, in time, and recovers`, async () => {
    const connection = await cloneDatabase();
    const network = await putNetworkBefore(connection);
    const service = await startService(
      { REELFEED_ROLES: 'api,worker', REELFEED_FEED_RANKING_BUDGET: '2s' },
      { connection: network.connection },
    );
    const ids = await createReadyItems({ ...service, connection }, 12);
    const read = () =>
      service.call('GET', '/v1/feed?userId=ada&limit=12', { key: service.publishableKey });
    await eventually('the items', async () =>
      (await read()).body.data.length === ids.length ? true : null,
    );
    const cursor = (
      await service.call('GET', '/v1/feed?userId=ada&limit=5', { key: service.publishableKey })
    ).body.meta.nextCursor;

    const endsAt = performance.now() + outageMs;
    const isFailing = network[what]();
    const answers: Promise<{ status: number; tookMs: number; items: number }>[] = [];
    while (performance.now() < endsAt) {
      const askedAt = performance.now();
      answers.push(
        read().then(({ status, body }) => ({
          status,
          tookMs: performance.now() - askedAt,
          items: status === 200 ? body.data.length : 0,
        })),
      );
      await pause(250, 'four reads a second');
    }
    await isFailing;
    await network.heal();
    const all = await Promise.all(answers);
    assert.deepEqual(all[0]?.status, 200, 'the first seconds are served from memory');
    for (const { status, tookMs, items } of all) {
      assert.ok(status === 200 || status === 503, String(status));
      if (status === 200) assert.equal(items, ids.length, 'no half of a page');
      assert.ok(tookMs < answeredWithinMs, `answered after ${Math.round(tookMs)} ms`);
    }
    await eventually('the feed to be back', async () =>
      (await read()).status === 200 ? true : null,
    );
    const next = await service.call('GET', `/v1/feed?userId=ada&limit=7&cursor=${cursor}`, {
      key: service.publishableKey,
    });
    assert.equal(next.status, 200, 'a cursor from before continues');
    assert.equal(next.body.data.length, 7);
  });
}
