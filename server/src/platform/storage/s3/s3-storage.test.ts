import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { startS3, type Fault } from '../../../../test/s3-server.ts';
import { temporaryFolder } from '../../../../test/service.ts';
import { storageConformance } from '../conformance.ts';
import { putBytes, readText, workFolder } from '../conformance-helpers.ts';
import { StorageFullError, StorageUnavailableError } from '../storage-errors.ts';
import type { Storage } from '../storage.ts';
import type { S3Options } from './bucket.ts';
import { openS3Storage } from './s3-storage.ts';

const s3 = await startS3({ pageSize: 3 });
const folder = await temporaryFolder();
let opened = 0;

/** Opens a storage below a separate prefix. */
function openStorage(options: Partial<S3Options> = {}): Promise<Storage> {
  opened += 1;
  const given = {
    bucket: s3.bucket,
    prefix: `test/${opened}`,
    region: 'eu-test-1',
    endpoint: s3.endpoint,
    publicEndpoint: null,
    pathStyle: true,
    credentials: { ...s3.credentials, sessionToken: null },
    ...options,
  };
  return openS3Storage(given, path.join(folder, `${opened}`));
}

storageConformance('s3', () => openStorage());

const megabyte = 2 ** 20;

async function putRandom(storage: Storage, t: TestContext, key: string, sizeBytes: number) {
  const bytes = randomBytes(sizeBytes);
  const local = path.join((await workFolder(storage, t)).path, 'file');
  await writeFile(local, bytes);
  await storage.put(key, { path: local });
  return bytes;
}

test('a large file is sent in parts, and a small one in one request', async (t) => {
  const storage = await openStorage();
  s3.operations.length = 0;
  await putRandom(storage, t, 'small', megabyte);
  assert.deepEqual(s3.operations, ['PutObject']);
  s3.operations.length = 0;
  const bytes = await putRandom(storage, t, 'large', 20 * megabyte);
  assert.deepEqual(s3.operations.toSorted(), [
    'CompleteMultipartUpload',
    'CreateMultipartUpload',
    'UploadPart',
    'UploadPart',
    'UploadPart',
  ]);
  const local = await storage.materialize('large', (await workFolder(storage, t)).path);
  assert.ok(local !== null);
  const read = await storage.read('large', { start: 15 * megabyte });
  assert.ok(read !== null);
  assert.ok((await buffer(read.stream)).equals(bytes.subarray(15 * megabyte)));
});

test('temporary faults go unnoticed', async (t) => {
  const storage = await openStorage();
  const faults: Fault['how'][] = [
    { status: 500, code: 'InternalError' },
    { status: 503, code: 'SlowDown' },
    'cut',
  ];
  for (const [index, how] of faults.entries()) {
    const key = `key-${index}`;
    s3.fail({ operation: 'PutObject', how });
    await putBytes(storage, key, 'kept');
    s3.fail({ operation: 'GetObject', how });
    assert.equal(await readText(storage, key), 'kept');
    s3.fail({ operation: 'ListObjectsV2', how });
    assert.equal((await Array.fromAsync(storage.list(''))).length, index + 1);
  }
  for (const operation of ['CreateMultipartUpload', 'UploadPart', 'CompleteMultipartUpload']) {
    s3.fail({ operation, how: 'cut' });
  }
  const bytes = await putRandom(storage, t, 'large', 12 * megabyte);
  const read = await storage.read('large');
  assert.ok(read !== null && bytes.equals(await buffer(read.stream)));
});

test('an interrupted body is resumed where it stopped, and only from the same version', async (t) => {
  const storage = await openStorage();
  const bytes = await putRandom(storage, t, 'key', 4 * megabyte);
  s3.fail({ operation: 'GetObject', how: 'cut body', times: 2 });
  const read = await storage.read('key', { start: 100 });
  assert.ok(read !== null && (await buffer(read.stream)).equals(bytes.subarray(100)));
  s3.fail({ operation: 'GetObject', how: 'cut body' });
  const old = await storage.read('key');
  assert.ok(old !== null);
  await putRandom(storage, t, 'key', 4 * megabyte);
  await assert.rejects(buffer(old.stream), StorageUnavailableError);
});

test('a failed put stores nothing and leaves no parts', async (t) => {
  const storage = await openStorage();
  await putBytes(storage, 'key', 'old');
  s3.fail({ operation: 'UploadPart', how: { status: 403, code: 'AccessDenied' } });
  await assert.rejects(putRandom(storage, t, 'key', 20 * megabyte), StorageUnavailableError);
  s3.fail({ operation: 'UploadPart', how: { status: 507, code: 'XMinioStorageFull' }, times: 99 });
  await assert.rejects(putRandom(storage, t, 'key', 20 * megabyte), StorageFullError);
  s3.clearFaults();
  assert.equal(await readText(storage, 'key'), 'old');
  assert.equal(s3.uploads.size, 0);
});

