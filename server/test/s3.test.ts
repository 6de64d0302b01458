/** Proves that the service works with its media in an S3 bucket, and survives kills and outages. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { killInstance, restartInstance, startInstance } from './killable-service.ts';
import { fetchAll, local, putSample, sampleBytes, settledItem } from './media.ts';
import { runCommand } from './processes.ts';
import { s3Settings, startS3 } from './s3-server.ts';
import { createItem } from './seed.ts';
import { eventually, send, startService, temporaryFolder, type TestService } from './service.ts';
import { storedFiles } from './stored-files.ts';

const s3 = await startS3();
const clip = await sampleBytes('faststart.mp4');
const env = {
  ...s3Settings(s3),
  REELFEED_S3_PUBLIC_ENDPOINT: s3.endpoint,
  REELFEED_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
};
const service = await startService(env);
/** Another machine of the cluster, which shares the database and the bucket but no disk. */
const other = await startService(
  { ...env, REELFEED_DATA_DIR: await temporaryFolder() },
  { beside: service },
);
let item: { id: string; streamingUrl: string; downloadUrl: string };

const names = (part: string) => [...s3.objects.keys()].filter((name) => name.includes(part));

test('an upload started on one machine is completed on another, and the item plays', async () => {
  const { id, uploadUrl } = await createItem(service);
  const patch = (to: TestService, offset: number, bytes: Buffer) =>
    send(local(to, uploadUrl), 'PATCH', {
      body: bytes,
      headers: {
        'tus-resumable': '1.0.0',
        'upload-offset': String(offset),
        'content-type': 'application/offset+octet-stream',
      },
    });
  const created = await send(local(service, uploadUrl), 'POST', {
    headers: { 'tus-resumable': '1.0.0', 'upload-length': String(clip.length) },
  });
  assert.equal(created.status, 201, created.text);
  const first = await patch(service, 0, clip.subarray(0, 50_000));
  assert.equal(first.status, 204, first.text);
  assert.deepEqual(await storedFiles(service, 'work'), []);
  assert.equal(names('/partials/').length, 1);
  const second = await patch(other, 50_000, clip.subarray(50_000));
  assert.equal(second.status, 204, second.text);
  item = await settledItem(service, id, 'ready');
  const [original] = names('/sources/');
  assert.ok(clip.equals(s3.objects.get(original ?? '')?.bytes ?? Buffer.of()));
  await eventually('parts to go', async () => (names('/partials/').length === 0 ? true : null));

  const files = await fetchAll(other, item.streamingUrl);
  assert.ok(files.length > 4);
  for (const { url, reply, bytes } of files) {
    assert.equal(reply.status, 200, url);
    const [, key = ''] = new URL(url).pathname.split('/media/');
    const [name] = names(key);
    assert.equal(bytes, s3.objects.get(name ?? '')?.bytes.length, url);
  }
  const segment = local(service, files.find(({ url }) => !url.endsWith('.m3u8'))?.url ?? '');
  const part = await send(segment, 'GET', { headers: { range: 'bytes=10-19' } });
  assert.equal(part.status, 206);
  assert.match(part.headers.get('content-range') ?? '', /^bytes 10-19\//);
  const etag = part.headers.get('etag') ?? '';
  const again = await send(segment, 'GET', { headers: { 'if-none-match': etag } });
  assert.equal(again.status, 304);
});

test('downloads are redirected to the bucket while their links are valid', async () => {
  const video = await send(local(service, item.downloadUrl), 'GET');
  assert.equal(video.status, 302, video.text);
  assert.equal(video.headers.get('cache-control'), 'no-store');
  const fetched = await fetch(video.headers.get('location') ?? '');
  assert.equal(fetched.headers.get('content-type'), 'video/mp4');
  assert.ok((await fetched.arrayBuffer()).byteLength > 10_000);
  const body = {
    dataset: 'content',
    format: 'csv',
    startDate: '2026-01-01',
    endDate: '2026-12-31',
  };
  const { body: made } = await service.call('POST', '/v1/exports', { body });
  const { downloadUrl } = await eventually('the export', async () => {
    const { data } = (await service.call('GET', `/v1/exports/${made.data.id}`)).body;
    return data.downloadUrl === null ? null : data;
  });
  const answer = await send(local(service, downloadUrl), 'GET');
  assert.equal(answer.status, 302, answer.text);
  const file = await fetch(answer.headers.get('location') ?? '');
  assert.equal(file.status, 200);
  assert.match(file.headers.get('content-disposition') ?? '', /^attachment; filename="content-/);
  assert.match(await file.text(), new RegExp(item.id));
  // The last character of a signature includes padding bits, so another one is changed.
  const swap = (_: string, sign: string, rest: string) => `${sign === 'A' ? 'B' : 'A'}${rest}`;
  const forgedUrl = downloadUrl.replace(/(.)(.{9})$/, swap);
  const forged = await send(local(service, forgedUrl), 'GET');
  assert.equal(forged.status, 404);
});

test('while the bucket fails, media and readiness are 503, and the feed continues', async () => {
  s3.fail({ how: { status: 403, code: 'AccessDenied' }, times: 1_000 });
  const media = await send(local(service, item.streamingUrl), 'GET');
  assert.equal(media.status, 503, media.text);
  assert.equal(media.body.error.code, 'UNAVAILABLE');
  assert.ok(!media.text.includes(s3.bucket));
  const { checks } = await eventually('an unready answer', async () => {
    const { status, body } = await service.call('GET', '/readyz');
    return status === 503 ? body : null;
  });
  assert.equal(checks.storage, 'is unreachable');
  assert.equal((await service.call('GET', '/v1/feed')).body.data.length, 1);
  const refused = await putSample(service, 'faststart.mp4');
  assert.equal(refused.status, 503, refused.text);
  s3.clearFaults();
  assert.equal((await send(local(service, item.streamingUrl), 'GET')).status, 200);
  assert.equal((await service.call('GET', '/readyz')).status, 200);
  const metrics = await eventually('the failures to be counted', async () => {
    const { text } = await service.call('GET', '/metrics');
    return /storage_request_duration_seconds_count\{operation="GetObject",outcome="error"\}/.test(
      text,
    )
      ? text
      : null;
  });
  assert.ok(!metrics.includes(s3.credentials.secretAccessKey));
});

test('a permanently deleted item leaves no object', async () => {
  const body = { ids: [item.id] };
  const deleted = await service.call('POST', '/v1/content/bulk/delete', { body });
  assert.equal(deleted.status, 200, deleted.text);
  await eventually('its objects to go', async () =>
    names('/media/').length + names('/sources/').length === 0 ? true : null,
  );
  for (const one of [service, other]) {
    assert.deepEqual(await storedFiles(one, 'work'), []);
  }
});

test('kill -9 before the manifest leaves nothing visible, and the next start completes it', async () => {
  const settings = { ...s3Settings(s3, 'killed'), REELFEED_MEDIA_NICENESS: '0' };
  const held = s3.hold('PutObject', /^killed\/.*manifest\.json$/);
  const before = await startInstance(await temporaryFolder(), settings);
  const { body } = await putSample(before as unknown as TestService, 'faststart.mp4');
  await held;
  const { data } = (await before.call('GET', `/v1/content/${body.data.id}`)).body;
  assert.deepEqual([data.uploadStatus, data.streamingUrl], ['processing', null]);
  await killInstance(before);
  assert.equal(names('killed/media/').filter((name) => name.endsWith('manifest.json')).length, 0);
  const after = await restartInstance(before, settings);
  const ready = await settledItem(after as unknown as TestService, body.data.id, 'ready');
  const files = await fetchAll(after as unknown as TestService, ready.streamingUrl);
  assert.ok(files.every(({ reply }) => reply.status === 200));
  await eventually('the folder of the killed attempt to go', async () => {
    const folders = names('killed/media/').map((name) => name.split('/').slice(0, 4).join('/'));
    return new Set(folders).size === 1 ? true : null;
  });
});

test('doctor explains in a sentence what is wrong with the bucket', async () => {
  const settings = { ...s3Settings(s3), REELFEED_DATA_DIR: await temporaryFolder() };
  const env = { ...settings, AWS_SECRET_ACCESS_KEY: 'not-the-one' };
  const { stdout } = await runCommand(['doctor', '--json'], { env });
  const { findings } = JSON.parse(stdout);
  const about = ({ subject }: { subject: string }) => subject === 'Media storage';
  const { state, detail } = findings.find(about);
  assert.equal(state, 'problem');
  assert.match(detail, /does not accept the credentials: SignatureDoesNotMatch\. Check/);
  assert.ok(!stdout.includes('not-the-one'));
});
