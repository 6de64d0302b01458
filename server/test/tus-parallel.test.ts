/** Proves uploads in parallel parts: the `concatenation` extension of tus. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { Upload } from 'tus-js-client';
import { local } from './media.ts';
import { createItem, query } from './seed.ts';
import { startService } from './service.ts';
import { storedFiles } from './stored-files.ts';
import { createTus, paddedClip, patchTus, tus, tusOffset } from './tus-sender.ts';

const service = await startService({
  REELFEED_ROLES: 'api',
  REELFEED_MAX_UPLOAD_BYTES: '4MB',
});
const clip = await paddedClip(3_000_000);

async function open(): Promise<{ id: string; url: string }> {
  const { id, uploadUrl } = await createItem(service);
  return { id, url: local(service, uploadUrl) };
}

async function partOf(url: string, bytes: Buffer): Promise<string> {
  const made = await createTus(url, bytes.length, { 'upload-concat': 'partial' });
  assert.equal(made.status, 201);
  return made.headers.get('location') ?? '';
}

const here = (location: string) => local(service, location);
const join = (url: string, parts: readonly string[]) =>
  fetch(url, { method: 'POST', headers: { ...tus, 'upload-concat': `final;${parts.join(' ')}` } });

async function isStoredWhole(id: string): Promise<boolean> {
  const [row] = await query(service, 'select source_key from content where content_id = $1', [id]);
  const file = path.join(service.dataDir, 'media/objects', String(row?.['source_key']));
  return (await readFile(file)).equals(clip);
}

test('a standard client sends three parts at once', async () => {
  const { id, url } = await open();
  await new Promise<void>((resolve, reject) => {
    const upload = new Upload(clip, {
      endpoint: url,
      parallelUploads: 3,
      onError: reject,
      onSuccess: () => resolve(),
    });
    upload.start();
  });
  assert.ok(await isStoredWhole(id));
  const left = (await storedFiles(service, 'objects')).filter((file) => file.startsWith('part'));
  assert.deepEqual(left, []);
});

test('complete parts are joined in the given order, and repeating the request gives the same response', async () => {
  const { id, url } = await open();
  const [head, tail] = [clip.subarray(0, 1_000_000), clip.subarray(1_000_000)];
  const second = await partOf(url, tail);
  const first = await partOf(url, head);
  assert.equal((await patchTus(here(second), 0, tail.subarray(0, 500_000))).status, 204);
  assert.equal((await patchTus(here(first), 0, head)).status, 204);
  const early = await join(url, [first, second]);
  assert.equal(early.status, 409, 'a part is not whole');
  assert.equal(await tusOffset(here(second)), 500_000);
  assert.equal((await patchTus(here(second), 500_000, tail.subarray(500_000))).status, 204);
  const answer = await fetch(here(second), { method: 'HEAD', headers: tus });
  assert.equal(answer.headers.get('upload-concat'), 'partial');
  assert.equal((await join(url, [first, first])).status, 400);
  const joined = await join(url, [first, new URL(second).pathname]);
  assert.equal(joined.status, 201);
  assert.equal(Number(joined.headers.get('upload-offset')), clip.length);
  assert.ok(await isStoredWhole(id));
  assert.equal((await join(url, [first, new URL(second).pathname])).status, 201);
  assert.equal((await join(url, [second, first])).status, 409, 'another join');
  const whole = await fetch(url, { method: 'HEAD', headers: tus });
  assert.equal(Number(whole.headers.get('upload-offset')), clip.length);
  assert.match(whole.headers.get('upload-concat') ?? '', /^final;/);
  assert.equal((await fetch(here(first), { method: 'HEAD', headers: tus })).status, 404);
  const rows = await query(service, 'select 1 from upload_session where content_id = $1', [id]);
  assert.equal(rows.length, 1, 'the parts go with the join');
});

test('parts are limited, belong to their upload, and end individually', async () => {
  const mine = await open();
  const other = await open();
  const part = await partOf(mine.url, clip);
  const tooMuch = await createTus(mine.url, 1_500_000, { 'upload-concat': 'partial' });
  assert.equal(tooMuch.status, 413, 'the parts together are too large');
  assert.equal((await patchTus(here(part), 0, clip)).status, 204);
  assert.equal((await join(other.url, [part])).status, 400, 'a part of another upload');
  assert.equal((await join(mine.url, ['/v1/uploads/unknown'])).status, 400);
  assert.equal((await join(mine.url, [])).status, 400);
  const put = await fetch(here(part), { method: 'PUT', body: new Uint8Array(clip) });
  assert.equal(put.status, 409, 'a part takes no PUT');
  const nested = await createTus(here(part), 10, { 'upload-concat': 'partial' });
  assert.equal(nested.status, 409, 'a part has no parts');
  assert.equal((await fetch(here(part), { method: 'DELETE', headers: tus })).status, 204);
  assert.equal((await fetch(here(part), { method: 'HEAD', headers: tus })).status, 404);
  const item = await service.call('GET', `/v1/content/${mine.id}`);
  assert.equal(item.body.data.uploadStatus, 'pending', 'the item waits on');
  for (let count = 0; count < 64; count += 1) await partOf(mine.url, Buffer.alloc(10));
  const more = await createTus(mine.url, 10, { 'upload-concat': 'partial' });
  assert.equal(more.status, 400);
  assert.equal((await createTus(other.url, 100)).status, 201);
  const late = await createTus(other.url, 10, { 'upload-concat': 'partial' });
  assert.equal(late.status, 409, 'it takes its bytes at its own URL');
  const page = Buffer.from(`<!doctype html>${'x'.repeat(8_000)}`);
  const third = await open();
  const text = await partOf(third.url, page);
  assert.equal((await patchTus(here(text), 0, page)).status, 204, 'it need not be the first');
  assert.equal((await join(third.url, [text])).status, 422);
  await fetch(mine.url, { method: 'DELETE', headers: tus });
  const left = await query(service, 'select 1 from upload_session where content_id = $1', [
    mine.id,
  ]);
  assert.deepEqual(left, []);
});