test('parts that a killed process left are aborted once they are old, and no others', async (t) => {
  const storage = await openStorage();
  const other = await openStorage();
  s3.fail({ operation: 'UploadPart', how: { status: 403, code: 'AccessDenied' }, times: 99 });
  s3.fail({ operation: 'AbortMultipartUpload', how: { status: 403, code: 'AccessDenied' } });
  await assert.rejects(putRandom(storage, t, 'key', 20 * megabyte), StorageUnavailableError);
  s3.clearFaults();
  assert.equal(s3.uploads.size, 1);
  assert.equal(await other.cleanUp(0), 0);
  assert.equal(await storage.cleanUp(60_000), 0);
  assert.equal(s3.uploads.size, 1);
  const release = s3.hold('UploadPart');
  const putting = putRandom(storage, t, 'key', 20 * megabyte);
  const go = await release;
  assert.equal(await storage.cleanUp(0), 1);
  go();
  const bytes = await putting;
  const read = await storage.read('key');
  assert.ok(read !== null && bytes.equals(await buffer(read.stream)));
});

test('a server that cannot list uploads is asked once, and this is not a failure', async () => {
  for (const how of [
    { status: 501, code: 'NotImplemented' },
    { status: 405, code: 'MethodNotAllowed' },
  ]) {
    const storage = await openStorage();
    s3.fail({ operation: 'ListMultipartUploads', how, times: 99 });
    s3.operations.length = 0;
    assert.equal(await storage.cleanUp(0), 0);
    assert.equal(await storage.cleanUp(0), 0);
    s3.clearFaults();
    assert.deepEqual(s3.operations, ['ListMultipartUploads']);
  }
});

test('large parts are joined inside S3, and small ones are sent again', async (t) => {
  const storage = await openStorage();
  const bytes = [
    await putRandom(storage, t, 'parts/1', 6 * megabyte),
    await putRandom(storage, t, 'parts/2', 5 * megabyte),
    await putRandom(storage, t, 'parts/3', 100),
  ];
  const keys = ['parts/1', 'parts/2', 'parts/3'];
  s3.operations.length = 0;
  await storage.join('joined', keys);
  assert.equal(s3.operations.filter((one) => one === 'UploadPartCopy').length, 3);
  assert.ok(!s3.operations.includes('GetObject'));
  const read = await storage.read('joined');
  assert.ok(read !== null && Buffer.concat(bytes).equals(await buffer(read.stream)));
  await storage.join('again', keys.toReversed());
  const reversed = await storage.read('again');
  assert.ok(reversed !== null);
  assert.ok(Buffer.concat(bytes.toReversed()).equals(await buffer(reversed.stream)));
});

test('a signed URL works for anybody until it expires, and says what the file is', async () => {
  const none = await openStorage();
  const options = {
    expiresInMs: 60_000,
    contentType: 'text/csv',
    contentDisposition: 'attachment; filename="a.csv"',
  };
  assert.equal(await none.signedUrl('key', options), null);
  const storage = await openStorage({ publicEndpoint: s3.endpoint });
  await storage.put('key', Readable.from([Buffer.from('a,b')]));
  const url = await storage.signedUrl('key', options);
  assert.ok(url !== null);
  const answer = await fetch(url);
  assert.equal(await answer.text(), 'a,b');
  assert.equal(answer.headers.get('content-type'), 'text/csv');
  assert.equal(answer.headers.get('content-disposition'), 'attachment; filename="a.csv"');
  assert.equal((await fetch(url.replace('/key?', '/other?'))).status, 403);
  const over = await storage.signedUrl('key', { ...options, expiresInMs: -1 });
  assert.equal((await fetch(over ?? '')).status, 403);
});

test('an unusable bucket is reported in one sentence without secrets', async () => {
  const wrong = { ...s3.credentials, sessionToken: null, secretAccessKey: 'wrong-secret' };
  const cases: [Partial<S3Options>, RegExp][] = [
    [{ bucket: 'nowhere' }, /"nowhere" at http:\S+ does not exist\. Create it/],
    [{ credentials: wrong }, /does not accept the credentials: SignatureDoesNotMatch/],
    [{ credentials: { ...wrong, accessKeyId: 'AKOTHER' } }, /InvalidAccessKeyId/],
    [{ endpoint: 'http://127.0.0.1:1' }, /is unreachable: ECONNREFUSED/],
  ];
  for (const [options, message] of cases) {
    await assert.rejects(openStorage(options), (error) => {
      assert.ok(error instanceof StorageUnavailableError);
      assert.match(error.message, message);
      assert.ok(!error.message.includes(wrong.secretAccessKey));
      assert.equal(error.cause, undefined);
      return true;
    });
  }
  s3.fail({ operation: 'ListObjectsV2', how: { status: 403, code: 'AccessDenied' } });
  await assert.rejects(openStorage(), /does not allow ListObjectsV2 with these credentials/);
  s3.fail({ operation: 'ListObjectsV2', how: { status: 301, code: 'PermanentRedirect' } });
  await assert.rejects(openStorage(), /is not in the configured region\. Set AWS_REGION/);
});
