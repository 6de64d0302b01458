import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { launchBrowser } from '../../../test/browser.ts';
import { mediaSample, type ClipName } from '../../../test/media-samples.ts';
import { eventually, startService, type TestService } from '../../../test/service.ts';

const { browser, reason } = await launchBrowser();
after(() => browser?.close());
const options = browser === null ? { skip: reason } : { timeout: 60_000 };
const service = browser === null ? null : await startService();

const hostileTitle = '<img src=x onerror="document.title=\'owned\'"> & "friends"';
const clips: { file: ClipName; title: string }[] = [
  { file: 'portrait.mp4', title: 'A portrait clip' },
  { file: 'landscape.mp4', title: 'A landscape clip' },
  { file: 'silent.mp4', title: hostileTitle },
];

interface Visit {
  readonly page: Page;
  /** Errors of the console and uncaught ones, in the order in which they came. */
  readonly errors: string[];
  /** Hosts that the page asked for anything. */
  readonly hosts: Set<string>;
}

/** Opens the player in a browser profile of its own. `path` follows `/feed`. */
async function visit(
  context: TestContext,
  path: string,
  contextOptions: BrowserContextOptions = {},
): Promise<Visit> {
  const { browser: running, service: started } = needed();
  const profile = await running.newContext({
    viewport: { width: 390, height: 844 },
    ...contextOptions,
  });
  context.after(() => profile.close());
  const page = await profile.newPage();
  const errors: string[] = [];
  const hosts = new Set<string>();
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol !== 'blob:' && protocol !== 'data:') hosts.add(host);
  });
  await page.goto(`${started.url}/feed${path}`);
  return { page, errors, hosts };
}

function needed(): { browser: Browser; service: TestService } {
  assert(browser !== null && service !== null);
  return { browser, service };
}

function withKey(): string {
  return `?key=${needed().service.publishableKey}`;
}

async function upload(file: ClipName, title: string): Promise<string> {
  const { service: started } = needed();
  const form = new FormData();
  form.set('title', title);
  form.set('author', 'A maker');
  form.set('description', 'Something to read. '.repeat(20));
  form.set('file', await openAsBlob(await mediaSample(file)), file);
  const reply = await started.call('POST', '/v1/content/upload', { body: form });
  assert.equal(reply.status, 201, reply.text);
  const id: unknown = reply.body.data.id;
  assert(typeof id === 'string');
  return id;
}

async function isReady(id: string): Promise<true | null> {
  const reply = await needed().service.call('GET', `/v1/content/${id}`);
  return reply.body.data.uploadStatus === 'ready' ? true : null;
}

/** Waits until the watched slide plays and answers what it is. */
async function playing(page: Page, except = ''): Promise<string> {
  const handle = await page.waitForFunction(
    (left) => {
      const slide = document.querySelector('.slide:not([inert])');
      const video = slide?.querySelector('video');
      if (slide === null || video === null || video === undefined || slide.id === left) return null;
      return !video.paused && video.currentTime > 0.1 ? slide.id : null;
    },
    except,
    { timeout: 20_000 },
  );
  const id = await handle.jsonValue();
  assert(id !== null);
  return id;
}

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
    const { page, errors } = await visit(context, withKey());
    await page.getByText('Nothing to watch yet').waitFor();
    assert.match(
      await page.locator('pre').innerText(),
      /curl -X POST http:.*\/v1\/content\/upload/,
    );
    for (const { file, title } of clips) await upload(file, title);
    await playing(page);
    assert.equal(await page.locator('#screen').isVisible(), false);
    assert.deepEqual(errors, []);
  },
);

test(
  'clips play, the keyboard goes on, at most three players live, and nothing leaves the service',
  options,
  async (context) => {
    const { service: started } = needed();
    const ids = await Promise.all(clips.map(({ file, title }) => upload(file, `${title} again`)));
    for (const id of ids) await eventually('a clip to be ready', () => isReady(id), 60_000);
    const { page, errors, hosts } = await visit(context, withKey());
    let slide = await playing(page);
    assert.equal(new URL(page.url()).search, '', 'the key stays out of the address');
    const before = await position(page);
    await page.waitForTimeout(400);
    assert.notEqual(await position(page), before);
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
    const { page } = await visit(context, withKey(), {
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
    assert.equal(link, `${needed().service.url}/feed#${slide.replace('slide-', '')}`);
    await watched.getByRole('slider').fill('900');
    assert((await position(page)) > 1);
    await page.reload();
    await playing(page);
    assert.equal(await page.locator(`#${slide} .like`).getAttribute('aria-pressed'), 'true');
  },
);

test('a shared link starts at its item', options, async (context) => {
  const first = await visit(context, withKey());
  let slide = await playing(first.page);
  for (let step = 0; step < 2; step += 1) {
    await first.page.keyboard.press('j');
    slide = await playing(first.page, slide);
  }
  const { page } = await visit(context, `${withKey()}#${slide.replace('slide-', '')}`);
  assert.equal(await playing(page), slide);
});

test(
  'a refused key is asked for again with the reason, and a secret key is not sent at all',
  options,
  async (context) => {
    const { service: started } = needed();
    const { page } = await visit(context, '');
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
  const { page } = await visit(context, withKey());
  const first = await playing(page);
  await page.route('**/*.m3u8', (route) => route.abort());
  await page.reload();
  await page.getByText('This video can’t be played').first().waitFor();
  await page.unroute('**/*.m3u8');
  const next = await playing(page, first);
  assert.notEqual(next, first);
});

test(
  'without a connection the page says so, and goes on when it is back',
  options,
  async (context) => {
    const { page } = await visit(context, withKey());
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
    const { page } = await visit(context, withKey());
    const first = await playing(page);
    for (let step = 0; step < 12; step += 1) {
      await page.keyboard.press('PageDown');
      await page.waitForTimeout(350);
    }
    await page.getByText('You’re all caught up').waitFor();
    await page.getByRole('button', { name: 'Back to the first' }).click();
    assert.equal(await playing(page), first);
  },
);

test('where there is no media source, the browser’s own HLS plays', options, async (context) => {
  const { page, errors } = await visit(context, '');
  await page.addInitScript(() => {
    Reflect.deleteProperty(window, 'MediaSource');
    Reflect.deleteProperty(window, 'ManagedMediaSource');
  });
  await page.goto(`${needed().service.url}/feed${withKey()}`);
  await playing(page);
  const source = await page
    .locator('.slide:not([inert]) video')
    .evaluate((video) => video.getAttribute('src'));
  assert.match(source ?? '', /^http.*\.m3u8$/);
  assert.deepEqual(errors, []);
});

for (const [width, height] of [
  [320, 568],
  [390, 844],
  [1280, 800],
] as const) {
  test(
    `at ${width} × ${height} every control has a name, a target of 40 pixels and a place in the window`,
    options,
    async (context) => {
      const { page } = await visit(context, withKey(), { viewport: { width, height } });
      await playing(page);
      const faults = await page.evaluate(() => {
        const found: string[] = [];
        for (const control of document.querySelectorAll('button, a[href], input')) {
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
