/** Carousels play in any position, and one broken slide does not stop the others. */
import { strict as assert } from 'node:assert';
import { test, type TestContext } from 'node:test';
import { type Page } from 'playwright-core';
import { addImage, createCarousel } from '../../../test/carousels.ts';
import { createReadyItems } from '../../../test/seed.ts';
import { playing, servePage, startPlayerPages } from '../../../test/player/player.ts';

// Newest first, so that positions follow from the order of creation.
const { options, pages } = await startPlayerPages({ REELFEED_FEED_RANKING: 'off' });

/** A page with the element, which records the element's events. */
function pageWith(tags: string): string {
  const { url, publishableKey } = pages.service;
  return `<!doctype html><title>Clips</title>
<script type="module" src="${url}/player/reelfeed-feed.js"></script>
<reelfeed-feed src="${url}" key="${publishableKey}" tags="${tags}"></reelfeed-feed>
<script>
  const feed = document.querySelector('reelfeed-feed');
  window.told = { events: [], errors: [] };
  feed.addEventListener('reelfeed-event', ({ detail }) => {
    if (detail.event === 'error') told.events.push(detail.contentId);
  });
  feed.addEventListener('error', ({ error }) => told.errors.push(error.contentId));
</script>`;
}

/** The ids of the slides in order. */
const slides = (page: Page) =>
  page.evaluate(() => {
    const root = document.querySelector('reelfeed-feed')?.shadowRoot;
    return [...(root?.querySelectorAll('article.slide[id]') ?? [])].map(({ id }) =>
      id.replace('slide-', ''),
    );
  });

/** Plays every clip slide from first to last. */
async function playAll(page: Page, expected: readonly string[], pictures: string[] = []) {
  let last = '';
  for (const id of expected) {
    if (pictures.includes(id)) await page.locator(`#slide-${id}:not([inert]) .pictures`).waitFor();
    else assert.equal((last = await playing(page, last)), `slide-${id}`);
    await page.locator('reelfeed-feed .slide:not([inert]) .share').press('j');
  }
}

async function openWith(
  context: TestContext,
  tags: string,
  prepare?: (page: Page) => Promise<unknown>,
) {
  const { page, errors } = await pages.visit(context, '');
  const origin = await servePage(pageWith(tags));
  await prepare?.(page);
  await page.goto(origin);
  await page.locator('.slide').first().waitFor({ state: 'attached' });
  return { page, errors };
}

async function addVideos(id: string, contentIds: readonly string[]): Promise<void> {
  const body = { contentIds };
  const { status, text } = await pages.service.call('POST', `/v1/content/${id}/videos`, { body });
  assert.equal(status, 201, text);
}

/** Feeds with all kinds of carousels in last, middle and first position. */
async function makeFeeds() {
  const { service } = pages;
  const [unpublished = '', archived = ''] = await createReadyItems(service, 2);
  const members = [
    await pages.upload('small.mp4', 'A member'),
    await pages.upload('small.mp4', 'A protected member', { protected: true }),
  ] as const;
  const carousel = async (tag: string): Promise<string> => {
    const { id } = await createCarousel(service, 'video_carousel', { tags: [tag] });
    return id;
  };
  const last = await carousel('last');
  const one = await pages.upload('small.mp4', 'A clip', { tags: 'first,middle,last' });
  const middle = await carousel('middle');
  const pictures = (await createCarousel(service, 'carousel', { tags: ['middle', 'first'] })).id;
  await addImage(service, pictures);
  await createCarousel(service, 'carousel', { tags: ['middle', 'first', 'last'] });
  const two = await pages.upload('small.mp4', 'Another clip', { tags: 'first,middle,last' });
  const first = await carousel('first');
  for (const id of [...members, one, two]) await pages.ready(id);
  for (const id of [last, middle, first]) {
    await addVideos(id, [unpublished, members[0], archived, members[1]]);
  }
  const body = { publishStatus: 'unpublished' };
  await service.call('PATCH', `/v1/content/${unpublished}`, { body });
  await service.call('DELETE', `/v1/content/${archived}`);
  return { members, one, two, pictures, first };
}

const feeds = 'skip' in options ? null : await makeFeeds();

test(
  'a carousel plays first, in the middle and last, and so does everything beside it',
  options,
  async (context) => {
    assert(feeds !== null);
    const { members, one, two, pictures } = feeds;
    for (const [tag, expected] of [
      ['first', [...members, two, pictures, one]],
      ['middle', [two, pictures, ...members, one]],
      ['last', [two, one, ...members]],
    ] as const) {
      const { page, errors } = await openWith(context, tag);
      assert.deepEqual(await slides(page), expected, tag);
      await playAll(page, expected, [pictures]);
      assert.deepEqual(errors, []);
    }
  },
);

test(
  'an invalid item is left out and reported, and every other clip plays',
  options,
  async (context) => {
    assert(feeds !== null);
    const { members, one, two, first } = feeds;
    const odd = (number: number) => `01890000-0000-7000-8000-00000000000${number}`;
    const { page, errors } = await openWith(context, 'first', (page) =>
      page.route('**/v1/feed*', async (route) => {
        const response = await route.fetch();
        const answer = await response.json();
        const { data } = answer;
        const clip = data.find(({ id }: { id: string }) => id === two);
        const series = data.find(({ id }: { id: string }) => id === first);
        const [member] = series.videos;
        answer.data = [
          { ...clip, id: odd(1), tags: null },
          { ...clip, id: odd(2), contentType: 'hologram', streamingUrl: null },
          {
            ...series,
            videos: [
              { ...member, engagement: undefined },
              null,
              { ...member, id: odd(3), captionTracks: undefined },
            ],
          },
          { ...series, id: odd(4), videos: { length: 1 } },
          { ...clip, id: odd(5), contentType: 'carousel', images: undefined },
          { title: 'No item at all' },
          ...data
            .slice(1)
            .flatMap((item: object, index: number) => [
              { ...item, id: odd(6 + index), author: 7 },
              item,
            ]),
        ];
        await route.fulfill({ response, json: answer });
      }),
    );
    const shown = [members[0], two, feeds.pictures, one];
    await playAll(page, shown, [feeds.pictures]);
    assert.deepEqual(await slides(page), shown);
    const told = await page.evaluate(() => Reflect.get(window, 'told'));
    const expected = [1, 2, 3, 4, 5, 6, 7, 8].map(odd);
    assert.deepEqual(told.events.toSorted(), expected);
    assert.deepEqual(told.errors.toSorted(), expected);
    assert.deepEqual(errors, []);
  },
);
