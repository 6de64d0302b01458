/** Clips, protected ones and images can be watched, and failures show a message. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import axe from 'axe-core';
import { type Page } from 'playwright-core';
import { addImage, createCarousel } from '../../../test/carousels.ts';
import { form } from '../../../test/media.ts';
import { eventually } from '../../../test/service.ts';
import { openStoredEvents } from '../../../test/stored-events.ts';
import { playing, startPlayerPages } from '../../../test/player/player.ts';

const { options, pages } = await startPlayerPages();
const hasBrowser = !('skip' in options);
const stored = hasBrowser ? await openStoredEvents(pages.service) : null;
const items = hasBrowser ? await makeItems() : { clip: '', locked: '', pictures: '' };

async function call(method: string, path: string, body: object): Promise<string> {
  const reply = await pages.service.call(method, path, { body });
  assert(reply.status < 300, reply.text);
  return reply.body.data.id;
}

/** One item of each kind, in the feed's order. */
async function makeItems() {
  const { service } = pages;
  const clip = await pages.upload('small.mp4', 'A clip');
  const locked = await pages.upload('small.mp4', 'A protected clip');
  for (const id of [clip, locked]) await pages.ready(id);
  await call('PATCH', `/v1/content/${locked}`, { protected: true });
  const vtt = 'WEBVTT\n\n00:00.000 --> 00:05.000\nSomebody speaks.\n';
  const captions = form([
    ['language', 'en'],
    ['label', 'English'],
    ['file', Buffer.from(vtt)],
  ]);
  const answer = await service.call('POST', `/v1/content/${clip}/captions`, { body: captions });
  assert(answer.status < 300, answer.text);
  const { id: pictures } = await createCarousel(service, 'carousel', { autoScrollInterval: 1 });
  for (const color of ['#d03030', '#30d030', '#3030d0'])
    await addImage(service, pictures, { color });
  for (const [position, contentId] of [clip, locked, pictures].entries()) {
    await call('POST', '/v1/ranking/rules', { type: 'pin', match: { contentId }, position });
  }
  return { clip, locked, pictures };
}

const watched = (page: Page) => page.locator('.slide:not([inert])');

async function stepTo(page: Page, id: string): Promise<void> {
  await page.locator(`#slide-${id}`).waitFor({ state: 'attached' });
  for (let step = 0; step < 10; step += 1) {
    const current = await watched(page).getAttribute('id');
    if (current === `slide-${id}`) return;
    await page.keyboard.press('j');
    await page.locator(`.slide[inert]#${current}`).waitFor({ state: 'attached' });
    await watched(page).waitFor({ state: 'attached' });
  }
  assert.fail(`${id} was not reached`);
}

test(
  'captions are switched on and off, and the like and the mark are told',
  options,
  async (context) => {
    const { page, errors } = await pages.visit(context);
    assert.equal(await playing(page), `slide-${items.clip}`);
    const slide = watched(page);
    const shown = () =>
      slide.locator('video').evaluate((video) => {
        if (!(video instanceof HTMLVideoElement)) throw new Error('no video');
        return [...video.textTracks].filter(({ mode }) => mode === 'showing').length;
      });
    assert.equal(await shown(), 0);
    await slide.getByRole('button', { name: 'Captions' }).click();
    assert.equal(await shown(), 1);
    await page.keyboard.press('c');
    assert.equal(await shown(), 0);
    const save = slide.getByRole('button', { name: 'Save' });
    await save.click();
    assert.equal(await save.getAttribute('aria-pressed'), 'true');
    await page.keyboard.press('b');
    await page.keyboard.press('l');
    await page.keyboard.press('l');
    await page.goto('about:blank');
    assert.deepEqual(errors, []);
    const told = ['save', 'unsave', 'like', 'unlike'];
    const kinds: string[] = [];
    await eventually('the marks to be stored', async () => {
      kinds.push(...((await stored?.fresh()) ?? []).map(({ event }) => event));
      return told.every((kind) => kinds.includes(kind)) ? true : null;
    });
  },
);

test(
  'a protected clip plays with the token that the service gives to the key',
  options,
  async (context) => {
    const { page, errors } = await pages.visit(context);
    const signed: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/media/t/')) signed.push(request.url());
    });
    const first = await playing(page);
    await page.keyboard.press('j');
    assert.equal(await playing(page, first), `slide-${items.locked}`);
    assert(signed.some((url) => url.endsWith('.m4s')));
    assert.deepEqual(errors, []);
  },
);

