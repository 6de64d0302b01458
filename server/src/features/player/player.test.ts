import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Page } from 'playwright-core';
import { type ClipName } from '../../../test/media-samples.ts';
import { eventually } from '../../../test/service.ts';
import { playing, startPlayerPages } from '../../../test/player/player.ts';

const { options, pages } = await startPlayerPages();

const hostileTitle = '<img src=x onerror="document.title=\'owned\'"> & "friends"';
const clips: { file: ClipName; title: string }[] = [
  { file: 'portrait.mp4', title: 'A portrait clip' },
  { file: 'landscape.mp4', title: 'A landscape clip' },
  { file: 'silent.mp4', title: hostileTitle },
];

async function position(page: Page): Promise<number> {
  return page.locator('.slide:not([inert]) video').evaluate((video) => {
    if (!(video instanceof HTMLVideoElement)) throw new Error('no video');
    return video.currentTime;
  });
}

test(
  'an empty feed shows how to upload, and the first clip appears and plays by itself',
  options,
  async (context) => {
    const { page, errors } = await pages.visit(context);
    await page.getByText('Nothing to watch yet').waitFor();
    assert.match(
      await page.locator('pre').innerText(),
      /curl -X POST http:.*\/v1\/content\/upload/,
    );
    for (const { file, title } of clips) await pages.upload(file, title);
    await playing(page);
    assert.equal(await page.locator('#screen').isVisible(), false);
    assert.deepEqual(errors, []);
  },
);

test(
  'clips play, the keyboard moves on, at most three players live, and nothing leaves the service',
  options,
  async (context) => {
    const { service: started } = pages;
    const ids = await Promise.all(
      clips.map(({ file, title }) => pages.upload(file, `${title} again`)),
    );
    for (const id of ids) await pages.ready(id);
    const { page, errors, hosts } = await pages.visit(context);
    let slide = await playing(page);
    assert.equal(new URL(page.url()).search, '', 'the key stays out of the address');
    const before = await position(page);
    await eventually('the clip to go on', async () =>
      (await position(page)) === before ? null : true,
    );
    const seen = new Set([slide]);
    for (let step = 0; step < 4; step += 1) {
      await page.keyboard.press(step % 2 === 0 ? 'ArrowDown' : 'j');
      slide = await playing(page, slide);
      seen.add(slide);
      assert((await page.locator('video').count()) <= 3);
    }
    assert.equal(seen.size, 5);
    await page.keyboard.press('k');
    await playing(page, slide);
    const picture = join(tmpdir(), `reelfeed-player-${randomUUID()}.png`);
    context.after(() => rm(picture, { force: true }));
    await page.screenshot({ path: picture });
    assert((await stat(picture)).size > 10_000);
    const { port } = new URL(started.url);
    const foreign = [...hosts].filter((host) => !/^(127\.0\.0\.1|localhost):/.test(host));
    assert.deepEqual(foreign, []);
    assert([...hosts].every((host) => host.endsWith(`:${port}`)));
    assert.notEqual(await page.title(), 'owned');
    assert.deepEqual(errors, []);
  },
);

