/** The elements besides the feed: links, a single item, the shelf, axes, and stored preferences. */
import { strict as assert } from 'node:assert';
import { test, type TestContext } from 'node:test';
import axe from 'axe-core';
import { type BrowserContextOptions, type Page } from 'playwright-core';
import { addImage, createCarousel } from '../../../test/carousels.ts';
import { until } from '../../../test/waiting.ts';
import { playing, servePage, startPlayerPages } from '../../../test/player/player.ts';

const { options, pages } = await startPlayerPages();

async function makeItems() {
  const upload = (title: string, fields: object = {}) => pages.upload('small.mp4', title, fields);
  const clips = [
    await upload('One', { tags: 'shown', articleUrl: 'https://news.example/story' }),
    await upload('Two', { tags: 'shown' }),
    await upload('Three', { tags: 'shown' }),
  ];
  const unlisted = await upload('Hidden', { visibility: 'unlisted' });
  // Unlisted, so that a feed of everything contains only clips, whichever comes first.
  const fields = { tags: ['pictures'], visibility: 'unlisted' };
  const { id: pictures } = await createCarousel(pages.service, 'carousel', fields);
  for (const color of ['#d03030', '#30d030', '#3030d0']) {
    await addImage(pages.service, pictures, { color });
  }
  const { id: series } = await createCarousel(pages.service, 'video_carousel', { tags: ['other'] });
  for (const id of [...clips, unlisted]) await pages.ready(id);
  const body = { contentIds: clips.slice(0, 2) };
  await pages.service.call('POST', `/v1/content/${series}/videos`, { body });
  return { clips, unlisted, pictures, series };
}

const items = 'skip' in options ? null : await makeItems();

/** Opens a page of another origin that contains an element. */
async function open(
  context: TestContext,
  element: string,
  { html = '', lang = 'lang="en"', ...contextOptions }: Open = {},
) {
  const { url, publishableKey } = pages.service;
  const visit = await pages.visit(context, '', contextOptions);
  const markup = element.replace('>', ` src="${url}" key="${publishableKey}">`);
  const origin = await servePage(`<!doctype html><html ${lang}><title>Clips</title>
<script type="module" src="${url}/player/reelfeed-feed.js"></script>
<script type="module" src="${url}/player/reelfeed-shelf.js"></script>
<style>body { margin: 0 } ${html}</style><main><h1>Clips</h1>${markup}</main>`);
  await visit.page.goto(origin);
  return { ...visit, origin };
}
type Open = BrowserContextOptions & { html?: string; lang?: string };

/** Violations that axe finds in the current page. */
const faults = (page: Page) =>
  page.evaluate(
    `${axe.source}; axe.run().then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`,
  );

const watched = (page: Page) => page.locator('.slide:not([inert])');
const video = (page: Page) => watched(page).locator('video');

/** The id of the playing clip in the element matched by this selector. */
async function playsIn(page: Page, selector: string): Promise<string> {
  const slide = page.locator(`${selector} .slide.started:not([inert])`);
  await slide.waitFor();
  return (await slide.getAttribute('id')) ?? '';
}

test('a link opens an unlisted item first, and then the feed', options, async (context) => {
  assert(items !== null);
  const { page, errors } = await pages.visit(context, `${pages.withKey}#${items.unlisted}`);
  const first = await playing(page);
  assert.equal(first, `slide-${items.unlisted}`);
  await page.keyboard.press('j');
  assert.notEqual(await playing(page, first), first);
  assert.deepEqual(errors, []);
});

test('a link opens a carousel of videos and one of pictures', options, async (context) => {
  assert(items !== null);
  const { page } = await pages.visit(context, `${pages.withKey}#${items.series}`);
  assert.equal(await playing(page), `slide-${items.clips[0]}`);
  await page.keyboard.press('j');
  assert.equal(await playing(page, `slide-${items.clips[0]}`), `slide-${items.clips[1]}`);
  const other = await pages.visit(context, `${pages.withKey}#${items.pictures}`);
  await other.page.locator(`#slide-${items.pictures}:not([inert]) .pictures`).waitFor();
});

test('a link to nothing says so, and the feed plays', options, async (context) => {
  const nothing = '01890000-0000-7000-8000-000000000000';
  const { page } = await pages.visit(context, `${pages.withKey}#${nothing}`);
  await page.getByText('no longer available').waitFor();
  await playing(page);
});