test(
  'the placeholder stands where the thumbnail will be, and dragging shows pictures of the storyboard',
  options,
  async (context) => {
    await eventually('the storyboard', async () => {
      const { body } = await pages.service.call('GET', `/v1/content/${items.clip}`);
      return body.data.storyboardUrl;
    });
    const { page, errors } = await pages.visit(context, '');
    // Blocks thumbnails so that the placeholder stays visible.
    await page.route(/\/thumbnail[\w-]*\.\w+$/, () => undefined);
    await page.goto(`${pages.service.url}/feed${pages.withKey}`);
    await playing(page);
    const backgroundOf = (selector: string) =>
      watched(page)
        .locator(selector)
        .evaluate((one) => getComputedStyle(one).backgroundImage);
    assert.match(await backgroundOf('.backdrop'), /^url\("data:image\/png/);
    const bar = await watched(page).locator('.position').boundingBox();
    assert(bar !== null);
    await page.mouse.move(bar.x + bar.width * 0.2, bar.y + bar.height / 2);
    await page.mouse.down();
    await page.mouse.move(bar.x + bar.width * 0.9, bar.y + bar.height / 2, { steps: 5 });
    const glance = watched(page).locator('.glance');
    await glance.waitFor();
    assert.match(await backgroundOf('.glance'), /storyboard\.jpg"\)$/);
    const place = await glance.evaluate((one) => getComputedStyle(one).backgroundPosition);
    assert.notEqual(place, '0px 0px', 'the second picture');
    await page.mouse.up();
    assert.deepEqual(errors, []);
  },
);

test(
  'a page may permit protected clips itself, and a refusal is said',
  options,
  async (context) => {
    const { page } = await pages.visit(context, '');
    await page.addInitScript(() => {
      document.addEventListener('DOMContentLoaded', () => {
        const feed = document.querySelector('reelfeed-feed');
        Object.assign(feed ?? {}, { getToken: () => Promise.reject(new Error('not a member')) });
      });
    });
    await page.goto(`${pages.service.url}/feed${pages.withKey}#${items.locked}`);
    await page.locator(`#slide-${items.locked}`).getByText('This video is protected').waitFor();
  },
);

test(
  'pictures turn by themselves until the viewer takes over, and count as seen',
  options,
  async (context) => {
    const { page, errors } = await pages.visit(context);
    await playing(page);
    await stepTo(page, items.pictures);
    const place = watched(page).locator('.place');
    await place.filter({ hasText: '2 / 3' }).waitFor();
    await watched(page).getByRole('button', { name: 'Next picture' }).click();
    const isThird = place.filter({ hasText: '3 / 3' });
    await isThird.waitFor();
    await page.waitForTimeout(1_500);
    assert.equal(await isThird.count(), 1, 'it stays where the viewer has put it');
    await page.locator('.pictures').press('ArrowLeft');
    await place.filter({ hasText: '2 / 3' }).waitFor();
    await page.goto('about:blank');
    assert.deepEqual(errors, []);
    await eventually('the impression', async () => {
      const events = (await stored?.fresh()) ?? [];
      const own = events.filter(
        ({ event, contentId }) => event === 'impression' && contentId === items.pictures,
      );
      return own.some(({ data }) => Number(data['visibleSeconds']) > 1) ? true : null;
    });
  },
);

test(
  'a failure stays visible, whatever the video element says after it',
  options,
  async (context) => {
    const { page } = await pages.visit(context, '');
    await page.route('**/*.m4s', (route) => route.fulfill({ status: 404, body: '' }));
    await page.goto(`${pages.service.url}/feed${pages.withKey}`);
    const problem = watched(page).locator('.problem');
    await problem.waitFor({ timeout: 20_000 });
    await watched(page).locator('video').dispatchEvent('waiting');
    assert.equal(await problem.isVisible(), true);
    assert.equal(await watched(page).locator('.spinner').isVisible(), false);
  },
);

test(
  'segments that answer 503 are said within seconds, and come through when they may',
  options,
  async (context) => {
    const { page } = await pages.visit(context, '');
    let isAway = true;
    await page.route('**/*.m4s', (route) =>
      isAway ? route.fulfill({ status: 503, body: '' }) : route.continue(),
    );
    await page.goto(`${pages.service.url}/feed${pages.withKey}`);
    const slide = watched(page);
    await slide.locator('.spinner').waitFor({ state: 'attached' });
    const startedAtMs = performance.now();
    await slide.getByText('Retrying').waitFor();
    await slide.locator('.problem').waitFor({ timeout: 25_000 });
    const seconds = (performance.now() - startedAtMs) / 1_000;
    assert(seconds < 12, `${seconds} s to a word`);
    isAway = false;
    await slide.getByRole('button', { name: 'Try again' }).click();
    await playing(page);
  },
);

for (const [width, height] of [
  [390, 844],
  [1440, 900],
] as const) {
  test(
    `axe finds no fault at ${width} × ${height}: clip, pictures, key form`,
    options,
    async (context) => {
      const viewport = { width, height };
      const check = async (page: Page, what: string): Promise<void> => {
        // Injected through the protocol, which bypasses the page's script policy.
        const found = await page.evaluate(`${axe.source}; axe.run().then(({ violations }) =>
        violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html, target }) =>
          JSON.stringify(target) + html.slice(0, 120)).join(' ')))`);
        assert.deepEqual(found, [], what);
      };
      const { page } = await pages.visit(context, pages.withKey, { viewport });
      await playing(page);
      await check(page, 'a clip');
      await stepTo(page, items.pictures);
      await check(page, 'pictures');
      const other = await pages.visit(context, '', { viewport });
      await other.page.getByLabel('Publishable key').waitFor();
      await check(other.page, 'the key form');
    },
  );
}
