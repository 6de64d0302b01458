/**
 * Proves that a library without tags and authors is ranked by viewing behavior on every process.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { silentLog } from './database.ts';
import { createOrganization, createReadyItems, query } from './seed.ts';
import { eventually, startService, type TestService } from './service.ts';
import { openEventLog } from '../src/features/events/events.ts';
import { readEncounters } from '../src/features/feed/viewers/encounter.ts';
import { feedViewers } from '../src/features/feed/viewers/viewer-projection.ts';
import { openDatabase } from '../src/platform/database/database.ts';
import { rebuildProjection } from '../src/platform/projections/rebuild.ts';

const env = {
  REELFEED_ROLES: 'api,worker',
  REELFEED_FEED_RANKING_BUDGET: '30s',
  REELFEED_TASTE_INTERVAL: '1s',
};
const service = await startService(env);
const second = await startService(env, { beside: service });
const keys = await createOrganization(service, 'untagged');
const organizationId = String(
  (await query(service, `select organization_id from organization where name = 'untagged'`))[0]?.[
    'organization_id'
  ],
);
const groups = 4;
const own: TestService = {
  ...service,
  ...keys,
  call: (method, path, call) => service.call(method, path, { key: keys.secretKey, ...call }),
};
const ids = await createReadyItems(own, 80, () => ({}));
await query(
  service,
  `update content set created_at = now() - interval '3 days', revision = revision + 1
   where content_id = any($1::uuid[])`,
  [ids],
);
const groupOf = new Map(ids.map((id, index) => [id, index % groups]));

async function watch(userId: string, group: number, contentIds: readonly string[]) {
  const events = contentIds.flatMap((contentId) => {
    const fits = groupOf.get(contentId) === group;
    const common = { contentId, userId };
    return [
      { ...common, event: 'playStart', data: { startupTime: 100 } },
      fits
        ? { ...common, event: 'completion', data: { watchTime: 15, looped: false } }
        : {
            userId,
            event: 'swipe',
            contentId: ids.find((id) => id !== contentId),
            data: { fromContentId: contentId, watchTimeOnFrom: 1 },
          },
    ];
  });
  for (let at = 0; at < events.length; at += 100) {
    const body = {
      events: events.slice(at, at + 100).map((event) => ({ eventId: randomUUID(), ...event })),
    };
    const reply = await service.call('POST', '/v1/events/batch', {
      key: keys.publishableKey,
      body,
    });
    assert.equal(reply.body.data.failed, 0, reply.text);
  }
}

async function similar(id: string, search = '', from = service, key = keys.publishableKey) {
  return from.call('GET', `/v1/content/${id}/similar?${search}`, { key });
}

async function readModel() {
  const [model] = await query(
    service,
    `select version, viewers, watches, is_stale from taste_model where organization_id = $1`,
    [organizationId],
  );
  const parts = await query(
    service,
    `select bytes from taste_part where organization_id = $1 order by part`,
    [organizationId],
  );
  return { model, bytes: Buffer.concat(parts.map((row) => row['bytes'] as Buffer)) };
}

/** Waits until a model includes all encounters and nothing is left to fit. */
function settled(viewers: number) {
  return eventually('the model', async () => {
    const { model, bytes } = await readModel();
    const rows = await query(
      service,
      `select folded || recent as bytes, last_at <= watched_until as is_known
       from feed_viewer join taste_model using (organization_id) where organization_id = $1`,
      [organizationId],
    );
    const isKnown = rows.every((row) => row['is_known'] === true);
    const count = rows.filter((row) => readEncounters(row['bytes'] as Buffer).size > 1).length;
    return isKnown && count === viewers && model?.['viewers'] === viewers && bytes.length > 0
      ? { version: Number(model['version']), bytes }
      : null;
  });
}

const viewers = 60;

before(async () => {
  for (let viewer = 0; viewer < viewers; viewer += 1) {
    const met = ids.filter((_, index) => (index * 7 + viewer * 13) % 10 < 4);
    await watch(`viewer-${viewer}`, viewer % groups, met);
  }
  await settled(viewers);
});

