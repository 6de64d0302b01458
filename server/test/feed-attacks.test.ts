/**
 * Attacks on ranking with only the public key: how much one viewer with thousands of events, or
 * thousands of fake viewers, can affect an item and the signals of all others.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createOrganization, createReadyItems, query } from './seed.ts';
import { eventually, startService, type TestService } from './service.ts';

const env = { REELFEED_ROLES: 'api,worker', REELFEED_FEED_RANKING_BUDGET: '30s' };
const service = await startService(env);

const itemCount = 100;
const audience = 150;
/**
 * Limits on an attack's effect: how many places its item may move, and the median change of other
 * signals.
 */
const maxPlaces = 3;
const maxMedianChange = 0.05;

type Event = Record<string, unknown>;
type Ranked = { id: string; ranking: { signals: Record<string, number>; score: number } };

/** A catalogue with an audience: every item has its own like rate. */
async function openWorld(name: string) {
  const keys = await createOrganization(service, name);
  const own: TestService = {
    ...service,
    ...keys,
    call: (method, path, call) => service.call(method, path, { key: keys.secretKey, ...call }),
  };
  const ids = await createReadyItems(own, itemCount, (index) => ({ author: `author-${index}` }));
  await query(
    service,
    `update content set revision = revision + 1,
       created_at = now() - interval '3 days' - serial_number * interval '7 minutes'
     where content_id = any($1::uuid[])`,
    [ids],
  );
  // Without randomness, so that only the score decides.
  const config = {
    exploration: 0,
    diversity: 0,
    weights: { recency: 0.25, engagement: 0.2, completionRate: 0.1 },
  };
  const put = await own.call('PUT', '/v1/ranking/config', { body: config });
  assert.equal(put.status, 200, put.text);
  let count = 0;
  const send = async (events: readonly Event[], key = keys.publishableKey) => {
    for (let at = 0; at < events.length; at += 100) {
      const batch = events.slice(at, at + 100).map((event) => {
        count += 1;
        return { eventId: `${name}-${count}`, ...event };
      });
      const reply = await service.call('POST', '/v1/events/batch', {
        key,
        body: { events: batch },
      });
      assert.equal(reply.body.data.received, batch.length, reply.text);
    }
  };
  const settled = async () => {
    await eventually('the projections', async () => {
      const rows = await query(
        service,
        `select min(events)::int as least, (select sum(event_count) from event_block)::int as all
         from (select sum(events) as events from projection
           where name in ('feed-items', 'feed-viewers') group by name) done`,
      );
      return rows[0]?.['least'] === rows[0]?.['all'] ? true : null;
    });
    // The process reads the tables every two seconds; counts decay slightly all the time.
    const signals = async () =>
      (await ranked())
        .map(({ id, ranking: { signals: found } }) =>
          [id, found['engagement']?.toFixed(1), found['completionRate']?.toFixed(1)].join(' '),
        )
        .toSorted()
        .join();
    let before = '';
    let since = performance.now();
    await eventually('the signals to settle', async () => {
      const now = await signals();
      if (now !== before) since = performance.now();
      before = now;
      return performance.now() - since > 5_000 ? true : null;
    });
  };
  const ranked = async (): Promise<Ranked[]> => {
    const all: Ranked[] = [];
    let cursor: string | null = null;
    do {
      const search: string = `limit=50&userId=stranger&explain=true${cursor === null ? '' : `&cursor=${cursor}`}`;
      const reply = await own.call('GET', `/v1/feed?${search}`);
      assert.equal(reply.status, 200, reply.text);
      all.push(...reply.body.data);
      cursor = reply.body.meta.nextCursor;
    } while (cursor !== null);
    return all.toSorted((a, b) => b.ranking.score - a.ranking.score);
  };
  // Each viewer sees twenty items and likes some, the better ones more often.
  const events: Event[] = [];
  const random = randomFrom(name);
  for (let viewer = 0; viewer < audience; viewer += 1) {
    for (let step = 0; step < 20; step += 1) {
      const index = (step * 5 + Math.floor(random() * 5)) % itemCount;
      const contentId = ids[index] ?? '';
      const userId = `viewer-${viewer}`;
      events.push({ event: 'impression', contentId, userId, data: { position: step } });
      events.push({ event: 'playStart', contentId, userId, data: { startupTime: 100 } });
      const luck = random();
      if (luck < 0.05 + ((index * 37) % 100) / 250)
        events.push({ event: 'like', contentId, userId });
      if (luck < 0.3 + ((index * 61) % 100) / 200) {
        events.push({
          event: 'completion',
          contentId,
          userId,
          data: { watchTime: 10, looped: false },
        });
      }
    }
  }
  await send(events);
  await settled();
  return { keys, ids, send, settled, ranked };
}

