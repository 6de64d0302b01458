/**
 * Proves resumable uploads: tus 1.0 on upload URLs, through disconnections, restarts and invalid
 * requests.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { test } from 'node:test';
import { Upload } from 'tus-js-client';
import { local, sampleBytes, settledItem } from './media.ts';
import { createItem, query } from './seed.ts';
import { eventually, startService } from './service.ts';
import { pause } from './waiting.ts';

const clip = await sampleBytes('faststart.mp4');
const service = await startService({});
const tus = { 'tus-resumable': '1.0.0' };

async function open(): Promise<{ id: string; url: string }> {
  const { id, uploadUrl } = await createItem(service);
  return { id, url: local(service, uploadUrl) };
}

const call = (method: string, url: string, headers: Record<string, string>, body?: Buffer) =>
  fetch(url, {
    method,
    headers: { ...tus, ...headers },
    ...(body !== undefined && { body: new Uint8Array(body) }),
  });

const create = (url: string, length = clip.length) =>
  call('POST', url, { 'upload-length': String(length) });

const patch = (url: string, offset: number, bytes: Buffer, headers = {}) =>
  call(
    'PATCH',
    url,
    {
      'upload-offset': String(offset),
      'content-type': 'application/offset+octet-stream',
      ...headers,
    },
    bytes,
  );

async function offsetOf(url: string): Promise<number> {
  const answer = await call('HEAD', url, {});
  assert.equal(answer.status, 200);
  return Number(answer.headers.get('upload-offset'));
}

/** Starts a PATCH with the missing rest and disconnects after some bytes. */
async function cutPatch(url: string, offset: number, bytes: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const request = httpRequest(url, {
      method: 'PATCH',
      headers: {
        ...tus,
        'upload-offset': offset,
        'content-type': 'application/offset+octet-stream',
        'content-length': clip.length - offset,
      },
    });
    request.on('error', () => resolve());
    request.write(clip.subarray(offset, offset + bytes), () => {
      void pause(50, 'the bytes arrive').then(() => request.destroy());
    });
    request.on('close', () => resolve());
  });
}

test('a standard client uploads in parts, and the item becomes ready', async () => {
  const { id, url } = await open();
  const shown: number[] = [];
  await new Promise<void>((resolve, reject) => {
    const upload = new Upload(clip, {
      endpoint: url,
      uploadSize: clip.length,
      chunkSize: Math.ceil(clip.length / 4),
      onProgress: (sent) => shown.push(sent),
      onError: reject,
      onSuccess: () => resolve(),
    });
    upload.start();
  });
  assert.equal(shown.at(-1), clip.length);
  const item = await settledItem(service, id, 'ready');
  assert.ok(item.duration > 0);
  const [row] = await query(service, 'select source_key from content where content_id = $1', [id]);
  assert.ok(row?.['source_key']);
});

test('an upload that is repeatedly interrupted continues at the right byte', async () => {
  const { id, url } = await open();
  assert.equal((await create(url)).status, 201);
  const step = Math.ceil(clip.length / 9);
  for (let offset = 0; offset + step < clip.length; offset += step) {
    const before = await offsetOf(url);
    await cutPatch(url, before, step);
    const after = await eventually('the bytes of the cut part to count', async () => {
      const now = await offsetOf(url);
      return now > before ? now : null;
    });
    assert.ok(after <= before + step);
  }
  const offset = await offsetOf(url);
  // Another process can continue: all state is in the database and the storage.
  await using other = await startService({ REELFEED_ROLES: 'api' }, { beside: service });
  const there = url.replace(service.url, other.url);
  const last = await patch(there, offset, clip.subarray(offset));
  assert.equal(last.status, 204);
  assert.equal(Number(last.headers.get('upload-offset')), clip.length);
  await settledItem(service, id, 'ready');
  assert.equal(await offsetOf(url), clip.length, 'a sender that lost the answer learns it');
  const again = await patch(url, clip.length, Buffer.alloc(0));
  assert.equal(again.status, 409, 'it completes once');
});

