import { strict as assert } from 'node:assert';
import { test, type TestContext } from 'node:test';
import { ReelfeedError } from '../errors.ts';
import { type FeedItem, type FeedPage } from '../types.ts';
import { FeedList, type ReadPage } from './feed-list.ts';
import { until } from '../../../server/test/waiting.ts';

function item(id: string, changes: Partial<FeedItem> = {}): FeedItem {
  const base = {
    id,
    contentType: 'video',
    title: id,
    description: null,
    uploadStatus: 'ready',
    publishStatus: 'published',
    visibility: 'public',
    streamingUrl: `https://example.com/${id}.m3u8`,
    section: null,
    author: null,
    tags: [],
    publishAt: null,
    expiresAt: null,
    duration: 10,
    protected: false,
    thumbnailUrl: null,
    thumbnailHash: null,
    thumbnailTime: null,
    thumbnails: [],
    previewUrl: null,
    storyboardUrl: null,
    downloadUrl: null,
    customMetadata: {},
    captionTracks: [],
    images: [],
    width: 1080,
    height: 1920,
    aspectRatio: '9:16',
    maxFrameRate: 30,
    videoQuality: 'basic',
    resolutionTier: 'FHD',
    autoScrollInterval: null,
    articleUrl: null,
    externalId: null,
    errorReason: null,
    progress: 1,
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    isLive: false,
    liveStreamId: null,
    liveStreamStatus: null,
    currentViewers: 0,
    engagement: { views: 0, likes: 0, shares: 0, saves: 0 },
  } satisfies FeedItem;
  return { ...base, ...changes };
}

function page(ids: string[], nextCursor: string | null): FeedPage {
  return {
    items: ids.map((id) => item(id)),
    nextCursor,
    hasMore: nextCursor !== null,
    feedId: 'fed_1',
    exhausted: false,
    experiments: [],
    requestId: 'req_1',
  };
}

function failure(code: string, status: number | null): ReelfeedError {
  const fields = { requestId: null, retryAfterMs: null, details: [] };
  return new ReelfeedError({ code, status, message: code, ...fields });
}

type Listed = {
  readonly list: FeedList;
  readonly cursors: (string | null)[];
  readonly phases: string[];
  /** Ids of items that could not be turned into slides. */
  readonly broken: string[];
  readonly ids: () => string[];
};