/** A seeded generator of numbers from 0 to 1: mulberry32 (Ettinger, public domain). */
function randomFrom(seed: string): () => number {
  let state = seed.length * 7_919 + seed.charCodeAt(0);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function placeOf(items: readonly Ranked[], id: string): number {
  return items.findIndex((item) => item.id === id);
}

function medianEngagement(items: readonly Ranked[], without: string): number {
  const values = items
    .filter(({ id }) => id !== without)
    .map(({ ranking }) => ranking.signals['engagement'] ?? 0)
    .toSorted((a, b) => a - b);
  return values[Math.floor(values.length / 2)] ?? 0;
}

/** Ranks before and after an attack on the item at a given place. */
async function attack(
  name: string,
  place: number,
  eventsOn: (id: string, others: readonly string[]) => readonly Event[],
) {
  const world = await openWorld(name);
  const before = await world.ranked();
  const target = before[place]?.id ?? '';
  const spread = new Set(before.map(({ ranking }) => ranking.signals['engagement'])).size;
  assert.ok(spread > 20, 'the audience has told the items apart');
  await world.send(
    eventsOn(
      target,
      world.ids.filter((id) => id !== target),
    ),
  );
  await world.settled();
  const after = await world.ranked();
  const [was, is] = [medianEngagement(before, target), medianEngagement(after, target)];
  return { places: place - placeOf(after, target), change: Math.abs(is - was) / was };
}

function assertBounded({ places, change }: { places: number; change: number }): void {
  assert.ok(Math.abs(places) <= maxPlaces, `moved by ${places} places`);
  assert.ok(change <= maxMedianChange, `the others changed by ${change}`);
}

const play = (contentId: string, userId: string): Event[] => [
  { event: 'impression', contentId, userId, data: { position: 0 } },
  { event: 'playStart', contentId, userId, data: { startupTime: 100 } },
];

describe('an attacked item hardly moves, and the others do not', () => {
  test('3,000 impressions by one viewer do not bury an item', async () => {
    assertBounded(
      await attack('Bury', 8, (contentId) =>
        Array.from({ length: 3_000 }, (_, position) => ({
          event: 'impression',
          contentId,
          userId: 'mallory',
          data: { position },
        })),
      ),
    );
  });

  test('10,000 likes by one viewer do not lift an item', async () => {
    assertBounded(
      await attack('Lift', 60, (contentId) => [
        ...play(contentId, 'mallory'),
        ...Array.from({ length: 10_000 }, () => ({ event: 'like', contentId, userId: 'mallory' })),
      ]),
    );
  });

  test('a credible viewer with thousands of likes counts like one with a single like', async () => {
    const world = await openWorld('Once');
    const [id = ''] = world.ids;
    const like = { event: 'like', contentId: id, userId: 'mallory' };
    const others = world.ids.slice(1, 30);
    await world.send([
      ...others.flatMap((other) => play(other, 'mallory')),
      ...play(id, 'mallory'),
      like,
    ]);
    await world.settled();
    const before = await world.ranked();
    await world.send([
      ...Array.from({ length: 5_000 }, () => like),
      ...Array.from({ length: 100 }, () =>
        others.flatMap((other) => play(other, 'mallory')),
      ).flat(),
    ]);
    await world.settled();
    const after = await world.ranked();
    const order = (items: readonly Ranked[]) => items.map((item) => item.id);
    assert.deepEqual(order(after), order(before));
  });

  test('3,000 unfinished plays by one device do not affect a rate', async () => {
    assertBounded(
      await attack('Spoil', 10, (contentId) =>
        Array.from({ length: 3_000 }, (_, index) => ({
          event: 'playStart',
          contentId,
          deviceId: 'mallory',
          sessionId: `session-${index}`,
          data: { startupTime: 1 },
        })),
      ),
    );
  });

  test('2,000 fake viewers of one item each have no effect', async () => {
    assertBounded(
      await attack('Crowd', 70, (contentId) =>
        Array.from({ length: 2_000 }, (_, index) => [
          ...play(contentId, `sybil-${index}`),
          { event: 'like', contentId, userId: `sybil-${index}` },
        ]).flat(),
      ),
    );
  });

  test('500 fake viewers of five items each have a bounded effect', async () => {
    const { places, change } = await attack('Elaborate', 70, (contentId, others) =>
      Array.from({ length: 500 }, (_, index) => {
        const userId = `sybil-${index}`;
        const decoys = Array.from(
          { length: 4 },
          (_item, at) => others[(index * 4 + at) % 99] ?? '',
        );
        return [
          ...decoys.flatMap((other) => play(other, userId)),
          ...play(contentId, userId),
          { event: 'like', contentId, userId },
        ];
      }).flat(),
    );
    // They watch other items like real people, so only their number and influence are bounded.
    assert.ok(change <= 0.2, `the others changed by ${change}`);
    assert.ok(places < 60, `moved by ${places} places`);
  });
});
