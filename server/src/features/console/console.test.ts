/** The console signs in safely, and its built files match the sources. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fingerprint, recordedFingerprint } from '../../../../console/fingerprint.ts';
import { silentLog } from '../../../test/database.ts';
import { query } from '../../../test/seed.ts';
import { eventually, send, startService } from '../../../test/service.ts';
import { inTransaction, openDatabase } from '../../platform/database/database.ts';
import { createVault, loadEncryptionKey } from '../../platform/secrets/vault.ts';
import { deleteExpiredConsoleSessions } from './queries.ts';
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
  // A form or an image on another site can send the cookie at most, never the header.
  assert.equal((await call({})).status, 401);
  // An explicit key takes precedence over the cookie, even if it is wrong.
  assert.equal((await call({ ...header, authorization: 'Bearer rf_sk_x' })).status, 401);
  // Cookies of the previous version contain no session.
  const vault = createVault(await loadEncryptionKey(null, service.dataDir));
  const old = vault.seal(
    JSON.stringify({ secretKey, endsAt: Date.now() + 60_000 }),
    'console session',
  );
  const before = { ...header, cookie: `reelfeed_console=${old.toString('base64url')}` };
  assert.equal((await send(`${url}/v1/keys`, 'GET', { headers: before })).status, 401);
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

test('signing out ends the session on the server, on every process within five seconds', async () => {
  const second = await startService({}, { beside: service });
  const signInAgain = async () =>
    ((await signIn(secretKey)).headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const [copied, other] = [await signInAgain(), await signInAgain()];
  const read = (cookie: string, at = url) =>
    send(`${at}/v1/keys`, 'GET', { headers: { ...header, cookie } });
  for (const at of [url, second.url]) assert.equal((await read(copied, at)).status, 200);
  const tail = await fetch(`${url}/v1/events/stream`, { headers: { ...header, cookie: copied } });
  assert.equal(tail.status, 200);
  // Another site can't even sign someone out.
  await send(`${url}/console/session`, 'DELETE', { headers: { cookie: copied } });
  assert.equal((await read(copied)).status, 200);

  await send(`${url}/console/session`, 'DELETE', { headers: { ...header, cookie: copied } });
  const endedAt = performance.now();
  assert.equal((await read(copied)).status, 401);
  assert.match(await tail.text(), /"reason":"UNAUTHORIZED"/);
  await eventually('the second process to refuse', async () =>
    (await read(copied, second.url)).status === 401 ? true : null,
  );
  assert.ok(performance.now() - endedAt < 5_000);
  for (const at of [url, second.url]) assert.equal((await read(other, at)).status, 200);
});

test('a session ends after twelve hours, or when a key has a hundred later ones, and its row is swept', async () => {
  const made = await service.call('POST', '/v1/keys', { body: { type: 'secret', name: 'many' } });
  const { id, key } = made.body.data;
  const cookies: string[] = [];
  for (let turn = 0; turn <= 100; turn += 1) {
    cookies.push(((await signIn(key)).headers.get('set-cookie') ?? '').split(';')[0] ?? '');
  }
  const read = async (index: number) => {
    const headers = { ...header, cookie: cookies.at(index) ?? '' };
    return (await send(`${url}/v1/keys`, 'GET', { headers })).status;
  };
  assert.deepEqual([await read(0), await read(1), await read(100)], [401, 200, 200]);
  const [row] = await query(
    service,
    `select count(*)::int as n, min(expires_at - created_at)::text as time
     from console_session where api_key_id = $1`,
    [id],
  );
  assert.deepEqual([row?.['n'], row?.['time']], [100, '12:00:00']);
  await query(service, `update console_session set expires_at = now() where api_key_id = $1`, [id]);
  assert.equal(await read(50), 401);
  await using database = openDatabase({
    connection: service.connection,
    poolSize: 1,
    log: silentLog,
  });
  const swept = await inTransaction(database.db, (tx) => deleteExpiredConsoleSessions(tx, 1_000));
  assert.equal(swept, 100);
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
