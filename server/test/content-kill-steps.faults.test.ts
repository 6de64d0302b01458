/**
 * Proves that images, captions, resumable uploads and imports survive kill -9 at each of their
 * steps: what was acknowledged exists once, and unreferenced files are neither served nor kept.
 */
import assert from 'node:assert/strict';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import path from 'node:path';
import { test } from 'node:test';
import { imageBytes } from './carousels.ts';
import { atEnd } from './database.ts';
import {
  connectTo,
  killBeforeWrite,
  killInstance,
  restartInstance,
  startInstance,
} from './killable-service.ts';
import { fetchAll, form, sampleBytes, settledItem } from './media.ts';
import { eventually, send, temporaryFolder, type Reply, type TestService } from './service.ts';
import { storedFiles } from './stored-files.ts';
import { beginPatch } from './tus-sender.ts';
import { writeWhisperModel } from './whisper-model.ts';
import { findVulkanProblem } from '../src/features/media/child/engine/vulkan.ts';
import { voice, wav } from '../src/features/media/testing/voice.ts';
import { pause } from './waiting.ts';

const clip = await sampleBytes('faststart.mp4');
const model = path.join(await temporaryFolder(), 'model.bin');
await writeWhisperModel(model, { language: 'de', words: ['Guten', 'Tag'], seconds: 2 });

/** Sends the clip slowly enough to be killed during the transfer. */
const source = createServer((incoming, response) => {
  response.writeHead(200, { 'content-length': clip.length });
  if (incoming.url === '/quick') return void response.end(clip);
  response.write(clip.subarray(0, 20_000));
  void pause(2_000, 'the source is slow').then(() => response.end(clip.subarray(20_000)));
}).listen(0, '127.0.0.1');
await once(source, 'listening');
atEnd(async () => {
  source.closeAllConnections();
  source.close();
});
const sourceUrl = `http://127.0.0.1:${(source.address() as AddressInfo).port}`;

const env = {
  // The port changes with each start; URLs in responses do not.
  REELFEED_PUBLIC_URL: 'http://localhost',
  REELFEED_EGRESS_ALLOW: '127.0.0.1',
  REELFEED_WHISPER_MODEL: model,
  REELFEED_MEDIA_NICENESS: '0',
};
let instance = await startInstance(await temporaryFolder(), env);
const restart = async () => void (instance = await restartInstance(instance, env));
const local = (url: string) => instance.url + new URL(url).pathname;
// Test helpers use only `url` and `call` of a service.
const service = () => instance as unknown as TestService;
const get = async (id: string) => (await instance.call('GET', `/v1/content/${id}`)).body.data;

/** Returns a function that checks whether another request has started to write the upload. */
async function nextWriter(contentId: string): Promise<() => Promise<boolean>> {
  const client = await connectTo(instance);
  const sql = 'select writer from upload_session where content_id = $1';
  const writer = async () => (await client.query(sql, [contentId])).rows[0]?.writer;
  const before = await writer();
  return async () => {
    const hasBegun = (await writer()) !== before;
    if (hasBegun) await client.end();
    return hasBegun;
  };
}

/** A request interrupted by a kill has no response. */
const orNone = (reply: Promise<Reply>) => reply.catch(() => null);

/** Asset folders on disk that contain such a file, as `<playbackId>/a-<assetId>`. */
async function foldersWith(name: string): Promise<string[]> {
  const files = await storedFiles(instance, 'objects');
  return files
    .filter((file) => /^media\/[^/]+\/a-/.test(file) && file.endsWith(`/${name}`))
    .map((file) => file.split('/').slice(1, 3).join('/'));
}

/** Simulates the passing of the hour within which files need a row. */
async function letAnHourPass(): Promise<void> {
  const client = await connectTo(instance);
  await client.query(
    `update job set run_at = now() where name = 'remove-asset-files' and state = 'scheduled'`,
  );
  await client.end();
}

/** Only these folders remain, and files of the others are not served even before their removal. */
async function assertOnlyFolders(kept: readonly string[], file: string): Promise<void> {
  for (const folder of await foldersWith(file)) {
    const { status } = await fetch(`${instance.url}/media/${folder}/${file}`);
    assert.equal(status, kept.includes(folder) ? 200 : 404, folder);
  }
  await letAnHourPass();
  await eventually('the files without a row to go', async () =>
    (await foldersWith(file)).length === kept.length ? true : null,
  );
  assert.deepEqual((await foldersWith(file)).toSorted(), kept.toSorted());
}

const folderOf = (url: string) => new URL(url).pathname.split('/').slice(2, 4).join('/');

/** Starts a request and leaves it open after part of its body. */
async function sendHalf(
  method: string,
  pathname: string,
  headers: Record<string, string>,
  body: Buffer,
): Promise<void> {
  const request = httpRequest(instance.url + pathname, {
    method,
    headers: {
      authorization: `Bearer ${instance.secretKey}`,
      'content-length': body.length,
      ...headers,
    },
  });
  request.on('error', () => undefined);
  request.write(body.subarray(0, body.length >> 1));
  await eventually('the service to have received it', async () =>
    (await storedFiles(instance, 'work')).length > 0 ? true : null,
  );
}