describe('taste without tags', () => {
  test('similar items are watched by the same viewers, on every process', async () => {
    const [id = ''] = ids;
    for (const from of [service, second]) {
      await eventually('items of one group', async () => {
        const { status, body, text } = await similar(id, 'limit=10', from);
        assert.equal(status, 200, text);
        const found = body.data.map((item: { id: string }) => item.id);
        assert.ok(!found.includes(id));
        const fitting = found.filter((one: string) => groupOf.get(one) === groupOf.get(id));
        return found.length === 10 && fitting.length >= 9 ? true : null;
      });
    }
  });

  test('a new viewer gets more of what similar viewers watch, and the explanation is exact', async () => {
    const liked = ids.filter((id) => groupOf.get(id) === 1).slice(0, 6);
    const left = ids.filter((id) => groupOf.get(id) === 2).slice(0, 4);
    await watch('newcomer', 1, [...liked, ...left]);
    for (const from of [service, second]) {
      await eventually('affinities', async () => {
        const { body, text } = await from.call(
          'GET',
          '/v1/feed?limit=50&userId=newcomer&explain=true',
          {
            key: keys.secretKey,
          },
        );
        const shown = body.data as {
          id: string;
          ranking: {
            score: number;
            signals: Record<string, number>;
            weights: Record<string, number>;
          };
        }[];
        assert.ok(shown.length >= 40, text);
        for (const { ranking } of shown) {
          const names = Object.keys(ranking.signals);
          const total = names.reduce((sum, name) => sum + (ranking.weights[name] ?? 0), 0);
          const sum = names.reduce(
            (all, name) => all + (ranking.weights[name] ?? 0) * (ranking.signals[name] ?? 0),
            0,
          );
          assert.ok(Math.abs(sum / total - ranking.score) < 1e-9);
        }
        const mean = (group: number) => {
          const own = shown.filter(({ id }) => groupOf.get(id) === group);
          const sum = own.reduce(
            (all, item) => all + (item.ranking.signals['topicAffinity'] ?? 0),
            0,
          );
          return sum / own.length;
        };
        return mean(1) > 0.6 && mean(2) < 0.45 && mean(1) > mean(3) + 0.1 ? true : null;
      });
    }
  });

  test('unknown ids, other organizations’ and private items get the same response', async () => {
    const [foreign = ''] = await createReadyItems(service, 1, () => ({}));
    const [hidden = ''] = await createReadyItems(own, 1, () => ({ visibility: 'private' }));
    const [gone = ''] = await createReadyItems(own, 1, () => ({ visibility: 'private' }));
    for (const id of [foreign, hidden, randomUUID(), 'no-id', gone]) {
      const { status, body } = await similar(id);
      assert.equal(status, 404);
      assert.equal(body.error.message, 'There is no content item with this id.');
    }
    assert.equal((await similar(hidden, '', service, keys.secretKey)).status, 200);
    assert.equal((await similar(ids[0] ?? '', 'limit=51')).status, 400);
  });

  test('an item that few have watched has neighbours by its tags and author', async () => {
    const made = await createReadyItems(own, 6, (index) =>
      index < 3 ? { tags: ['origami'] } : { author: 'Ada' },
    );
    // The order of creation is unspecified.
    const rows = await query(
      service,
      `select content_id from content
       where content_id = any($1::uuid[]) and 'origami' = any(tags)`,
      [made],
    );
    const tagged = rows.map((row) => String(row['content_id']));
    await eventually('items with tags', async () => {
      const { body } = await similar(tagged[0] ?? '');
      const found: string[] = body.data.map((item: { id: string }) => item.id);
      const expected = tagged.slice(1).toSorted();
      return found.toSorted().join() === expected.join() ? true : null;
    });
    const changed = await own.call('PATCH', `/v1/content/${tagged[1]}`, {
      body: { publishStatus: 'unpublished' },
    });
    assert.equal(changed.status, 200, changed.text);
    await eventually('an unpublished item to go', async () => {
      const { body } = await similar(tagged[0] ?? '');
      return body.data.every((item: { id: string }) => item.id !== tagged[1]) ? true : null;
    });
  });

  test('rebuilding the viewers’ activity gives the same model, byte for byte', async () => {
    const live = await settled(viewers + 1);
    await using database = openDatabase({
      connection: service.connection,
      poolSize: 2,
      log: silentLog,
    });
    const { db } = database;
    const { signal } = new AbortController();
    await rebuildProjection(feedViewers, { db, eventLog: openEventLog(db), signal });
    await query(
      service,
      `update taste_model set is_stale = true, version = version + 1 where organization_id = $1`,
      [organizationId],
    );
    const again = await eventually('the model to be made again', async () => {
      const { model, bytes } = await readModel();
      return model?.['is_stale'] === false ? bytes : null;
    });
    assert.ok(again.equals(live.bytes));
  });

  test('an erased viewer and a purged item leave the model', async () => {
    const before = await settled(viewers + 1);
    const erased = await own.call('DELETE', '/v1/users/viewer-3/data');
    assert.ok(erased.status < 300, erased.text);
    const after = await settled(viewers);
    assert.notEqual(before.version, after.version);
    const [row] = await query(service, `select serial_number from content where content_id = $1`, [
      ids[5],
    ]);
    const serial = Number(row?.['serial_number']);
    const holds = (bytes: Buffer) =>
      Array.from({ length: bytes.length / 32 }, (_, at) => bytes.readUIntBE(at * 32, 6)).includes(
        serial,
      );
    assert.ok(holds(after.bytes));
    const removed = await own.call('POST', '/v1/content/bulk/delete', { body: { ids: [ids[5]] } });
    assert.equal(removed.status, 200, removed.text);
    await eventually('the purge', async () => (holds((await readModel()).bytes) ? null : true));
    assert.equal((await similar(ids[5] ?? '')).status, 404);
  });
});
