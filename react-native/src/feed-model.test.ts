/** The events that a feed reports about a viewer, tested against a real service. */
import { strict as assert } from 'node:assert';
import { test, type TestContext } from 'node:test';
import { type EngagementEvent } from '@reelfeed/client';
import { eventually, startService } from '../../server/test/service.ts';
import { sampleOf, type ReadablePlayer } from './clip-sample.ts';
import { openConnection } from './connection.ts';
import { FeedModel, type FeedOptions } from './feed-model.ts';
import { createPlayableItems } from './playable-items.fixture.ts';

const service = await startService({ REELFEED_ROLES: 'api' });
const ids = await createPlayableItems(service, 3);

async function openFeed(context: TestContext, options: FeedOptions = {}) {
  const { url: baseUrl, publishableKey } = service;
  const connection = await openConnection({ baseUrl, publishableKey, device: 'android' });
  const events: EngagementEvent[] = [];
  const model = new FeedModel(connection, {
    ...options,
    onEvent: (event) => {
      events.push(event);
      options.onEvent?.(event);
    },
  });
  context.after(() => {
    model.close();
    return connection.close();
  });
  await model.open();
  const slideAt = (index: number) => {
    const slide = model.state.slides[index];
    assert(slide !== undefined, `no slide ${index}`);
    return slide;
  };
  const kinds = () => events.map(({ event, contentId }) => `${event} ${contentId}`);
  return { model, events, slideAt, kinds };
}

const player: ReadablePlayer = {
  currentTime: 0,
  duration: 10,
  isLive: false,
  status: 'readyToPlay',
  videoTrack: { size: { width: 720, height: 1280 } },
};

test('watching, moving on and going to the background are each reported once', async (context) => {
  const { model, events, slideAt, kinds } = await openFeed(context);
  assert.deepEqual(new Set(model.state.slides.map(({ id }) => id)), new Set(ids));
  const [first, second] = [slideAt(0), slideAt(1)];
  for (let step = 0; step <= 30; step += 1) {
    model.measure(first, sampleOf({ ...player, currentTime: step / 10 }, false, step * 100));
    model.measure(second, sampleOf({ ...player, currentTime: step / 10 }, false, step * 100));
  }
  model.show(1);
  model.setActive(false);
  model.measure(second, sampleOf({ ...player, currentTime: 1 }, false, 5_000));
  model.setActive(true);
  assert.deepEqual(kinds(), [
    `impression ${first.id}`,
    `playStart ${first.id}`,
    `watchProgress ${first.id}`,
    `swipe ${second.id}`,
    `impression ${second.id}`,
  ]);
  const progress = events.find(({ event }) => event === 'watchProgress');
  assert.equal(progress?.data?.['watchTime'], 3);
  assert.equal(progress?.data?.['rendition'], '720p');
});

test('refreshing keeps the old slides until the new ones arrive, and reports nothing in the meantime', async (context) => {
  const { model, kinds, slideAt } = await openFeed(context);
  model.show(2);
  const before = kinds().length;
  const refreshing = model.refresh();
  assert.equal(model.state.isRefreshing, true);
  assert.equal(model.state.slides.length, ids.length);
  model.show(0);
  model.measure(slideAt(0), sampleOf({ ...player, currentTime: 1 }, false, 100));
  assert.equal(kinds().length, before);
  await refreshing;
  assert.equal(model.state.isRefreshing, false);
  assert.equal(kinds().at(-1), `impression ${slideAt(0).id}`);
});

test('the item of a link comes first and is marked; a missing one does not stop the feed', async (context) => {
  const [, , wanted = ''] = ids;
  const { slideAt, events } = await openFeed(context, { start: wanted });
  assert.equal(slideAt(0).id, wanted);
  assert.equal(events.find(({ event }) => event === 'impression')?.data?.['entryPoint'], 'share');
  const { model } = await openFeed(context, { start: 'no-such-item' });
  assert.equal(model.state.slides.length, ids.length);
});

test('the feed waits for an unreachable service, and the state shows this', async (context) => {
  const connection = await openConnection({
    baseUrl: 'http://127.0.0.1:1',
    publishableKey: 'rf_pk_x',
    device: undefined,
  });
  const model = new FeedModel(connection);
  context.after(() => {
    model.close();
    return connection.close();
  });
  const phases: string[] = [];
  model.subscribe(() => phases.push(model.state.phase));
  void model.open();
  await eventually('the feed to wait', async () => (phases.includes('waiting') ? true : null));
  assert.equal(model.state.error?.code, 'NETWORK_ERROR');
});

test('a player of a live stream, and one that knows nothing yet, are read as they are', () => {
  const live = sampleOf({ ...player, isLive: true, duration: 0, videoTrack: null }, false, 1);
  assert.deepEqual([live.length, live.rendition, live.starved], [Infinity, null, false]);
  const fresh = sampleOf({ ...player, duration: 0, status: 'loading' }, true, 1);
  assert.deepEqual([fresh.length, fresh.paused, fresh.starved], [Number.NaN, true, true]);
});