async function asBytes(data: FormData): Promise<[Buffer, Record<string, string>]> {
  const whole = new Response(data);
  const type = whole.headers.get('content-type') ?? '';
  return [Buffer.from(await whole.arrayBuffer()), { 'content-type': type }];
}

test('an image: killed during transfer, during conversion, and before it is referenced', async () => {
  const made = await instance.call('POST', '/v1/content', {
    body: { contentType: 'carousel', title: 'Images' },
  });
  const { id } = made.body.data;
  const pathname = `/v1/content/${id}/images`;
  const key = { 'idempotency-key': 'the second image' };
  const add = async (headers: Record<string, string> = {}, width = 64) =>
    instance.call('POST', pathname, {
      body: form([['file', await imageBytes({ width })]]),
      headers,
    });
  const first = await add();
  assert.equal(first.status, 201, first.text);

  const [large, type] = await asBytes(form([['file', Buffer.concat([await imageBytes(), clip])]]));
  await sendHalf('POST', pathname, type, large);
  await killInstance(instance);
  await restart();
  assert.equal((await get(id)).images.length, 1);

  const converting = orNone(
    instance.call('POST', pathname, {
      body: form([['file', await imageBytes({ width: 9_000, height: 9_000 })]]),
    }),
  );
  await eventually('the conversion to begin', async () =>
    (await storedFiles(instance, 'work')).some((file) => file.includes('image')) ? true : null,
  ).catch(() => null);
  await killInstance(instance);
  assert.equal(await converting, null, 'it was not acknowledged');
  await restart();
  assert.equal((await get(id)).images.length, 1);

  let cut: Promise<Reply | null> = Promise.resolve(null);
  await killBeforeWrite(instance, 'asset', async () => {
    cut = orNone(add(key));
    await eventually('its files to be stored', async () =>
      (await foldersWith('large.jpg')).length === 2 ? true : null,
    );
  });
  assert.equal(await cut, null, 'it was not acknowledged');
  await restart();
  assert.deepEqual((await get(id)).images, [first.body.data]);
  const again = await add(key);
  assert.equal(again.status, 201, again.text);
  const { images } = await get(id);
  assert.deepEqual(images, [first.body.data, again.body.data]);
  const kept = images.map(({ imageUrl }: { imageUrl: string }) => folderOf(imageUrl));
  assert.equal((await foldersWith('large.jpg')).length, 3, 'those of the killed request as well');
  await assertOnlyFolders(kept, 'large.jpg');
  await instance.call('DELETE', `/v1/content/${id}`);
});

test('captions: killed during transfer, and before they are referenced', async () => {
  const made = await instance.call('POST', '/v1/content/upload', {
    body: form([
      ['title', 'With captions'],
      ['file', clip],
    ]),
  });
  const { id } = made.body.data;
  const item = await settledItem(service(), id, 'ready');
  const pathname = `/v1/content/${id}/captions`;
  const text = 'WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n';
  const fields = [
    ['language', 'en'],
    ['file', Buffer.from(text)],
  ] as const;
  const add = () => instance.call('POST', pathname, { body: form(fields) });

  const long = Buffer.from(text.repeat(20_000));
  const [body, type] = await asBytes(
    form([
      ['language', 'en'],
      ['file', long],
    ]),
  );
  await sendHalf('POST', pathname, type, body);
  await killInstance(instance);
  await restart();
  assert.deepEqual((await get(id)).captionTracks, []);

  let cut: Promise<Reply | null> = Promise.resolve(null);
  await killBeforeWrite(instance, 'asset', async () => {
    cut = orNone(add());
    await eventually('their files to be stored', async () =>
      (await foldersWith('captions.vtt')).length === 1 ? true : null,
    );
  });
  assert.equal(await cut, null);
  await restart();
  assert.deepEqual((await get(id)).captionTracks, []);
  const again = await add();
  assert.equal(again.status, 201, again.text);
  const files = await fetchAll(service(), item.streamingUrl);
  assert.ok(files.every(({ reply }) => reply.status === 200));
  assert.equal(files.filter(({ url }) => url.endsWith('captions.vtt')).length, 1);
  await assertOnlyFolders([folderOf(again.body.data.url)], 'captions.vtt');
});

const withEngine = { skip: findVulkanProblem() ?? false };

test('generated captions: killed during generation', withEngine, async () => {
  const made = await instance.call('POST', '/v1/content/upload', {
    body: form([
      ['title', 'A voice'],
      ['file', wav(voice(32))],
    ]),
  });
  const { id } = made.body.data;
  await eventually(
    'the track to be open',
    async () => ((await get(id)).captionTracks.length === 1 ? true : null),
    120_000,
  );
  await killInstance(instance);
  await restart();
  const track = await eventually(
    'the captions',
    async () => {
      const { captionTracks } = await get(id);
      assert.equal(captionTracks.length, 1, 'the same track, not another one');
      return captionTracks[0].status === 'ready' ? captionTracks[0] : null;
    },
    60_000,
  );
  assert.equal((await fetch(local(track.url))).status, 200);
});