test('<reelfeed-player> plays one item, also an unlisted one', options, async (context) => {
  assert(items !== null);
  const { page, errors } = await open(
    context,
    `<reelfeed-player content-id="${items.unlisted}"></reelfeed-player>`,
    { html: 'reelfeed-player { width: 360px }', viewport: { width: 500, height: 900 } },
  );
  assert.equal(await playsIn(page, 'reelfeed-player'), `slide-${items.unlisted}`);
  const box = await page.locator('reelfeed-player').boundingBox();
  assert.deepEqual([box?.width, box?.height], [360, 640]);
  assert.equal(await page.locator('reelfeed-player .slide').count(), 1);
  assert.deepEqual(await faults(page), []);
  assert.deepEqual(errors, []);
  await page
    .locator('reelfeed-player')
    .evaluate(
      (node, id) => node.setAttribute('content-id', id),
      '01890000-0000-7000-8000-000000000000',
    );
  await page.getByText('This video is not available').waitFor();
});

test('the shelf opens the feed at a clip, and gives the focus back', options, async (context) => {
  assert(items !== null);
  const { page, errors } = await open(context, '<reelfeed-shelf tags="shown"></reelfeed-shelf>', {
    viewport: { width: 700, height: 800 },
  });
  const clips = page.locator('reelfeed-shelf .clip');
  await clips.nth(2).waitFor();
  assert.equal(await clips.count(), 3);
  assert.equal(await page.locator('video').count(), 0, 'a shelf plays nothing');
  assert.deepEqual(await faults(page), []);
  const two = clips.filter({ hasText: 'Two' });
  await two.focus();
  await page.keyboard.press('Enter');
  assert.equal(await playsIn(page, 'reelfeed-feed'), `slide-${items.clips[1]}`);
  assert.deepEqual(await faults(page), []);
  await page.keyboard.press('Escape');
  await page.locator('reelfeed-feed').waitFor({ state: 'detached' });
  const focused = await page
    .locator('reelfeed-shelf')
    .evaluate((shelf) => shelf.shadowRoot?.activeElement?.textContent);
  assert.match(focused ?? '', /^Two/);
  assert.deepEqual(errors, []);
});

for (const [dir, after, before] of [
  ['ltr', 'ArrowRight', 'ArrowLeft'],
  ['rtl', 'ArrowLeft', 'ArrowRight'],
] as const) {
  test(`a horizontal feed is moved by the arrow keys, ${dir}`, options, async (context) => {
    const { page, errors } = await open(
      context,
      '<reelfeed-feed axis="horizontal" tags="shown"></reelfeed-feed>',
      { lang: `lang="en" dir="${dir}"` },
    );
    const first = await playing(page);
    await watched(page).locator('.share').press(after);
    const second = await playing(page, first);
    // The clip plays while the feed is still scrolling.
    const scrolled = () => page.locator('#feed').evaluate((feed) => feed.scrollLeft);
    await until('the feed to stand', scrolled, (left) => left === (dir === 'rtl' ? -390 : 390));
    await watched(page).locator('.share').press(before);
    assert.equal(await playing(page, second), first);
    assert.deepEqual(errors, []);
  });
}

test('pictures turn where text runs from right to left', options, async (context) => {
  assert(items !== null);
  const address = `/v1/content/${items.pictures}`;
  const show = (visibility: string) =>
    pages.service.call('PATCH', address, { body: { visibility } });
  await show('public');
  context.after(() => show('unlisted'));
  const { page } = await open(context, '<reelfeed-feed tags="pictures"></reelfeed-feed>', {
    lang: 'lang="ar" dir="rtl"',
  });
  await page.getByRole('button', { name: 'Next picture' }).click();
  await page.getByText('2 / 3').waitFor();
  const next = await page.getByRole('button', { name: 'Next picture' }).boundingBox();
  assert.ok((next?.x ?? 999) < 100, 'the next picture is on the left');
});

