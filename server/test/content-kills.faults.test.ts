/**
 * Proves over many kills at random times that repeating an unacknowledged request with the same
 * Idempotency-Key creates each image, caption, import and upload exactly once.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { imageBytes } from './carousels.ts';
import { atEnd } from './database.ts';
import {
  connectTo,
  killInstance,
  restartInstance,
  startInstance,
  stopInstance,
} from './killable-service.ts';
import { fetchAll, form, sampleBytes, settledItem } from './media.ts';
import { seededRandom } from './process-tree.ts';
import { eventually, send, temporaryFolder, type Reply, type TestService } from './service.ts';
import { storedFiles } from './stored-files.ts';
import { pause } from './waiting.ts';

const kills = 8;
const clip = await sampleBytes('small.mp4');
const picture = await imageBytes({ width: 2_000, height: 2_000 });
const env = {
  REELFEED_EGRESS_ALLOW: '127.0.0.1',
  REELFEED_PUBLIC_URL: 'http://localhost',
  REELFEED_MEDIA_NICENESS: '0',
};
const source = createServer((_request, response) => {
  response.writeHead(200, { 'content-length': clip.length, etag: '"c"', 'accept-ranges': 'none' });
  response.write(clip.subarray(0, 10_000));
  void pause(300, 'the source is slow').then(() => response.end(clip.subarray(10_000)));
}).listen(0, '127.0.0.1');
await once(source, 'listening');
atEnd(async () => {
  source.closeAllConnections();
  source.close();
});
const sourceUrl = `http://127.0.0.1:${(source.address() as AddressInfo).port}/clip`;

let instance = await startInstance(await temporaryFolder(), env);
// Test helpers use only `url` and `call` of a service.
const service = () => instance as unknown as TestService;

/** Repeats a request through kills and restarts until it is answered. */
async function insist(work: () => Promise<Reply>): Promise<Reply> {
  for (;;) {
    const reply = await work().catch(() => null);
    // 409: the killed request's key still counts as in progress.
    if (reply !== null && reply.status < 500 && reply.status !== 409) return reply;
    await pause(100, 'before another try');
  }
}

let keys = 0;
/** A POST that takes effect once, however often it is sent. */
function insistOnce(path: string, body: () => unknown): Promise<Reply> {
  keys += 1;
  const headers = { 'idempotency-key': `kill-${keys}` };
  return insist(() => instance.call('POST', path, { body: body(), headers }));
}

const asData = ({ status, body, text }: Reply) => {
  assert.equal(status, 201, text);
  return body.data;
};

type Made = { carousels: Map<string, string[]>; tracks: string[]; items: string[] };

async function addImages(made: Made, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    const body = { contentType: 'carousel', title: 'Images' };
    const { id } = asData(await insistOnce('/v1/content', () => body));
    const images: string[] = [];
    made.carousels.set(id, images);
    for (let count = 0; count < 4; count += 1) {
      const path = `/v1/content/${id}/images`;
      images.push(asData(await insistOnce(path, () => form([['file', picture]]))).id);
    }
  }
}

async function addCaptions(made: Made, video: string, stop: AbortSignal): Promise<void> {
  while (!stop.aborted && made.tracks.length < 40) {
    const text = Buffer.from('WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n');
    const fields = [['language', 'en'] as const, ['file', text] as const];
    const path = `/v1/content/${video}/captions`;
    made.tracks.push(asData(await insistOnce(path, () => form(fields))).id);
    await pause(100, 'tracks come one after another');
  }
}

async function runImports(made: Made, stop: AbortSignal): Promise<void> {
  for (let turn = 0; !stop.aborted && turn < 20; turn += 1) {
    const items = [{ sourceUrl, title: 'Import', externalId: `import-${turn}` }];
    const { results } = asData(await insistOnce('/v1/content/import', () => ({ items })));
    made.items.push(results[0].item.id);
    await pause(1_000, 'imports come one after another');
  }
}

