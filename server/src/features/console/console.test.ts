/** Proves that the console signs in safely, that its built files are true, and what it can do. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fingerprint, recordedFingerprint } from '../../../../console/fingerprint.ts';
import { launchBrowser } from '../../../test/browser.ts';
import { mediaSample } from '../../../test/media-samples.ts';
import { eventually, send, startService } from '../../../test/service.ts';

const service = await startService();
const { secretKey, publishableKey, url } = service;
const header = { 'x-reelfeed-console': '1' };
const signIn = (key: string, headers: Record<string, string> = header) =>
  send(`${url}/console/session`, 'POST', { body: { secretKey: key }, headers });

test('a secret key signs in with a cookie that no script and no other site can use', async () => {
  const answer = await signIn(secretKey);
  assert.equal(answer.status, 200);
  const cookie = answer.headers.get('set-cookie') ?? '';
  assert.match(cookie, /; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/);
  assert.ok(!cookie.includes(secretKey));
  const headers = { cookie: cookie.split(';')[0] ?? '' };
  const call = (more: Record<string, string>) =>
    send(`${url}/v1/keys`, 'GET', { headers: { ...headers, ...more } });
  assert.equal((await call(header)).status, 200);
  // A form or an image of another site can send the cookie at most, never the header.
  assert.equal((await call({})).status, 401);
  // A key that is given goes before the cookie, even a wrong one.
  assert.equal((await call({ ...header, authorization: 'Bearer rf_sk_x' })).status, 401);
  const damaged = { ...header, cookie: `${headers.cookie.slice(0, -4)}AAAA` };
  assert.equal((await send(`${url}/v1/keys`, 'GET', { headers: damaged })).status, 401);
});

test('no other key signs in, and no other site can sign a visitor in', async () => {
  assert.equal((await signIn(publishableKey)).status, 403);
  assert.equal((await signIn('rf_sk_unknown')).status, 401);
  assert.equal((await signIn(secretKey, {})).status, 403);
  const preflight = await fetch(`${url}/v1/keys`, {
    method: 'OPTIONS',
    headers: { origin: 'https://elsewhere.example', 'access-control-request-method': 'GET' },
  });
  assert.ok(!(preflight.headers.get('access-control-allow-headers') ?? '').includes('Console'));
});

test('a session ends with its key, and by signing out', async () => {
  const made = await service.call('POST', '/v1/keys', { body: { type: 'secret', name: 'short' } });
  const { id, key } = made.body.data;
  const cookie = ((await signIn(key)).headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const read = () => send(`${url}/v1/keys`, 'GET', { headers: { ...header, cookie } });
  assert.equal((await read()).status, 200);
  await service.call('DELETE', `/v1/keys/${id}`);
  assert.equal((await read()).status, 401);
  const ended = await send(`${url}/console/session`, 'DELETE', { headers: header });
  assert.match(ended.headers.get('set-cookie') ?? '', /^reelfeed_console=; .*Max-Age=0$/);
});

test('the built files are of these sources; build them by `npm run build:console`', () => {
  assert.equal(recordedFingerprint(), fingerprint());
});

const { browser, reason } = await launchBrowser();
after(() => browser?.close());
const options = browser === null ? { skip: reason } : { timeout: 180_000 };

test(
  'a person signs in, uploads a clip, edits it and makes a key and a webhook',
  options,
  async () => {
    assert.ok(browser !== null);
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => {
      // The first request of a page that is not signed in is refused, as it has to be.
      if (message.type() === 'error' && !message.text().includes('401'))
        errors.push(message.text());
    });

    await page.goto(url);
    await page.getByLabel('Secret key').fill(secretKey);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();

    await page.getByRole('link', { name: 'Content' }).click();
    await page.locator('input[type=file]').setInputFiles(await mediaSample('small.mp4'));
    await page.getByRole('link', { name: 'small' }).click();
    await page.getByRole('button', { name: 'Unpublish' }).waitFor({ timeout: 120_000 });
    await page.getByLabel('Title').fill('A better title');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    await page.getByRole('button', { name: 'Archive' }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await eventually('the item to be back', async () => {
      const { body } = await service.call('GET', '/v1/content');
      return body.data[0]?.title === 'A better title' ? true : null;
    });

    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByLabel('Name').fill('For the app');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText(/^rf_pk_\w{40,}$/).waitFor();

    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByLabel('URL').fill('https://example.com/hook');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    await page
      .getByText(/^whsec_/)
      .or(page.getByRole('alert'))
      .first()
      .waitFor();
    await context.close();
    assert.deepEqual(errors, []);
  },
);