const tus = { 'tus-resumable': '1.0.0' };
const octets = { 'content-type': 'application/offset+octet-stream' };

test('a resumable upload: killed during a part, before a part counts, before completion', async () => {
  const made = await instance.call('POST', '/v1/content/upload', { body: { title: 'By tus' } });
  const { id, uploadUrl } = made.body.data;
  const { pathname } = new URL(uploadUrl);
  const call = (method: string, headers: Record<string, string>, body?: Buffer) =>
    send(instance.url + pathname, method, {
      headers: { ...tus, ...headers },
      ...(body !== undefined && { body }),
    });
  const patch = (offset: number, bytes: Buffer) =>
    call('PATCH', { ...octets, 'upload-offset': String(offset) }, bytes);
  const offset = async () => Number((await call('HEAD', {})).headers.get('upload-offset'));
  const [third, rest] = [Math.floor(clip.length / 3), Math.floor((clip.length * 2) / 3)];
  assert.equal((await call('POST', { 'upload-length': String(clip.length) })).status, 201);
  assert.equal((await patch(0, clip.subarray(0, third))).status, 204);

  const firstWriter = await nextWriter(id);
  const half = await beginPatch(`${instance.url}${pathname}`, third, clip.length - third);
  await eventually('it to be taken', async () => ((await firstWriter()) ? true : null));
  await half.send(clip.subarray(third, rest));
  await killInstance(instance);
  await restart();
  assert.equal(await offset(), third, 'the offset that was answered');

  const parts = async () =>
    (await storedFiles(instance, 'objects')).filter((file) => file.startsWith('partials/'));
  let cut: Promise<Reply | null> = Promise.resolve(null);
  const writer = await nextWriter(id);
  const begun = await beginPatch(`${instance.url}${pathname}`, third, rest - third);
  await eventually('it to be taken', async () => ((await writer()) ? true : null));
  await killBeforeWrite(instance, 'upload_session', async () => {
    await begun.send(clip.subarray(third, rest));
    await eventually('the part to be stored', async () =>
      (await parts()).length === 2 ? true : null,
    );
  });
  assert.equal(begun.answer(), '');
  await restart();
  assert.equal(await offset(), third);
  assert.equal((await patch(third, clip.subarray(third, rest))).status, 204);

  const sources = async () =>
    (await storedFiles(instance, 'objects')).filter((file) => file.startsWith(`sources/${id}`));
  await killBeforeWrite(instance, 'job', async () => {
    cut = orNone(patch(rest, clip.subarray(rest)));
    await eventually('the whole file to be stored', async () =>
      (await sources()).length === 1 ? true : null,
    );
  });
  assert.equal(await cut, null);
  await restart();
  assert.equal(await offset(), clip.length, 'every part had arrived, so asking completes it');
  await settledItem(service(), id, 'ready');
  await eventually('parts and the copy of the killed attempt to go', async () =>
    (await parts()).length === 0 && (await sources()).length === 1 ? true : null,
  );
});

test('imports: killed during creation, fetching and storing', async () => {
  const run = (name: string) =>
    instance.call('POST', '/v1/content/import', {
      body: { items: [{ sourceUrl: `${sourceUrl}/${name}`, title: name, externalId: name }] },
    });
  let cut: Promise<Reply | null> = Promise.resolve(null);
  await killBeforeWrite(instance, 'import_source', async () => {
    cut = orNone(run('slow'));
    const client = await connectTo(instance);
    await eventually('it to wait for the table', async () => {
      const { rowCount } = await client.query('select from pg_locks where not granted');
      return rowCount === 0 ? null : true;
    });
    await client.end();
  });
  assert.equal(await cut, null);
  await restart();
  const imported = await run('slow');
  assert.equal(imported.body.data.results[0].status, 'created', 'nothing was left of the first');
  const { id } = imported.body.data.results[0].item;
  await eventually('bytes to come', async () =>
    (await storedFiles(instance, 'work')).length > 0 ? true : null,
  );
  await killInstance(instance);
  await restart();
  await settledItem(service(), id, 'ready');

  let second = '';
  const sources = async (of: string) =>
    (await storedFiles(instance, 'objects')).filter((file) => file.startsWith(`sources/${of}`));
  second = (await run('slow-too')).body.data.results[0].item.id;
  await killBeforeWrite(instance, 'import_source', async () => {
    await eventually('the file to be stored', async () =>
      (await sources(second)).length === 1 ? true : null,
    );
  });
  await restart();
  await settledItem(service(), second, 'ready');
  for (const one of [id, second]) {
    await eventually('the copy of the killed attempt to go', async () =>
      (await sources(one)).length === 1 ? true : null,
    );
  }
  const again = await run('slow-too');
  assert.equal(again.body.data.results[0].status, 'existing');
  const { body } = await instance.call('GET', '/v1/content?search=slow');
  assert.equal(body.meta.total, 2);
});