async function uploadByTus(made: Made, stop: AbortSignal): Promise<void> {
  const tus = { 'tus-resumable': '1.0.0' };
  const octets = { ...tus, 'content-type': 'application/offset+octet-stream' };
  for (let turn = 0; !stop.aborted && turn < 20; turn += 1) {
    const data = asData(await insistOnce('/v1/content/upload', () => ({ title: 'Upload' })));
    made.items.push(data.id);
    const { pathname } = new URL(data.uploadUrl);
    const call = (method: string, headers: Record<string, string>, body?: Buffer) =>
      send(instance.url + pathname, method, { headers, ...(body !== undefined && { body }) });
    await insist(() => call('POST', { ...tus, 'upload-length': String(clip.length) }));
    let offset = 0;
    while (offset < clip.length) {
      const head = await insist(() => call('HEAD', tus));
      const counted = Number(head.headers.get('upload-offset'));
      assert.ok(counted >= offset, 'an offset that was answered is never taken back');
      offset = counted;
      if (offset === clip.length) break;
      const part = clip.subarray(offset, offset + 30_000);
      const headers = { ...octets, 'upload-offset': String(offset) };
      const reply = await call('PATCH', headers, part).catch(() => null);
      if (reply?.status === 204) offset += part.length;
      await pause(50, 'parts come one after another');
    }
    await pause(500, 'uploads come one after another');
  }
}

test(`${kills} kills at random times`, { timeout: 1_200_000 }, async (t: TestContext) => {
  const seed = Number(process.env['REELFEED_TEST_SEED'] ?? randomInt(2 ** 31));
  t.diagnostic(`REELFEED_TEST_SEED=${seed}`);
  const random = seededRandom(seed);
  const uploaded = asData(
    await instance.call('POST', '/v1/content/upload', {
      body: form([
        ['title', 'With captions'],
        ['file', clip],
      ]),
    }),
  );
  const video = await settledItem(service(), uploaded.id, 'ready');
  const made: Made = { carousels: new Map(), tracks: [], items: [] };
  const stop = new AbortController();
  const working = Promise.all([
    addImages(made, stop.signal),
    addCaptions(made, video.id, stop.signal),
    runImports(made, stop.signal),
    uploadByTus(made, stop.signal),
  ]);
  for (let count = 0; count < kills; count += 1) {
    await pause(300 + random() * 2_500, 'the kill comes at any moment');
    await killInstance(instance);
    instance = await restartInstance(instance, env);
  }
  stop.abort();
  await working;

  const get = async (id: string) => (await instance.call('GET', `/v1/content/${id}`)).body.data;
  const folders: string[] = [];
  for (const [id, images] of made.carousels) {
    const item = await get(id);
    assert.deepEqual(
      item.images.map((image: { id: string }) => image.id),
      images,
      'every image once, in its order',
    );
    folders.push(...images.map((image) => `a-${image}`));
  }
  const { captionTracks } = await get(video.id);
  assert.deepEqual(
    captionTracks.map((track: { id: string }) => track.id),
    made.tracks,
  );
  const files = await fetchAll(service(), video.streamingUrl);
  assert.ok(files.every(({ reply }) => reply.status === 200));
  for (const id of made.items) await settledItem(service(), id, 'ready', 300_000);
  const { body } = await instance.call('GET', '/v1/content?limit=1');
  assert.equal(body.meta.total, 1 + made.carousels.size + made.items.length, 'nothing is doubled');

  // Simulates the passing of the hour within which files need a row.
  const client = await connectTo(instance);
  await client.query(
    `update job set run_at = now() where name = 'remove-asset-files' and state = 'scheduled'`,
  );
  await client.end();
  folders.push(...made.tracks.map((track) => `a-${track}`));
  const onDisk = async () => {
    const stored = await storedFiles(instance, 'objects');
    const assets = stored.filter((file) => /\/(large\.jpg|captions\.vtt)$/.test(file));
    return assets.map((file) => file.split('/')[2] ?? '').toSorted();
  };
  await eventually('files without a row to go', async () =>
    (await onDisk()).length === folders.length ? true : null,
  );
  assert.deepEqual(await onDisk(), folders.toSorted());
  t.diagnostic(`${folders.length} images and captions, ${made.items.length} items`);
  await stopInstance(instance);
  instance = await restartInstance(instance, env);
  await eventually('parts and unnamed originals to go', async () => {
    const stored = await storedFiles(instance, 'objects');
    const originals = stored.filter((file) => file.startsWith('sources/'));
    const parts = stored.filter((file) => file.startsWith('partials/'));
    return originals.length === made.items.length + 1 && parts.length === 0 ? true : null;
  });
  await stopInstance(instance);
});
