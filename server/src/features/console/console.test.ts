/** Proves that the console signs in safely, and that its built files are true. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fingerprint, recordedFingerprint } from '../../../../console/fingerprint.ts';
import { send, startService } from '../../../test/service.ts';
import { pause } from '../../../test/waiting.ts';

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

test('a link signs in once, and no other site can use it', async () => {
  const link = /#\/sign-in\/([\w-]{43})$/.exec(service.consoleLink?.() ?? '')?.[1] ?? '';
  const follow = (headers: Record<string, string>) =>
    send(`${url}/console/session`, 'POST', { body: { link }, headers });
  assert.equal((await follow({})).status, 403);
  const answer = await follow(header);
  assert.equal(answer.status, 200);
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  const read = await send(`${url}/v1/keys`, 'GET', { headers: { ...header, cookie } });
  assert.equal(read.status, 200);
  assert.equal((await follow(header)).status, 401);
  const body = { link: 'never made' };
  const unknown = await send(`${url}/console/session`, 'POST', { body, headers: header });
  assert.equal(unknown.status, 401);
});

test('a live tail opened by the session continues, and ends with its key', async () => {
  const made = await service.call('POST', '/v1/keys', { body: { type: 'secret', name: 'tail' } });
  const { id, key } = made.body.data;
  const cookie = ((await signIn(key)).headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const answer = await fetch(`${url}/v1/events/stream`, { headers: { ...header, cookie } });
  assert.equal(answer.status, 200);
  void pause(1_500, 'longer than the service takes between two looks at the key').then(() =>
    service.call('DELETE', `/v1/keys/${id}`),
  );
  const startedAt = performance.now();
  assert.match(await answer.text(), /"reason":"KEY_REVOKED"/);
  assert.ok(performance.now() - startedAt >= 1_400);
});