/** A list that receives the given responses, one per request. Records cursors and phases. */
function listOver(context: TestContext, answers: (FeedPage | Error)[]): Listed {
  const cursors: (string | null)[] = [];
  const phases: string[] = [];
  const readPage: ReadPage = (cursor) => {
    cursors.push(cursor);
    const answer = answers[cursors.length - 1] ?? page([], null);
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const broken: string[] = [];
  const list: FeedList = new FeedList(
    readPage,
    () => phases.push(list.phase.name),
    ({ id }) => broken.push(id),
  );
  context.after(() => list.stop());
  return { list, cursors, phases, broken, ids: () => list.slides.map((slide) => slide.id) };
}

test('the next page is read when five slides are left, and not before', async (context) => {
  const ten = Array.from({ length: 10 }, (_, index) => `a${index}`);
  const { list, cursors, ids } = listOver(context, [page(ten, 'c2'), page(['b'], null)]);
  await list.restart();
  await list.need(3);
  assert.deepEqual(cursors, [null]);
  await list.need(4);
  assert.deepEqual(cursors, [null, 'c2']);
  assert.deepEqual(ids(), [...ten, 'b']);
  assert.equal(list.phase.name, 'ended');
  await list.need(10);
  assert.equal(cursors.length, 2);
});

test('one page is read at a time, however often it is needed', async (context) => {
  const { list, cursors } = listOver(context, [page(['a'], 'c2'), page(['b'], 'c3')]);
  await list.restart();
  await Promise.all([list.need(0), list.need(0), list.need(0)]);
  assert.deepEqual(cursors, [null, 'c2']);
});

test('a repeated item is shown once', async (context) => {
  const { list, ids } = listOver(context, [page(['a', 'b'], 'c2'), page(['b', 'c'], null)]);
  await list.restart();
  await list.need(1);
  assert.deepEqual(ids(), ['a', 'b', 'c']);
});

test('a feed that only repeats itself ends after five pages without new items', async (context) => {
  const answers = Array.from({ length: 20 }, (_, index) => page(['a'], `c${index}`));
  const { list, cursors } = listOver(context, answers);
  await list.restart();
  for (let round = 0; round < 20; round += 1) await list.need(0);
  assert.equal(list.phase.name, 'ended');
  assert.equal(cursors.length, 6);
});

test('without a response the list waits and retries automatically; retry does so immediately', async (context) => {
  const lost = failure('NETWORK_ERROR', null);
  const { list, cursors, phases, ids } = listOver(context, [lost, lost, page(['a'], null)]);
  await list.restart();
  assert.equal(list.phase.name, 'waiting');
  await list.retry();
  assert.equal(cursors.length, 2);
  await until(
    'the end',
    () => phases.at(-1),
    (phase) => phase === 'ended',
  );
  assert.deepEqual(ids(), ['a']);
  assert.deepEqual(phases, ['loading', 'waiting', 'loading', 'waiting', 'loading', 'ended']);
});

test('a rejection is final and keeps the existing slides', async (context) => {
  const refused = failure('KEY_REVOKED', 401);
  const { list, ids } = listOver(context, [page(['a'], 'c2'), refused]);
  await list.restart();
  await list.need(0);
  assert(list.phase.name === 'refused');
  assert.equal(list.phase.error.code, 'KEY_REVOKED');
  assert.deepEqual(ids(), ['a']);
});

test('a cursor that the service no longer knows starts a new order without repeats', async (context) => {
  const gone = failure('INVALID_CURSOR', 400);
  const answers = [page(['a', 'b'], 'old'), gone, page(['b', 'c'], null)];
  const { list, cursors, ids } = listOver(context, answers);
  await list.restart();
  await list.need(1);
  await until(
    'the new order',
    () => cursors.length,
    (count) => count >= 3,
  );
  assert.deepEqual(cursors, [null, 'old', null]);
  assert.deepEqual(ids(), ['a', 'b', 'c']);
});

test('stop drops an answer that is still on its way', async () => {
  let answer: (value: FeedPage) => void = () => {};
  const list = new FeedList(
    () => new Promise<FeedPage>((resolve) => (answer = resolve)),
    () => {},
    () => {},
  );
  const reading = list.restart();
  list.stop();
  answer(page(['late'], null));
  await reading;
  assert.equal(list.slides.length, 0);
});

test('unplayable items are left out, and a video carousel becomes one slide per video', async (context) => {
  const picture = { imageUrl: 'https://example.com/1.jpg', altText: null, createdAt: '' };
  const images = [
    { id: 'i2', position: 1, ...picture },
    { id: 'i1', position: 0, ...picture },
  ];
  const items = [
    item('protected', { protected: true, streamingUrl: '' }),
    item('scripted', { streamingUrl: 'javascript:alert(1)' }),
    item('waiting', { contentType: 'live_stream', liveStreamStatus: 'idle' }),
    item('series', { contentType: 'video_carousel', videos: [item('one'), item('two')] }),
    item('pictures', { contentType: 'carousel', streamingUrl: null, images }),
    item('no-pictures', { contentType: 'carousel', streamingUrl: null }),
  ];
  const { list, ids } = listOver(context, [{ ...page([], null), items }]);
  await list.restart();
  assert.deepEqual(ids(), ['protected', 'one', 'two', 'pictures']);
  assert.deepEqual(list.slides[0]?.media, { kind: 'video', url: null });
  assert.deepEqual(list.slides[2]?.member, { position: 2, count: 2 });
  const media = list.slides[3]?.media;
  assert(media?.kind === 'pictures');
  assert.deepEqual(
    media.pictures.map((image) => image.id),
    ['i1', 'i2'],
  );
});

test('an invalid item is left out and reported, and the others stay', async (context) => {
  const odd = (id: string, fields: object): FeedItem => Object.assign(item(id), fields);
  const items = [
    odd('no-images', { contentType: 'carousel', images: undefined }),
    odd('no-address', { streamingUrl: null }),
    odd('unknown-type', { contentType: 'hologram', streamingUrl: undefined }),
    odd('no-videos', { contentType: 'video_carousel', videos: 7 }),
    item('series', {
      contentType: 'video_carousel',
      videos: [odd('no-counts', { engagement: undefined }), odd('empty', { streamingUrl: '' })],
    }),
    item('nothing', { contentType: 'video_carousel', videos: [null as unknown as FeedItem] }),
    item('last'),
  ];
  const { list, ids, broken } = listOver(context, [{ ...page([], null), items }]);
  await list.restart();
  assert.deepEqual(ids(), ['no-counts', 'last']);
  assert.equal(list.slides[0]?.item.engagement.likes, 0);
  assert.deepEqual(broken, ['no-images', 'no-address', 'unknown-type', 'no-videos', 'empty']);
});

test('an item is replaced in its place, unless nothing of it can be shown', async (context) => {
  const { list } = listOver(context, [page(['a', 'b', 'c'], null)]);
  await list.restart();
  assert.equal(list.replace(item('b', { title: 'A recording' })), true);
  assert.deepEqual(
    list.slides.map(({ item: { title } }) => title),
    ['a', 'A recording', 'c'],
  );
  assert.equal(list.replace(item('a', { liveStreamStatus: 'idle' })), false);
  assert.equal(list.slides.length, 3);
});
