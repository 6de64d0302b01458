/** Proves that bytes of a resumable upload count while they arrive, wherever they are stored. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { local } from './media.ts';
import { startProcess } from './processes.ts';
import { s3Settings, startS3 } from './s3-server.ts';
import { createItem, query } from './seed.ts';
import { eventually, startService, temporaryFolder, type TestService } from './service.ts';
import { storedFiles } from './stored-files.ts';
import {
  beginPatch,
  createTus,
  eventuallyCounts,
  mostLostBytes,
  paddedClip,
  patchTus,
  tusOffset,
} from './tus-sender.ts';

// Without processing: what arrives is compared as stored.
const env = { REELFEED_ROLES: 'api', REELFEED_UPLOAD_SILENCE: '1s' };
const service = await startService(env);
const s3 = await startS3();
const shared = {
  ...env,
  ...s3Settings(s3),
  REELFEED_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
};
const inBucket = await startService(shared);
const elsewhere = await startService(
  { ...shared, REELFEED_DATA_DIR: await temporaryFolder() },
  { beside: inBucket },
);
const clip = await paddedClip(20_000_000);

async function open(at: TestService): Promise<{ id: string; url: string }> {
  const { id, uploadUrl } = await createItem(at);
  const url = local(at, uploadUrl);
  assert.equal((await createTus(url, clip.length)).status, 201);
  return { id, url };
}

async function sourceKey(at: TestService, id: string): Promise<string> {
  const [row] = await query(at, 'select source_key from content where content_id = $1', [id]);
  return String(row?.['source_key']);
}

async function isStoredWhole(at: TestService, id: string): Promise<boolean> {
  const file = path.join(at.dataDir, 'media/objects', await sourceKey(at, id));
  return (await readFile(file)).equals(clip);
}

test('a silent connection loses nothing that was received', async () => {
  const { id, url } = await open(service);
  const patch = await beginPatch(url, 0, clip.length);
  await patch.send(clip.subarray(0, 900_000));
  await eventually('the time-out', async () => (/408/.test(patch.answer()) ? true : null));
  assert.equal(await tusOffset(url), 900_000);
  assert.equal((await patchTus(url, 900_000, clip.subarray(900_000))).status, 204);
  assert.ok(await isStoredWhole(service, id));
  assert.deepEqual(
    (await storedFiles(service, 'objects')).filter((file) => file.startsWith('partials')),
    [],
  );
});

test('kill -9 in the middle of a part costs less than a megabyte', async () => {
  const { id, url } = await open(service);
  const processEnv = { REELFEED_ROLES: 'api' };
  let offset = 0;
  for (const sent of [1_500_000, 4_000_000]) {
    const other = await startProcess(service.connection, service.dataDir, processEnv);
    const there = url.replace(service.url, other.url);
    const patch = await beginPatch(there, offset, clip.length - offset);
    await patch.send(clip.subarray(offset, offset + sent));
    const counted = await eventuallyCounts(url, offset + sent);
    await other.kill();
    offset = await tusOffset(url);
    assert.ok(offset >= counted, 'what was told stays');
  }
  assert.ok(offset >= 5_500_000 - 2 * mostLostBytes);
  assert.equal((await patchTus(url, offset, clip.subarray(offset))).status, 204);
  assert.ok(await isStoredWhole(service, id));
});

test('the newest sender at the right offset writes; the previous one is rejected and mixes nothing in', async () => {
  const { id, url } = await open(service);
  const first = await beginPatch(url, 0, clip.length);
  await first.send(clip.subarray(0, 2_000_000));
  const offset = await eventuallyCounts(url, 2_000_000);
  const second = await beginPatch(url, offset, clip.length - offset);
  await second.send(clip.subarray(offset, offset + 1_500_000));
  await eventually('bytes of the second', async () =>
    (await tusOffset(url)) > offset ? true : null,
  );
  await first.send(Buffer.alloc(1_500_000, 'wrong'));
  await eventually('a conflict', async () => (/HTTP\/1.1 409/.test(first.answer()) ? true : null));
  second.socket.destroy();
  await eventually('the rest to be taken', async () => {
    const now = await tusOffset(url);
    const { status } = await patchTus(url, now, clip.subarray(now));
    return status === 204 ? true : null;
  });
  assert.ok(await isStoredWhole(service, id));
});

test('in a bucket too, bytes count each megabyte, on any machine, and are joined without a copy', async () => {
  const { id, url } = await open(inBucket);
  const there = url.replace(inBucket.url, elsewhere.url);
  const patch = await beginPatch(url, 0, clip.length);
  await patch.send(clip.subarray(0, 9_000_000));
  const offset = await eventuallyCounts(there, 9_000_000);
  patch.socket.destroy();
  const kept = await eventually('all that came', async () =>
    (await tusOffset(there)) === 9_000_000 ? 9_000_000 : null,
  );
  assert.ok(offset <= kept);
  const names = () => [...s3.objects.keys()].filter((name) => name.includes('/partials/'));
  assert.ok(names().length <= 6, `${names().length} objects: small ones are replaced`);
  s3.operations.length = 0;
  assert.equal((await patchTus(there, kept, clip.subarray(kept))).status, 204);
  const stored = s3.objects.get(`reel/${await sourceKey(inBucket, id)}`);
  assert.ok(stored?.bytes.equals(clip));
  const count = (operation: string) => s3.operations.filter((one) => one === operation).length;
  assert.ok(count('UploadPartCopy') >= 3, s3.operations.join(' '));
  assert.equal(count('UploadPart'), 0, 'no byte is sent a third time');
  assert.deepEqual(names(), []);
});

test('an outage of the bucket during a part keeps what was recorded', async () => {
  const { id, url } = await open(inBucket);
  const patch = await beginPatch(url, 0, clip.length);
  await patch.send(clip.subarray(0, 3_000_000));
  const offset = await eventuallyCounts(url, 3_000_000);
  s3.fail({ how: { status: 403, code: 'AccessDenied' }, times: 1_000 });
  await patch.send(clip.subarray(3_000_000, 6_000_000));
  await eventually('a refusal', async () => (/HTTP\/1.1 503/.test(patch.answer()) ? true : null));
  s3.clearFaults();
  const kept = await tusOffset(url);
  assert.ok(kept >= offset);
  assert.equal((await patchTus(url, kept, clip.subarray(kept))).status, 204);
  assert.ok(s3.objects.get(`reel/${await sourceKey(inBucket, id)}`)?.bytes.equals(clip));
});
