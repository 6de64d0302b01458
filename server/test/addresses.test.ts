/**
 * Proves that every page address in the README, the guides and the start-up output works in a
 * browser exactly as written, also behind a proxy that serves the service below a path.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { launchBrowser } from './browser.ts';
import { atEnd, cloneDatabase } from './database.ts';
import { ready, startMain } from './processes.ts';
import { eventually, startService, temporaryFolder, toUrl } from './service.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const { browser, reason } = await launchBrowser();
after(() => browser?.close());
const options = browser === null ? { skip: reason } : { timeout: 300_000 };

/** A selector for each page's content, by the first part of its path. */
const pages: Readonly<Record<string, string>> = {
  console: 'h1',
  feed: 'reelfeed-feed :is(.slide, #screen h1)',
  docs: 'h1',
};

/**
 * Opens an address in its own browser profile and checks that the page loads without failed
 * requests.
 */
async function shows(address: string): Promise<void> {
  assert(browser !== null);
  const profile = await browser.newContext();
  profile.setDefaultTimeout(90_000);
  const page = await profile.newPage();
  const failed: string[] = [];
  page.on('response', (answer) => {
    const isFile = answer.request().resourceType() !== 'fetch';
    if (isFile && answer.status() >= 400) failed.push(`${answer.status()} ${answer.url()}`);
  });
  await page.goto(address);
  await page.locator(contentOf(address)).first().waitFor();
  assert.deepEqual(failed, [], address);
  await profile.close();
}

function contentOf(address: string): string {
  const { pathname } = new URL(address);
  // The root redirects to the console.
  const named = pathname === '/' ? '/console' : pathname;
  const [, content] = Object.entries(pages).find(([name]) => named.includes(`/${name}`)) ?? [];
  assert.ok(content, `${address} is the address of a page that this test does not know`);
  return content;
}

/** Addresses in a text that people open, excluding API addresses and those with placeholders. */
function addressesIn(text: string): string[] {
  const found = text.match(/https?:\/\/(?:localhost|127\.0\.0\.1):\d+\/[^\s"'`<>)]*/g) ?? [];
  const isPage = (address: string) =>
    !/\/(?:v1|player)\/|…|\.\.\.|\/(?:openapi\.json|readyz|healthz|metrics|hook)/.test(address);
  return [...new Set(found.map((address) => address.replace(/[.,:;]+$/, '')).filter(isPage))];
}

/** Each is opened with a fresh browser, as by someone following the sign-in link. */
test(
  'the addresses in the start-up output, the README and the guides open their pages',
  options,
  async () => {
    const cwd = await temporaryFolder();
    const started = startMain({
      cwd,
      env: {
        PORT: '0',
        REELFEED_DATA_DIR: path.join(cwd, 'data'),
        DATABASE_URL: toUrl(await cloneDatabase()),
        REELFEED_LOG_LEVEL: 'error',
        REELFEED_MIN_FREE_BYTES: '0',
      },
    });
    const url = await ready(started);
    await eventually('the steps', async () =>
      started.output.stdout.includes('4. Embed the feed') ? true : null,
    );
    const printed = addressesIn(started.output.stdout).filter(
      (address) => address.length > url.length + 1,
    );
    assert.ok(printed.length >= 5, printed.join('\n'));
    const written = ['README.md', ...globSync('docs/*.md', { cwd: root })].flatMap((file) =>
      addressesIn(readFileSync(path.join(root, file), 'utf8')),
    );
    assert.ok(written.length >= 3, written.join('\n'));
    const here = written.map((address) => address.replace(/^https?:\/\/[^/]+/, url));
    for (const address of new Set([...printed, ...here])) await shows(address);
  },
);

const forms = [
  ...['/console', '/console/', '/console?from=mail#/keys', '/console/library', '/console/a/b?c'],
  ...['/feed', '/feed/', '/feed/?from=mail', '/docs', '/docs/', '/docs/errors'],
  ...['/docs/quick-start', '/docs/quick-start.html', '/docs/reference', '/docs/reference/'],
];

/** A reverse proxy that strips a folder from the path, as required by docs/operations.md. */
async function startProxy(folder: string): Promise<{ url: string; serve: (to: string) => void }> {
  let target = '';
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url = '' } = incoming;
    if (!url.startsWith(`${folder}/`)) return void outgoing.writeHead(404).end('not the service');
    const forwarded = request(target + url.slice(folder.length), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}${folder}`, serve: (to) => (target = to) };
}

test(
  'each page has one address, and the others redirect there with their query',
  options,
  async () => {
    const proxy = await startProxy('/reelfeed');
    const service = await startService({ REELFEED_PUBLIC_URL: proxy.url });
    proxy.serve(service.url);
    for (const base of [service.url, proxy.url]) {
      for (const form of forms) await shows(base + form);
      const led = async (form: string) => (await fetch(base + form)).url.slice(base.length);
      assert.equal(await led('/console?a=b%20c'), '/console/?a=b%20c');
      assert.equal(await led('/console/a/b/c?d'), '/console/?d');
      assert.equal(await led('/feed/?key=rf_pk_x'), '/feed?key=rf_pk_x');
      assert.equal(await led('/docs?a'), '/docs/?a');
      assert.equal(await led('/docs/content?a'), '/docs/content.html?a');
      assert.equal(await led('/'), '/console/');
    }
  },
);

test('the reference leads to the console', options, async () => {
  assert(browser !== null);
  const service = await startService({ REELFEED_ROLES: 'api' });
  const page: Page = await browser.newPage();
  await page.goto(`${service.url}/docs/reference/`);
  await page.getByRole('link', { name: 'Console', exact: true }).click();
  await page.getByRole('heading', { name: 'Sign in to Reelfeed' }).waitFor();
});
