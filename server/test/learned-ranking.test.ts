/**
 * Proves that an organization's own log trains a model, which is used once it is better, and that
 * this is reported.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createOrganization, createReadyItems, query } from './seed.ts';
import { eventually, startService, type TestService } from './service.ts';

const service = await startService({
  REELFEED_ROLES: 'api,worker',
  REELFEED_FEED_RANKING_BUDGET: '30s',
  REELFEED_TASTE_INTERVAL: '2s',
  REELFEED_LEARNING_INTERVAL: '2s',
});
const keys = await createOrganization(service, 'learned');
const own: TestService = {
  ...service,
  ...keys,
  call: (method, path, call) => service.call(method, path, { key: keys.secretKey, ...call }),
};
const ids = await createReadyItems(own, 60, (index) => ({ tags: [`topic-${index % 3}`] }));
// Short items are watched to the end and long ones are left early, regardless of their age.
await query(
  service,
  `update content set duration_seconds = case when serial_number % 2 = 0 then 10 else 120 end,
     created_at = now() - (serial_number % 7 + 2) * interval '1 day', revision = revision + 1
   where content_id = any($1::uuid[])`,
  [ids],
);
const lengths = new Map(
  (await query(service, 'select content_id, duration_seconds from content')).map((row) => [
    String(row['content_id']),
    Number(row['duration_seconds']),
  ]),
);

async function readConfig() {
  const { body } = await own.call('GET', '/v1/ranking/config');
  return body.data;
}

async function readFeed() {
  const { body, text } = await own.call('GET', '/v1/feed?limit=30&userId=stranger&explain=true');
  assert.ok(body.data.length === 30, text);
  return body.data as {
    id: string;
    ranking: {
      score: number;
      signals: Record<string, number>;
      weights: Record<string, number>;
      contributions: Record<string, number>;
    };
  }[];
}

function assertExact(items: Awaited<ReturnType<typeof readFeed>>) {
  for (const { ranking } of items) {
    const sum = Object.values(ranking.contributions).reduce((all, one) => all + one, 0);
    assert.ok(Math.abs(sum - ranking.score) < 1e-9, `${sum} is not ${ranking.score}`);
  }
}

test('without a model, `learned` behaves like `weights`, and the configuration says so', async () => {
  const { body, status } = await own.call('PUT', '/v1/ranking/config', {
    body: { objective: 'learned', exploration: 0 },
  });
  assert.equal(status, 200);
  assert.equal(body.data.objective, 'learned');
  assert.deepEqual(
    { ...body.data.model, trainedAt: null },
    { state: 'none', reason: 'not_trained', trainedAt: null, samples: 0, comparison: null },
  );
  const items = await readFeed();
  assertExact(items);
  for (const { ranking } of items) {
    const names = Object.keys(ranking.signals);
    const total = names.reduce((sum, name) => sum + (ranking.weights[name] ?? 0), 0);
    const score = names.reduce(
      (sum, name) => sum + (ranking.weights[name] ?? 0) * (ranking.signals[name] ?? 0),
      0,
    );
    assert.ok(Math.abs(score / total - ranking.score) < 1e-9);
  }
  const wrong = await own.call('PUT', '/v1/ranking/config', { body: { objective: 'clicks' } });
  assert.equal(wrong.status, 400);
});

test('a model is used if it predicts the held-out log better than the weights', async () => {
  const atMs = Date.now() - 3_600_000;
  for (let viewer = 0; viewer < 90; viewer += 1) {
    const events = ids.flatMap((_, place) => {
      const contentId = ids[(place * 7 + viewer * 11) % ids.length] ?? '';
      const length = lengths.get(contentId) ?? 10;
      const draw = ((viewer * 31 + place * 17) % 100) / 100;
      const isWhole = draw < (length < 60 ? 0.9 : 0.1);
      const timestamp = new Date(atMs + viewer * 30_000 + place * 400).toISOString();
      const common = { userId: `viewer-${viewer}`, contentId, timestamp };
      const data = { position: place % 10, feedId: `feed-${viewer}-${Math.floor(place / 10)}` };
      return [
        { ...common, event: 'impression', data },
        { ...common, event: 'playStart', data: { startupTime: 100 } },
        isWhole
          ? { ...common, event: 'completion', data: { watchTime: length, looped: false } }
          : {
              ...common,
              event: 'watchProgress',
              data: { currentTime: length * draw * 0.5, duration: length },
            },
      ];
    });
    for (let at = 0; at < events.length; at += 100) {
      const body = {
        events: events.slice(at, at + 100).map((event) => ({ eventId: randomUUID(), ...event })),
      };
      const reply = await own.call('POST', '/v1/events/batch', { key: keys.publishableKey, body });
      assert.equal(reply.body.data.failed, 0, reply.text);
    }
  }
  const model = await eventually('an accepted model', async () => {
    const { model: found } = await readConfig();
    // A model trained before the last events were sent delays the next training.
    if (found.state === 'refused') await query(service, 'update watch_model set train_ms = 0');
    return found.state === 'accepted' ? found : null;
  });
  assert.ok(model.samples >= 2_000);
  assert.ok(model.comparison.interval[0] > 0);
  assert.ok(model.comparison.learned > model.comparison.weights);
  await eventually('pages by the model', async () => {
    const items = await readFeed();
    assertExact(items);
    const first = items.slice(0, 15).filter(({ id }) => lengths.get(id) === 10);
    return 'base' in (items[0]?.ranking.contributions ?? {}) && first.length >= 13 ? true : null;
  });
});

test('a ranking experiment compares the objectives', async () => {
  const body = (objective: string) => ({
    name: `objectives ${objective}`,
    type: 'ranking',
    traffic: 1,
    metrics: ['completionRate'],
    variants: [
      { id: 'control', name: 'control', traffic: 0.5, config: { objective: 'weights' } },
      { id: 'learned', name: 'learned', traffic: 0.5, config: { objective } },
    ],
  });
  const refused = await own.call('POST', '/v1/experiments', { body: body('clicks') });
  assert.equal(refused.status, 400, refused.text);
  const made = await own.call('POST', '/v1/experiments', { body: body('learned') });
  assert.equal(made.status, 201, made.text);
  const started = await own.call('POST', `/v1/experiments/${made.body.data.id}/start`);
  assert.equal(started.status, 200, started.text);
  await eventually('both variants', async () => {
    const found = new Map<string, boolean>();
    for (let viewer = 0; viewer < 20; viewer += 1) {
      const { body: page } = await own.call(
        'GET',
        `/v1/feed?limit=1&userId=unit-${viewer}&explain=true`,
      );
      const variant = page.meta.experiments[0]?.variantId;
      if (variant !== undefined) found.set(variant, 'base' in page.data[0].ranking.contributions);
    }
    const variants = made.body.data.variants as { id: string; name: string }[];
    const idOf = (name: string) => variants.find((one) => one.name === name)?.id ?? '';
    return found.get(idOf('learned')) === true && found.get(idOf('control')) === false
      ? true
      : null;
  });
});
