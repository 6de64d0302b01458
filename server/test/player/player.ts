/** The player's page in a real browser, with a real service and real clips. */
import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { openAsBlob } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { after, type TestContext } from 'node:test';
import { type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { launchBrowser } from '../browser.ts';
import { mediaSample, type ClipName } from '../media-samples.ts';
import { eventually, startService, type TestService } from '../service.ts';

export type Visit = {
  readonly page: Page;
  /** Console errors and uncaught exceptions, in order. */
  readonly errors: string[];
  /** Hosts that the page sent requests to. */
  readonly hosts: Set<string>;
};

/** Test options; without a browser, the tests are skipped. */
type TestOptions = { readonly skip: string } | { readonly timeout: number };

/** Starts a browser and a service; without a browser, only `options` may be used. */
export async function startPlayerPages(
  env: Record<string, string> = {},
): Promise<{ options: TestOptions; pages: PlayerPages }> {
  const { browser, reason } = await launchBrowser();
  after(() => browser?.close());
  if (browser === null) return { options: { skip: reason }, pages: new PlayerPages(null, null) };
  return {
    options: { timeout: 180_000 },
    // On a busy machine, a page that is ranked too late would come in another order.
    pages: new PlayerPages(
      browser,
      await startService({ REELFEED_FEED_RANKING_BUDGET: '10s', ...env }),
    ),
  };
}

export class PlayerPages {
  readonly #browser: Browser | null;
  readonly #service: TestService | null;

  constructor(browser: Browser | null, service: TestService | null) {
    this.#browser = browser;
    this.#service = service;
  }

  get service(): TestService {
    assert(this.#service !== null);
    return this.#service;
  }

  /** The query for `/feed` that passes the key. */
  get withKey(): string {
    return `?key=${this.service.publishableKey}`;
  }

  /** Opens the player in its own browser profile. `path` follows `/feed`. */
  async visit(
    context: TestContext,
    path = this.withKey,
    contextOptions: BrowserContextOptions = {},
  ): Promise<Visit> {
    assert(this.#browser !== null);
    const profile = await this.#browser.newContext({
      viewport: { width: 390, height: 844 },
      ...contextOptions,
    });
    context.after(() => profile.close());
    profile.setDefaultTimeout(90_000);
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
    await page.goto(`${this.service.url}/feed${path}`);
    return { page, errors, hosts };
  }

  /** Uploads a clip. Returns its item's id, which is not ready yet. */
  async upload(file: ClipName, title: string, fields: object = {}): Promise<string> {
    const form = new FormData();
    form.set('title', title);
    form.set('author', 'A maker');
    form.set('description', 'Something to read. '.repeat(20));
    for (const [name, value] of Object.entries(fields)) form.set(name, String(value));
    form.set('file', await openAsBlob(await mediaSample(file)), file);
    const reply = await this.service.call('POST', '/v1/content/upload', { body: form });
    assert.equal(reply.status, 201, reply.text);
    const id: unknown = reply.body.data.id;
    assert(typeof id === 'string');
    return id;
  }

  /** Waits until the item can be watched. */
  async ready(id: string): Promise<void> {
    const isReady = async (): Promise<true | null> => {
      const reply = await this.service.call('GET', `/v1/content/${id}`);
      return reply.body.data.uploadStatus === 'ready' ? true : null;
    };
    await eventually('a clip to be ready', isReady, 180_000);
  }
}

/** Serves a page from another port, which is another origin. Returns its address. */
export async function servePage(html: string): Promise<string> {
  const server = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html; charset=utf-8').end(html),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Waits until the current slide plays and returns its id. */
export async function playing(page: Page, except = ''): Promise<string> {
  const handle = await page.waitForFunction(
    (left) => {
      const root = document.querySelector('reelfeed-feed')?.shadowRoot;
      const slide = root?.querySelector('.slide:not([inert])') ?? null;
      const video = slide?.querySelector('video');
      if (slide === null || video === null || video === undefined || slide.id === left) return null;
      return !video.paused && video.currentTime > 0.1 ? slide.id : null;
    },
    except,
    { timeout: 90_000 },
  );
  const id = await handle.jsonValue();
  assert(id !== null);
  return id;
}
