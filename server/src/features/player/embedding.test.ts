/** The guide's example page, served from its own origin, plays and records views. */
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { eventually } from '../../../test/service.ts';
import { openStoredEvents } from '../../../test/stored-events.ts';
import { playing, servePage, startPlayerPages } from '../../../test/player/player.ts';

const { options, pages } = await startPlayerPages();
const hasBrowser = !('skip' in options);
const stored = hasBrowser ? await openStoredEvents(pages.service) : null;
const example = readFileSync(
  new URL('../../../../docs/examples/feed.html', import.meta.url),
  'utf8',
);

/** The example with this test's service and key. */
function filledIn(): string {
  const { url, publishableKey } = pages.service;
  return example
    .replaceAll('https://video.example.com', url)
    .replaceAll('rf_pk_YOUR_KEY', publishableKey);
}

test('the example has fewer than 40 lines', () => {
  assert(example.trim().split('\n').length < 40);
});

test(
  'the example plays in a page of an allowed origin, with its words, and its events are stored',
  options,
  async (context) => {
    const clip = await pages.upload('small.mp4', 'An embedded clip');
    await pages.ready(clip);
    await pages.upload('small.mp4', 'Another').then((id) => pages.ready(id));
    const origin = await servePage(filledIn());
    await pages.service.call('PATCH', '/v1/organization', { body: { allowedOrigins: [origin] } });
    const { page, errors } = await pages.visit(context, '', {
      viewport: { width: 1000, height: 800 },
    });
    await page.goto(origin);
    const first = await playing(page);
    await page.locator('#count').filter({ hasText: '1' }).waitFor();
    const slide = page.locator('.slide:not([inert])');
    await slide.getByRole('button', { name: 'Applaud' }).click();
    await page.getByRole('button', { name: 'Turn the sound on' }).click();
    await slide.locator('.surface').press('j');
    await playing(page, first);
    assert.equal(await page.title(), 'Clips of the day', 'the page keeps its own title');
    const font = await slide
      .locator('.title')
      .evaluate((node) => getComputedStyle(node).fontFamily);
    assert.match(font, /Georgia/);
    assert.deepEqual(errors, []);
    await page.goto('about:blank');
    const kinds = new Set<string>();
    await eventually('the events', async () => {
      for (const { event, userId } of (await stored?.fresh()) ?? []) {
        assert.equal(userId, 'ada');
        kinds.add(event);
      }
      return ['impression', 'playStart', 'like', 'swipe'].every((kind) => kinds.has(kind))
        ? true
        : null;
    });
  },
);

test(
  'words that are set again as they were leave the feed alone, others start it over',
  options,
  async (context) => {
    await pages.service.call('PATCH', '/v1/organization', { body: { allowedOrigins: [] } });
    const origin = await servePage(filledIn());
    const { page } = await pages.visit(context, '', { viewport: { width: 1000, height: 800 } });
    let asked = 0;
    page.on('request', (request) => (asked += Number(request.url().includes('/v1/feed'))));
    await page.goto(origin);
    await playing(page);
    const setTexts = (like: string) =>
      page
        .locator('reelfeed-feed')
        .evaluate(
          (feed, text) => Object.assign(feed, { texts: { like: text } }) && undefined,
          like,
        );
    await setTexts('Clap');
    await page.getByRole('button', { name: 'Clap' }).first().waitFor();
    await playing(page);
    const before = asked;
    for (let times = 0; times < 3; times += 1) await setTexts('Clap');
    await setTexts('Cheer');
    await page.getByRole('button', { name: 'Cheer' }).first().waitFor();
    assert.equal(asked - before, 1);
  },
);

test('nothing plays and nothing is reported while out of sight', options, async (context) => {
  const page = filledIn().replace('<h1>', '<div style="height:3000px"></div><h1>');
  const origin = await servePage(page);
  await pages.service.call('PATCH', '/v1/organization', { body: { allowedOrigins: [] } });
  const visit = await pages.visit(context, '', { viewport: { width: 1000, height: 800 } });
  await stored?.fresh();
  await visit.page.goto(origin);
  await visit.page.locator('.slide video').first().waitFor({ state: 'attached' });
  await visit.page.waitForTimeout(1_000);
  assert.equal(await visit.page.locator('#count').innerText(), '0');
  await visit.page.locator('reelfeed-feed').scrollIntoViewIfNeeded();
  await playing(visit.page);
  await visit.page.locator('#count').filter({ hasText: '1' }).waitFor();
});

test(
  'a page from another origin is rejected and the viewer is informed',
  options,
  async (context) => {
    const origin = await servePage(filledIn());
    const allowedOrigins = ['https://elsewhere.example'];
    await pages.service.call('PATCH', '/v1/organization', { body: { allowedOrigins } });
    const { page } = await pages.visit(context, '', { viewport: { width: 1000, height: 800 } });
    await page.goto(origin);
    await page.getByText('The service can’t be reached').waitFor();
  },
);
