/**
 * Proves that bucket storage works with third-party servers. They implement only part of S3:
 * neither lists unfinished uploads.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';
import S3rver from '@20minutes/s3rver';
import { startFauxqs } from 'fauxqs';
import { temporaryFolder } from '../../../../test/service.ts';
import { storageConformance } from '../conformance.ts';
import type { Storage } from '../storage.ts';
import { openS3Storage } from './s3-storage.ts';

const bucket = 'media';
const folder = await temporaryFolder();

type Started = { name: string; endpoint: string; key: string };

async function startS3rver(): Promise<Started> {
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    // This server drops the slash at the end of a bucket's path when it computes the expected
    // signature.
    allowMismatchedSignatures: true,
    directory: path.join(folder, 's3rver'),
    configureBuckets: [{ name: bucket }],
  });
  const { port } = await server.run();
  after(() => server.close());
  return { name: 's3rver', endpoint: `http://127.0.0.1:${port}`, key: 'S3RVER' };
}

async function startFaux(): Promise<Started> {
  const server = await startFauxqs({ port: 0, host: '127.0.0.1', logger: false });
  server.createBucket(bucket);
  after(() => server.stop());
  return { name: 'fauxqs', endpoint: `http://127.0.0.1:${server.port}`, key: 'any' };
}

let opened = 0;

function storageOf({ endpoint, key }: Started): Promise<Storage> {
  opened += 1;
  const options = {
    bucket,
    prefix: `test/${opened}`,
    region: 'us-east-1',
    endpoint,
    publicEndpoint: null,
    pathStyle: true,
    credentials: { accessKeyId: key, secretAccessKey: key, sessionToken: null },
  };
  return openS3Storage(options, path.join(folder, `${opened}`));
}

for (const started of [await startS3rver(), await startFaux()]) {
  const showsPartialPuts = started.name === 's3rver';
  storageConformance(started.name, () => storageOf(started), { showsPartialPuts });

  test(`${started.name}: a large file goes in parts, and cleaning up fails nothing`, async () => {
    const storage = await storageOf(started);
    const bytes = randomBytes(18 * 2 ** 20);
    const file = path.join(folder, `${started.name}-large`);
    await writeFile(file, bytes);
    await storage.put('large', { path: file });
    const read = await storage.read('large', { start: 7 * 2 ** 20 });
    assert.ok(read !== null && (await buffer(read.stream)).equals(bytes.subarray(7 * 2 ** 20)));
    await storage.cleanUp(0);
    await storage.cleanUp(0);
    assert.equal((await storage.head('large'))?.sizeBytes, bytes.length);
  });
}
