/**
 * Proves that the API reference is self-contained: it contacts no other host, has a strict policy,
 * and works under any path prefix of a proxy.
 */
import assert from 'node:assert/strict';
import { createServer, request as ask } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { launchBrowser } from '../../../test/browser.ts';
import { atEnd } from '../../../test/database.ts';
import { send, startService } from '../../../test/service.ts';

const service = await startService();
const { browser, reason } = await launchBrowser();
after(() => browser?.close());
const options = browser === null ? { skip: reason } : { timeout: 300_000 };

/** A reverse proxy that serves the service under `/reelfeed/`. */
async function startProxy(): Promise<string> {
  const target = new URL(service.url);
  const proxy = createServer((incoming, outgoing) => {
    const path = (incoming.url ?? '').replace(/^\/reelfeed\//, '/');
    const { method, headers } = incoming;
    const passed = ask(
      { host: target.hostname, port: target.port, path, method, headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    incoming.pipe(passed);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  atEnd(async () => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/reelfeed`;
}

/** A page in a separate browser context, with its requests and its console errors. */
async function openPage() {
  const context = await browser!.newContext({ viewport: { width: 1440, height: 1_000 } });
  const page = await context.newPage();
  const hosts = new Set<string>();
  const errors: string[] = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol !== 'data:') hosts.add(url.host);
  });
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  return { page, hosts, errors, close: () => context.close() };
}

test('an operation is read and tried out, and no request leaves the machine', options, async () => {
  const { page, hosts, errors, close } = await openPage();
  await page.goto(`${service.url}/docs/reference/`);
  await page.getByRole('button', { name: 'Open Group - Organization' }).click();
  await page.getByRole('link', { name: /^Get the organization of the key/ }).click();
  await page.getByRole('heading', { name: 'Get the organization of the key' }).waitFor();
  await page.getByText('"timeZone"').first().waitFor();
  await page
    .getByRole('button', { name: /Test Request.*get.*\/v1\/organization/ })
    .first()
    .click();
  await page.getByRole('textbox', { name: 'Bearer Token' }).fill(service.secretKey);
  await page.getByRole('button', { name: /^Send get request/ }).click();
  await page.getByRole('region', { name: 'Response' }).getByText('200 OK').waitFor();
  await close();
  assert.deepEqual([...hosts], [new URL(service.url).host]);
  assert.deepEqual(errors, []);
});

test(
  'it works in a folder of a proxy and leads to the page of each error code',
  options,
  async () => {
    const { page, hosts, errors, close } = await openPage();
    const base = await startProxy();
    await page.goto(`${base}/docs/reference/`);
    // The text can only come from the description.
    await page.getByRole('heading', { name: 'Reelfeed', exact: true }).first().waitFor();
    await page
      .getByRole('navigation', { name: 'Reelfeed' })
      .getByRole('link', { name: 'Error codes' })
      .click();
    await page.getByRole('link', { name: 'INVALID_CURSOR', exact: true }).click();
    await page.getByRole('heading', { name: 'What to do' }).waitFor();
    await close();
    assert.deepEqual([...hosts], [new URL(base).host]);
    assert.deepEqual(errors, []);
  },
);

test('its script and the description are compressed, and cached by the browser', async () => {
  const first = await fetch(`${service.url}/docs/scalar.js`, {
    headers: { 'accept-encoding': 'br' },
  });
  assert.equal(first.headers.get('content-encoding'), 'br');
  assert.ok(Number(first.headers.get('content-length')) < 1_500_000);
  await first.arrayBuffer();
  const etag = first.headers.get('etag') ?? '';
  const headers = { 'if-none-match': etag };
  assert.equal((await send(`${service.url}/docs/scalar.js`, 'GET', { headers })).status, 304);
  const description = await fetch(`${service.url}/openapi.json`, {
    headers: { 'accept-encoding': 'gzip' },
  });
  assert.equal(description.headers.get('content-encoding'), 'gzip');
  await description.arrayBuffer();
  const bare = await send(`${service.url}/docs/reference`, 'GET');
  assert.deepEqual([bare.status, bare.headers.get('location')], [308, 'reference/']);
});

test('its policy allows nothing of another host, and no script inside the page', async () => {
  const { headers } = await send(`${service.url}/docs/reference/`, 'GET');
  const policy = headers.get('content-security-policy') ?? '';
  assert.match(policy, /default-src 'none'; script-src 'self';/);
  assert.doesNotMatch(policy, /https:|upgrade-insecure-requests|unsafe-eval/);
});