test(
  'the viewer can pause, hear, like, seek and share, by keyboard and by hand',
  options,
  async (context) => {
    const { page } = await pages.visit(context, pages.withKey, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const slide = await playing(page);
    const watched = page.locator('.slide:not([inert])');
    const video = watched.locator('video');
    await watched.locator('.surface').click();
    await page.locator('.slide.paused').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.surface:focus').press(' ');
    await playing(page);
    assert.equal(
      await video.evaluate((node) => node instanceof HTMLVideoElement && node.muted),
      true,
    );
    await page.getByRole('button', { name: 'Tap to unmute' }).click();
    assert.equal(
      await video.evaluate((node) => node instanceof HTMLVideoElement && node.muted),
      false,
    );
    assert.equal(await page.locator('#unmute').isVisible(), false);
    await page.keyboard.press('l');
    const like = watched.getByRole('button', { name: 'Like' });
    assert.equal(await like.getAttribute('aria-pressed'), 'true');
    await page.keyboard.press('s');
    await page.getByText('Link copied').waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(link, `${pages.service.url}/feed#${slide.replace('slide-', '')}`);
    // A short clip may begin again right after the jump.
    const jumped = video.evaluate(
      (node) =>
        new Promise((resolve) => {
          node.addEventListener('seeked', () => {
            if (node instanceof HTMLVideoElement && node.currentTime > 1) resolve(true);
          });
        }),
    );
    await watched.getByRole('slider').fill('900');
    await jumped;
    // The feed hides watched items, so the item is reached through its link.
    await page.goto('about:blank');
    await page.goto(link.replace('#', `${pages.withKey}#`));
    assert.equal(await playing(page), slide);
    assert.equal(await page.locator(`#${slide} .like`).getAttribute('aria-pressed'), 'true');
  },
);

test('a shared link starts at its item', options, async (context) => {
  const first = await pages.visit(context);
  let slide = await playing(first.page);
  for (let step = 0; step < 2; step += 1) {
    await first.page.keyboard.press('j');
    slide = await playing(first.page, slide);
  }
  const { page } = await pages.visit(context, `${pages.withKey}#${slide.replace('slide-', '')}`);
  assert.equal(await playing(page), slide);
});

test(
  'a refused key is asked for again with the reason, and a secret key is not sent at all',
  options,
  async (context) => {
    const { service: started } = pages;
    const { page } = await pages.visit(context, '');
    const field = page.getByLabel('Publishable key');
    const problem = page.getByRole('alert');
    let asked = 0;
    page.on('request', (request) => {
      if (request.url().includes('/v1/feed')) asked += 1;
    });
    await field.fill(started.secretKey);
    await field.press('Enter');
    await problem.filter({ hasText: 'secret key' }).waitFor();
    assert.equal(asked, 0);
    await field.fill('rf_pk_mistyped');
    await field.press('Enter');
    await problem.filter({ hasText: 'UNAUTHORIZED' }).waitFor();
    await field.fill(started.publishableKey);
    await field.press('Enter');
    await playing(page);
    assert.equal(new URL(page.url()).search, '');
  },
);

test('a clip whose media is gone is left by itself', options, async (context) => {
  const { page } = await pages.visit(context);
  await playing(page);
  // The old page must not request another playlist, because only the first request fails.
  const url = page.url();
  await page.goto('about:blank');
  // Only the first clip's playlist fails; those that the page preloads are intact.
  let gone: string | null = null;
  await page.route('**/*.m3u8', async (route) => {
    const folder = new URL('.', route.request().url()).pathname;
    gone ??= folder;
    await (folder.startsWith(gone) ? route.abort() : route.continue());
  });
  await page.goto(url);
  const broken = await page.waitForFunction(() => {
    const root = document.querySelector('reelfeed-feed')?.shadowRoot;
    return root?.querySelector('.slide:has(.problem:not([hidden]))')?.id ?? null;
  });
  const left = (await broken.jsonValue()) ?? '';
  assert.notEqual(await playing(page, left), left);
});

test(
  'without a connection the page says so, and continues when it is back',
  options,
  async (context) => {
    const { page } = await pages.visit(context);
    await playing(page);
    await page.context().setOffline(true);
    await page.getByText('You are offline').waitFor();
    await page.context().setOffline(false);
    await page.locator('#notice').waitFor({ state: 'hidden' });
    await playing(page);
  },
);

test(
  'after the last clip the end is said, and the first can be seen again',
  options,
  async (context) => {
    const { page } = await pages.visit(context);
    const first = await playing(page);
    for (let step = 0; step < 12; step += 1) {
      await page.keyboard.press('PageDown');
      await page.waitForTimeout(350);
    }
    await page.getByText('You’re all caught up').waitFor();
    await page.getByRole('button', { name: 'Back to the first video' }).click();
    assert.equal(await playing(page), first);
  },
);

test('where there is no media source, the browser’s own HLS plays', options, async (context) => {
  const { page, errors } = await pages.visit(context, '');
  await page.addInitScript(() => {
    Reflect.deleteProperty(window, 'MediaSource');
    Reflect.deleteProperty(window, 'ManagedMediaSource');
  });
  await page.goto(`${pages.service.url}/feed${pages.withKey}`);
  await playing(page);
  const source = await page
    .locator('.slide:not([inert]) video')
    .evaluate((video) => video.getAttribute('src'));
  assert.match(source ?? '', /^http.*\.m3u8$/);
  assert.deepEqual(errors, []);
});

test(
  'with no more than Safari 15 had, the page plays and has its styles',
  options,
  async (context) => {
    const { page, errors } = await pages.visit(context, '', {
      viewport: { width: 1280, height: 800 },
    });
    await page.addInitScript(() => {
      const lacking: [object, string[]][] = [
        [Promise, ['withResolvers', 'try']],
        [URL, ['canParse', 'parse']],
        [Object, ['hasOwn', 'groupBy']],
        [Array.prototype, ['at', 'findLast', 'toSorted', 'toReversed', 'with', 'toSpliced']],
        [AbortSignal, ['any', 'timeout', 'abort']],
        [AbortSignal.prototype, ['throwIfAborted', 'reason']],
        [ShadowRoot.prototype, ['adoptedStyleSheets']],
        [window, ['structuredClone', 'reportError']],
      ];
      for (const [owner, names] of lacking) {
        for (const name of names) Reflect.deleteProperty(owner, name);
      }
    });
    await page.goto(`${pages.service.url}/feed${pages.withKey}`);
    const first = await playing(page);
    await page.keyboard.press('ArrowDown');
    await playing(page, first);
    await page.getByRole('button', { name: 'Previous video' }).waitFor();
    const stage = await page.locator('.slide:not([inert]) .stage').boundingBox();
    assert.equal(Math.round(((stage?.width ?? 0) / (stage?.height ?? 1)) * 16), 9);
    assert.deepEqual(errors, []);
  },
);

for (const [width, height] of [
  [320, 568],
  [390, 844],
  [1280, 800],
] as const) {
  test(
    `at ${width} × ${height} every control has a name, a target of 40 pixels and a place in the window`,
    options,
    async (context) => {
      const { page } = await pages.visit(context, pages.withKey, { viewport: { width, height } });
      await playing(page);
      const faults = await page.evaluate(() => {
        const found: string[] = [];
        const root = document.querySelector('reelfeed-feed')?.shadowRoot;
        for (const control of root?.querySelectorAll('button, a[href], input') ?? []) {
          if (control.closest('[inert]') !== null || !control.checkVisibility()) continue;
          const box = control.getBoundingClientRect();
          const name = control.getAttribute('aria-label') ?? control.textContent.trim();
          if (name === '') found.push(`${control.className}: no name`);
          if (box.left < 0 || box.right > innerWidth || box.bottom > innerHeight) {
            found.push(`${control.className}: out of the window`);
          }
          const isText = control.matches('.more, .position');
          if (!isText && Math.min(box.width, box.height) < 40) {
            found.push(`${control.className}: ${box.width} × ${box.height}`);
          }
        }
        if (document.documentElement.scrollWidth > innerWidth)
          found.push('the page scrolls sideways');
        return found;
      });
      assert.deepEqual(faults, []);
    },
  );
}