test('wrong offsets, checksums, lengths and versions are rejected and change nothing', async () => {
  const { url } = await open();
  const half = clip.subarray(0, Math.floor(clip.length / 2));
  assert.equal((await patch(url, 0, half)).status, 409, 'not created yet');
  assert.equal((await create(url)).status, 201);
  assert.equal((await create(url)).status, 201, 'a repeat');
  assert.equal((await create(url, 5)).status, 409);
  assert.equal((await create(url, 10 ** 14)).status, 413);
  assert.equal((await call('POST', url, {})).status, 400);
  assert.equal((await patch(url, 7, half)).status, 409);
  const sha1 = (bytes: Buffer) => `sha1 ${createHash('sha1').update(bytes).digest('base64')}`;
  const wrong = await patch(url, 0, half, { 'upload-checksum': sha1(clip) });
  assert.equal(wrong.status, 460);
  const unknown = await patch(url, 0, half, { 'upload-checksum': 'crc32 AAAA' });
  assert.equal(unknown.status, 400);
  assert.equal((await patch(url, 0, half, { 'content-type': 'video/mp4' })).status, 415);
  assert.equal((await patch(url, 0, half, { 'tus-resumable': '0.2.0' })).status, 412);
  assert.equal(await offsetOf(url), 0);
  assert.equal((await patch(url, 0, half, { 'upload-checksum': sha1(half) })).status, 204);
  assert.equal((await patch(url, half.length, clip)).status, 413, 'more than was said');
  assert.equal(await offsetOf(url), half.length);
  const unknownUrl = `${service.url}/v1/uploads/unknown`;
  assert.equal((await call('HEAD', unknownUrl, {})).status, 404);
});

test('one of two senders at the same offset is rejected', async () => {
  const { url } = await open();
  await create(url);
  const half = clip.subarray(0, Math.floor(clip.length / 2));
  const statuses = await Promise.all([1, 2, 3].map(async () => (await patch(url, 0, half)).status));
  assert.deepEqual(statuses.toSorted(), [204, 409, 409]);
  assert.equal(await offsetOf(url), half.length);
});

test('bytes that are not media are rejected, and a terminated upload is gone', async () => {
  const page = Buffer.from(`<!doctype html>${'x'.repeat(8_000)}`);
  const first = await open();
  await create(first.url, page.length);
  assert.equal((await patch(first.url, 0, page)).status, 422);
  assert.equal(await offsetOf(first.url), 0);
  const ended = await call('DELETE', first.url, {});
  assert.equal(ended.status, 204);
  assert.equal((await call('HEAD', first.url, {})).status, 404);
  const item = await settledItem(service, first.id, 'error');
  assert.match(item.errorReason.message, /terminated by its sender/);
});

test('a page of an allowed origin may upload, by PUT and by tus; others may not', async () => {
  const { url } = await open();
  const preflight = (origin: string) =>
    fetch(url, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'PATCH' },
    });
  const anyOrigin = await preflight('https://anywhere.example');
  assert.equal(anyOrigin.status, 204);
  assert.equal(anyOrigin.headers.get('access-control-allow-origin'), 'https://anywhere.example');
  assert.match(anyOrigin.headers.get('access-control-allow-methods') ?? '', /PUT.*PATCH/);
  assert.match(anyOrigin.headers.get('tus-extension') ?? '', /creation.*checksum.*termination/);
  await service.call('PATCH', '/v1/organization', {
    body: { allowedOrigins: ['https://app.example'] },
  });
  const ours = await preflight('https://app.example');
  assert.equal(ours.headers.get('access-control-allow-origin'), 'https://app.example');
  const foreign = await preflight('https://evil.example');
  assert.equal(foreign.headers.get('access-control-allow-origin'), null);
  const put = await fetch(url, {
    method: 'PUT',
    headers: { origin: 'https://app.example' },
    body: new Uint8Array(clip),
  });
  assert.equal(put.status, 200);
  assert.equal(put.headers.get('access-control-allow-origin'), 'https://app.example');
});