for (const [width, height] of [
  [160, 280],
  [320, 180],
] as const) {
  test(`in ${width} × ${height} every button is inside, the menu too`, options, async (context) => {
    const size = `reelfeed-feed { width: ${width}px; height: ${height}px }`;
    const { page } = await open(context, '<reelfeed-feed tags="shown"></reelfeed-feed>', {
      html: size,
    });
    await playing(page);
    await watched(page).locator('.options summary').click();
    await watched(page).getByText('Not interested').waitFor();
    const outside = await page.evaluate(() => {
      const feed = document.querySelector('reelfeed-feed');
      const frame = feed?.getBoundingClientRect();
      if (feed === null || frame === undefined) return ['no feed'];
      const buttons = feed.shadowRoot?.querySelectorAll('button, summary, a[href], .menu') ?? [];
      return [...buttons].flatMap((button) => {
        if (button.closest('[inert]') !== null || !button.checkVisibility()) return [];
        if (button.closest('.menu') !== null && !button.matches('.menu')) return [];
        const { left, right, top, bottom, height: tall } = button.getBoundingClientRect();
        const isInside =
          left >= frame.left && right <= frame.right && top >= frame.top && bottom <= frame.bottom;
        return isInside && tall >= 24
          ? []
          : [`${button.className}: ${left} ${top} ${right} ${bottom}`];
      });
    });
    assert.deepEqual(outside, []);
  });
}

test(
  'sound, volume, captions and speed hold; sound and volume on the next visit, too',
  options,
  async (context) => {
    const { page } = await pages.visit(context);
    const first = await playing(page);
    await page.getByRole('button', { name: 'Tap to unmute' }).click();
    await watched(page).locator('.options summary').click();
    await watched(page).getByRole('slider', { name: 'Volume' }).fill('40');
    await watched(page).getByRole('button', { name: '1.5×' }).click();
    await page.keyboard.press('Escape');
    const state = () =>
      video(page).evaluate((node) => {
        if (!(node instanceof HTMLVideoElement)) throw new Error('no video');
        return [node.muted, node.volume, node.playbackRate];
      });
    assert.deepEqual(await state(), [false, 0.4, 1.5]);
    await page.keyboard.press('j');
    await playing(page, first);
    assert.deepEqual(await state(), [false, 0.4, 1.5]);
    await page.keyboard.press('c');
    await page.reload();
    await playing(page);
    assert.equal((await state())[1], 0.4);
    const kept = await page.evaluate(() =>
      ['sound', 'captions'].map((name) => localStorage.getItem(`reelfeed.${name}`)),
    );
    assert.deepEqual(kept, ['on', 'on']);
  },
);

test('likes are those of the user', options, async (context) => {
  const { page } = await open(
    context,
    '<reelfeed-feed tags="shown" user-id="ada"></reelfeed-feed>',
  );
  const slide = await playing(page);
  const liked = () => page.locator(`#${slide} .like`).getAttribute('aria-pressed');
  await watched(page).locator('.like').click();
  assert.equal(await liked(), 'true');
  const change = async (user: string) => {
    await page.locator('reelfeed-feed').evaluate(
      (feed, [id, start]) => {
        feed.setAttribute('start', start ?? '');
        feed.setAttribute('user-id', id ?? '');
      },
      [user, slide.replace('slide-', '')],
    );
    await page.locator(`#${slide}:not([inert])`).waitFor();
    await playing(page);
  };
  await change('eve');
  assert.equal(await liked(), 'false');
  await change('ada');
  assert.equal(await liked(), 'true');
});

test(
  'pages put their own things over the feed, hear of slides, and word the card',
  options,
  async (context) => {
    const { page } = await open(context, '<reelfeed-feed tags="shown"></reelfeed-feed>');
    await playing(page);
    await page.locator('reelfeed-feed').evaluate((feed) => {
      feed.insertAdjacentHTML('beforeend', '<button slot="overlay" id="mine">Mine</button>');
      document
        .querySelector('#mine')
        ?.addEventListener('click', () => (document.title = 'clicked'));
      feed.addEventListener('reelfeed-slide', (event) => {
        document.body.dataset['slides'] =
          `${document.body.dataset['slides'] ?? ''} ${Reflect.get(event, 'detail').title}`;
      });
      const card = () => ({ title: 'The whole story', text: 'News' });
      Object.assign(feed, { articleCard: card });
      feed.setAttribute('article-card', '');
    });
    await page.locator('#mine').click();
    assert.equal(await page.title(), 'clicked');
    const card = page.locator('.slide:not([inert]) .article-card:not([hidden])');
    for (let step = 0; step < 3 && !(await card.isVisible()); step += 1) {
      await watched(page).locator('.share').press('j');
      await page.waitForTimeout(700);
    }
    assert.equal(await card.innerText(), 'The whole story\nNews');
    assert.equal(await card.getAttribute('href'), 'https://news.example/story');
    assert.match((await page.locator('body').getAttribute('data-slides')) ?? '', /One/);
  },
);
