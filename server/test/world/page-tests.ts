/**
 * Walks through the feed page in a crowded world, forwards, backwards and fast: each slide plays or
 * shows its images.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import type { LaunchedBrowser } from '../browser.ts';
import type { CrowdedWorld } from '../crowded-world.ts';
import { isFullScale, onlyInFullRuns } from '../scale.ts';
import { watchPage, type PageWatch } from './page-watch.ts';

/** Stops a walk that finds only broken slides after this many. */
const maxProblems = 4;
const slideTimeoutMs = 60_000;

type Visit = { page: Page; watch: PageWatch };

async function openPage({ browser }: LaunchedBrowser, address: string): Promise<Visit> {
  assert.ok(browser !== null);
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
  const page = await context.newPage();
  const watch = watchPage(page);
  await page.goto(address);
  return { page, watch };
}

/** Expected slide ids: each once, a video carousel as its members. */
async function expectedSlides({ service }: CrowdedWorld): Promise<string[]> {
  const ids: string[] = [];
  let cursor = '';
  do {
    const key = service.publishableKey;
    const { body } = await service.call('GET', `/v1/feed?limit=50${cursor}`, { key });
    for (const item of body.data) {
      const shown = item.contentType === 'video_carousel' ? item.videos : [item];
      ids.push(...shown.map(({ id }: { id: string }) => id));
    }
    cursor = body.meta.hasMore === true ? `&cursor=${body.meta.nextCursor}` : '';
  } while (cursor !== '');
  return [...new Set(ids)];
}

const current = (page: Page) =>
  page.evaluate(() => {
    const root = document.querySelector('reelfeed-feed')?.shadowRoot;
    return root?.querySelector('.slide:not([inert])')?.id.replace('slide-', '') ?? null;
  });

/** Waits until the current slide plays, or all its visible images have loaded. */
async function isShown(page: Page): Promise<string> {
  const handle = await page.waitForFunction(
    () => {
      const root = document.querySelector('reelfeed-feed')?.shadowRoot;
      const slide = root?.querySelector('.slide:not([inert])');
      const video = slide?.querySelector('video');
      const pictures = [...(slide?.querySelectorAll('.pictures img') ?? [])];
      const hasPicture = pictures.some(
        (one) => one instanceof HTMLImageElement && one.complete && one.naturalWidth > 0,
      );
      const plays = video != null && !video.paused && video.currentTime > 0;
      return plays ? 'plays' : hasPicture ? 'is shown' : null;
    },
    undefined,
    { timeout: slideTimeoutMs },
  );
  return String(await handle.jsonValue());
}

async function whyNot(page: Page): Promise<string> {
  return page.evaluate(() => {
    const root = document.querySelector('reelfeed-feed')?.shadowRoot;
    const slide = root?.querySelector('.slide:not([inert])');
    const video = slide?.querySelector('video');
    const said = slide?.textContent?.replaceAll(/\s+/g, ' ').slice(0, 80) ?? 'there is no slide';
    return `${said}; video: ${video == null ? 'none' : `${video.readyState} ${video.currentTime}`}`;
  });
}

/** The same as an assertion, reporting what went wrong. */
async function assertShown({ page, watch }: Visit, when: string): Promise<void> {
  try {
    await isShown(page);
  } catch {
    const why = await whyNot(page);
    await watch.assertWell(`${when}: ${why}`, { isWordless: true });
    assert.fail(`${when}: ${why}`);
  }
}

/** Presses a key until the feed stops moving. Returns the slides in order. */
async function walk(page: Page, key: string, problems: string[]): Promise<string[]> {
  const seen: string[] = [];
  await page.locator('.slide:not([inert])').waitFor({ state: 'attached' });
  for (;;) {
    const id = await current(page);
    if (id === null) {
      problems.push(`no slide: ${await page.locator('body').innerText()}`);
      return seen;
    }
    // The text at the end of the feed is a slide without an item.
    if (id !== '') {
      seen.push(id);
      await isShown(page).catch(async () => problems.push(`${id}: ${await whyNot(page)}`));
    }
    if (problems.length >= maxProblems) return seen;
    await page.keyboard.press(key);
    const moved = await page
      .waitForFunction(
        (left) => {
          const root = document.querySelector('reelfeed-feed')?.shadowRoot;
          const slide = root?.querySelector('.slide:not([inert])');
          return slide != null && slide.id.replace('slide-', '') !== left;
        },
        id,
        { timeout: 3_000 },
      )
      .catch(() => null);
    if (moved === null) return seen;
  }
}

/** Adds the feed page tests for a world. The way back is walked only in the full run. */
export function addPageTests(world: CrowdedWorld, launched: LaunchedBrowser): void {
  const { browser, reason } = launched;
  const options = browser === null ? { skip: reason } : { timeout: 420_000 };
  const { service } = world;
  const address = `${service.url}/feed?key=${service.publishableKey}`;

  test('each slide of the feed plays or shows its pictures', options, async () => {
    const expected = await expectedSlides(world);
    assert.ok(expected.length > 35, `${expected.length} slides`);
    const { page, watch } = await openPage(launched, address);
    const problems: string[] = [];
    const seen = await walk(page, 'j', problems);
    assert.deepEqual(problems, []);
    assert.deepEqual(new Set(expected.filter((id) => !seen.includes(id))), new Set());
    await watch.assertWell('forwards', { isWordless: true });
    if (isFullScale) {
      const back = await walk(page, 'k', problems);
      assert.deepEqual(problems, []);
      assert.deepEqual(back, seen.toReversed());
      await watch.assertWell('backwards', { isWordless: true });
    }
    await page.context().close();
  });

  test(
    'a hurried viewer ends at a slide that plays, with all its controls pressed',
    options,
    async () => {
      const { page, watch } = await openPage(launched, address);
      await assertShown({ page, watch }, 'at first');
      for (let n = 0; n < 20; n += 1) await page.keyboard.press('ArrowDown');
      for (let n = 0; n < 5; n += 1) await page.keyboard.press('PageUp');
      for (let n = 0; n < 6; n += 1) await page.mouse.wheel(0, n % 2 === 0 ? 2_500 : -800);
      await assertShown({ page, watch }, 'after the hurry');
      for (const key of ['l', 'b', 'm', 'c', ' ', ' ', 'ArrowRight', 'ArrowLeft', 'l', 'b']) {
        await page.keyboard.press(key);
      }
      await page.keyboard.press('j');
      await assertShown({ page, watch }, 'at the end');
      await watch.assertWell('in a hurry', { isWordless: true });
      await page.context().close();
    },
  );

  const inFullRuns = isFullScale ? options : onlyInFullRuns;
  test('a feed of video carousels alone, and one of pictures alone', inFullRuns, async () => {
    for (const filter of ['contentType=video_carousel', 'contentType=carousel', 'tags=hostile']) {
      const [name = '', value = ''] = filter.split('=');
      const { page, watch } = await openPage(launched, `${service.url}/docs/reference/`);
      await page.goto(address);
      await page.evaluate(
        ([attribute, given]) => {
          const names: Record<string, string> = { contentType: 'content-type', tags: 'tags' };
          const feed = document.querySelector('reelfeed-feed');
          feed?.setAttribute(names[String(attribute)] ?? '', String(given));
        },
        [name, value],
      );
      const problems: string[] = [];
      const seen = await walk(page, 'j', problems);
      assert.deepEqual(problems, [], filter);
      assert.ok(seen.length > 1, filter);
      await watch.assertWell(filter, { isWordless: true });
      await page.context().close();
    }
  });
}
