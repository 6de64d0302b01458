/**
 * Proves that no key, upload token or playback token is ever logged, even at the most verbose
 * level.
 */
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { generateKey } from '../src/features/keys/key-format.ts';
import { createLogger } from '../src/platform/logging/logging.ts';
import { form, local, putSample, readyItem, sampleBytes, settledItem } from './media.ts';
import { sendRaw } from './raw-http.ts';
import { createItem } from './seed.ts';
import { send, startService } from './service.ts';

let logged = '';
const destination = new Writable({
  write(chunk: Buffer, _encoding, done) {
    logged += chunk.toString();
    done();
  },
});
const service = await startService({}, { log: createLogger('debug', destination) });

test('a run with keys, uploads, tokens and failures leaves no secret in the log', async () => {
  const secrets: Record<string, string> = {
    'secret key': service.secretKey,
    'publishable key': service.publishableKey,
    'unknown key': generateKey('secret'),
  };
  const made = await service.call('POST', '/v1/keys', {
    body: { type: 'secret', name: 'Logged?' },
    headers: { 'idempotency-key': 'idempotent-secret-name' },
  });
  secrets['made key'] = made.body.data.key;
  for (const key of Object.values(secrets)) {
    for (const target of ['/v1/content', '/v1/feed', '/v1/content/x', `/v1/feed?key=${key}`]) {
      await service.call('GET', target, { key });
      await service.call('POST', target, { key, body: { key, token: key } });
    }
    for (const target of ['/v1/events', '/v1/events/batch']) {
      const headers = { 'content-type': 'text/plain' };
      await send(`${service.url}${target}?key=${key}`, 'POST', { headers, body: '{' });
      await send(`${service.url}${target}?key=${key}`, 'PUT', { headers, body: '{' });
    }
    await sendRaw(service.url, [`GET /v1/${key} HTTP/9\r\nAuthorization: Bearer ${key}\r\n\r\n`]);
  }

  const protectedItem = await readyItem(service, 'small.mp4', { protected: true });
  const signed = await service.call('POST', `/v1/content/${protectedItem.id}/playback-token`);
  const token = new URL(signed.body.data.streamingUrl).pathname.split('/')[3] ?? '';
  assert.ok(token.length >= 20);
  secrets['playback token'] = token;
  const playing = local(service, signed.body.data.streamingUrl);
  assert.equal((await send(playing, 'GET')).status, 200);
  assert.equal((await send(`${playing}x`, 'GET')).status, 404);
  assert.equal((await send(playing.replace(token, `${token}x`), 'GET')).status, 403);

  const { uploadUrl } = await createItem(service);
  secrets['upload token'] = uploadUrl.split('/').at(-1);
  const url = local(service, uploadUrl);
  await send(url, 'GET');
  await send(url, 'PUT', { body: 'no media' });
  const pathname = new URL(url).pathname;
  await sendRaw(
    service.url,
    [
      `PUT ${pathname} HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n`,
      (await sampleBytes('small.mp4')).subarray(0, 9_000),
    ],
    { timeoutMs: 100 },
  );
  await send(url, 'PUT', { body: await sampleBytes('small.mp4') });
  await send(url, 'PUT', { body: await sampleBytes('small.mp4') });
  await service.call('POST', '/v1/content/upload', { body: form([['title', 'no file']]) });
  const failing = await putSample(service, 'garbage-pictures.mp4');
  await settledItem(service, failing.body.data.id, 'error');

  assert.ok(logged.split('\n').length > 50, 'the log holds the run');
  assert.match(logged, /"route":"\/v1\/uploads\/:token"/);
  for (const [what, secret] of Object.entries(secrets)) {
    assert.ok(!logged.includes(secret), `the ${what} is logged`);
    // Lists show a prefix on purpose; the rest must not appear.
    assert.ok(!logged.includes(secret.slice(12)), `the end of the ${what} is logged`);
  }
  const errors = logged.split('\n').filter((line) => line.includes('"level":"error"'));
  assert.deepEqual(errors, [], 'nothing here needs a person to act');
});
