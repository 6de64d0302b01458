/**
 * Proves resumable uploads against the real service, with interruptions, from Node and from a
 * browser.
 */
import { strict as assert } from 'node:assert';
import { openAsBlob } from 'node:fs';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { launchBrowser } from '../../server/test/browser.ts';
import { atEnd } from '../../server/test/database.ts';
import { mediaSample } from '../../server/test/media-samples.ts';
import { local, settledItem } from '../../server/test/media.ts';
import { createItem } from '../../server/test/seed.ts';
import { startService } from '../../server/test/service.ts';
import { createAdmin, ReelfeedError, upload } from './server.ts';
import { pause } from '../../server/test/waiting.ts';

const service = await startService({});
const file = await openAsBlob(await mediaSample('faststart.mp4'));

/**
 * A proxy to the service that breaks requests after the given numbers of bytes, one number per
 * request.
 */
async function startBreakingWay(breakAfterBytes: number[]): Promise<string> {
  const { hostname, port } = new URL(service.url);
  const server = createServer((client) => {
    const target = connect(Number(port), hostname);
    let sent = 0;
    const close = () => (client.destroy(), target.destroy());
    client.on('data', (chunk) => {
      const room = (breakAfterBytes[0] ?? Infinity) - sent;
      sent += chunk.length;
      target.write(chunk.subarray(0, room));
      if (chunk.length < room) return;
      breakAfterBytes.shift();
      client.pause();
      void pause(30, 'what was written arrives').then(close);
    });
    target.on('data', (chunk) => client.write(chunk));
    for (const socket of [client, target]) socket.on('error', close).on('close', close);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(async () => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('an app server uploads a file through breaks, and gets the item', async () => {
  const step = Math.ceil(file.size / 4);
  const way = await startBreakingWay([step, step, step]);
  const admin = createAdmin({ baseUrl: service.url, secretKey: service.secretKey });
  const { data: opened } = await admin.post('/v1/content/upload', { body: { title: 'Broken' } });
  const shown: number[] = [];
  await upload(file, {
    uploadUrl: local(service, opened.uploadUrl ?? '').replace(service.url, way),
    retryDelayMs: 1,
    onProgress: ({ sentBytes, totalBytes }) => {
      assert.equal(totalBytes, file.size);
      shown.push(sentBytes);
    },
  });
  assert.equal(shown[0], 0);
  assert.equal(shown.at(-1), file.size);
  assert.ok(shown.length >= 4, `it went on after each break: ${shown.join()}`);
  assert.deepEqual(
    shown,
    shown.toSorted((a, b) => a - b),
  );
  await settledItem(service, opened.id, 'ready');
});

test('the admin client creates the item, and the same key continues the same upload', async () => {
  const relayed: string[] = [];
  const here: typeof fetch = (input, init) => {
    relayed.push(init?.method ?? 'GET');
    return fetch(local(service, new Request(input).url), init);
  };
  const admin = createAdmin({ baseUrl: service.url, secretKey: service.secretKey, fetch: here });
  const abort = new AbortController();
  const options = { metadata: { title: 'Once', tags: ['a'] }, idempotencyKey: 'upload-once' };
  await assert.rejects(
    admin.upload(file, {
      ...options,
      signal: abort.signal,
      onProgress: () => abort.abort(new Error('stopped')),
    }),
    { message: 'stopped' },
  );
  const item = await admin.upload(file, options);
  assert.equal(item.title, 'Once');
  const sentParts = relayed.filter((method) => method === 'PATCH').length;
  const again = await admin.upload(file, options);
  assert.equal(again.id, item.id);
  const allParts = relayed.filter((method) => method === 'PATCH').length;
  assert.equal(allParts, sentParts, 'nothing is uploaded twice');
  const { data } = await admin.get('/v1/content', { query: { tags: 'a' } });
  assert.equal(data.length, 1);
});

test('rejections are errors with a code, and nothing is sent for an empty file', async () => {
  const { uploadUrl } = await createItem(service);
  const url = local(service, uploadUrl);
  const codeOf = (blob: Blob, target = url) =>
    upload(blob, { uploadUrl: target, retryDelayMs: 1, maxRetries: 1 }).then(
      () => 'none',
      (error: unknown) => (error instanceof ReelfeedError ? error.code : String(error)),
    );
  assert.match(await codeOf(new Blob([])), /TypeError: The file is empty/);
  assert.equal(await codeOf(file, `${service.url}/v1/uploads/unknown`), 'HTTP_404');
  const page = new Blob([`<!doctype html>${'x'.repeat(8_000)}`]);
  assert.equal(await codeOf(page), 'INVALID_MEDIA');
  assert.equal(await codeOf(file), 'CONFLICT', 'the URL was begun with another file');
  assert.equal(await codeOf(file, 'http://127.0.0.1:1/v1/uploads/x'), 'NETWORK_ERROR');
});

const { browser, reason } = await launchBrowser();
after(() => browser?.close());

test(
  'a page of another origin uploads with nothing but the upload URL',
  { ...(reason !== null && { skip: reason }), timeout: 60_000 },
  async () => {
    const built = await build({
      entryPoints: [fileURLToPath(new URL('./upload.ts', import.meta.url))],
      bundle: true,
      format: 'esm',
      platform: 'browser',
      write: false,
    });
    const library = built.outputFiles[0]?.text ?? '';
    const site = createHttpServer((request, response) => {
      const isScript = request.url === '/upload.js';
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
      response.end(isScript ? library : '<!doctype html><title>An app</title>');
    }).listen(0, '127.0.0.1');
    await once(site, 'listening');
    atEnd(async () => void site.close());
    const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    await service.call('PATCH', '/v1/organization', { body: { allowedOrigins: [origin] } });
    const { id, uploadUrl } = await createItem(service);
    const page = await browser?.newPage();
    assert.ok(page);
    await page.goto(origin);
    const bytes = Buffer.from(await file.arrayBuffer()).toString('base64');
    const shown = await page.evaluate(
      async ({ bytes: base64, target }) => {
        const { upload: send } = await import(new URL('/upload.js', location.href).href);
        const blob = await (await fetch(`data:video/mp4;base64,${base64}`)).blob();
        const progress: number[] = [];
        const onProgress = ({ sentBytes }: { sentBytes: number }) => progress.push(sentBytes);
        await send(blob, { uploadUrl: target, onProgress });
        return progress;
      },
      { bytes, target: local(service, uploadUrl) },
    );
    assert.deepEqual([shown[0], shown.at(-1)], [0, file.size]);
    await settledItem(service, id, 'ready');
  },
);
