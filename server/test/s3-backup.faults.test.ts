/**
 * Proves that an installation with media and backups in a bucket can be restored after everything
 * else is lost: from a backup, with erasures repeated, and to a point before an accidental bulk
 * delete.
 */
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { sampleEvent } from './event-samples.ts';
import { fetchAll, form, sampleBytes } from './media.ts';
import { ready, runCommand, startMain } from './processes.ts';
import { s3Settings, startS3 } from './s3-server.ts';
import { eventually, send, temporaryFolder, type Call, type TestService } from './service.ts';

const s3 = await startS3({ bucket: 'reel' });
const folder = await temporaryFolder();
const place = 's3://reel/backups';
let key = '';

const envOf = (name: string) => ({
  ...s3Settings(s3, 'media'),
  PORT: '0',
  REELFEED_DATA_DIR: path.join(folder, name),
  REELFEED_MIN_FREE_BYTES: '0',
  REELFEED_LOG_LEVEL: 'error',
  REELFEED_MEDIA_NICENESS: '0',
  REELFEED_BACKUP_TO: place,
  REELFEED_BACKUP_PASSPHRASE: 'a passphrase of a test',
  REELFEED_BACKUP_LOG_EVERY: '1s',
});

async function start(name: string) {
  const running = startMain({ env: envOf(name) });
  const url = await ready(running);
  key ||= /(rf_sk_\S+)/.exec(running.output.stdout)?.[1] ?? '';
  return {
    url,
    call: (method: string, target: string, call: Call = {}) =>
      send(url + target, method, { key, ...call }),
    async stop(signal: NodeJS.Signals = 'SIGTERM') {
      running.child.kill(signal);
      await running.ended;
    },
  };
}

type Running = Awaited<ReturnType<typeof start>>;

async function run(name: string, ...args: string[]) {
  const ended = await runCommand([...args, '--json'], { env: envOf(name) });
  assert.equal(ended.code, 0, `${args.join(' ')}: ${ended.stdout}${ended.stderr}`);
  return ended.stdout === '' ? null : JSON.parse(ended.stdout);
}

async function upload(service: Running, title: string): Promise<string> {
  const uploaded = await service.call('POST', '/v1/content/upload', {
    body: form([
      ['title', title],
      ['file', await sampleBytes('small.mp4')],
    ]),
  });
  const { id } = uploaded.body.data;
  // The audio-only rung is listed last.
  const isComplete = async () => {
    const { body } = await service.call('GET', `/v1/content/${id}`);
    if (body.data.uploadStatus !== 'ready') return null;
    const master = await service.call('GET', new URL(body.data.streamingUrl).pathname);
    return master.text.includes('audio/index.m3u8') ? true : null;
  };
  await eventually('all renditions', isComplete, 300_000);
  return id;
}

const overview = async (service: Running) =>
  (await service.call('GET', '/v1/analytics/overview')).body.data.summary;

/** Fetches everything that a viewer of the item would. */
async function playAll(service: Running, id: string): Promise<number> {
  const item = (await service.call('GET', `/v1/content/${id}`)).body.data;
  assert.equal(item.uploadStatus, 'ready', id);
  const files = await fetchAll(service as unknown as TestService, item.streamingUrl);
  for (const { url, reply } of files) assert.equal(reply.status, 200, url);
  return files.length;
}

const erased = (service: Running) => async () => {
  const { body } = await service.call('GET', '/v1/users/ada/data');
  return body.data?.status === 'complete' ? body.data : null;
};

function loseMedia(): void {
  for (const name of s3.objects.keys()) if (name.startsWith('media/')) s3.objects.delete(name);
}

const erasures = path.join(folder, 'erasures.ndjson');
let itemId = '';
let files = 0;

test('backups go to the bucket on schedule and by the command', async () => {
  const service = await start('first');
  itemId = await upload(service, 'Kept 🎬');
  const events = [
    ...Array.from({ length: 30 }, () => sampleEvent('playStart', itemId)),
    ...Array.from({ length: 12 }, (_, at) =>
      sampleEvent('playStart', itemId, { userId: `viewer-${at}`, deviceId: `device-${at}` }),
    ),
  ];
  assert.equal((await service.call('POST', '/v1/events/batch', { body: { events } })).status, 200);
  const isCounted = async () => ((await overview(service)).plays === 42 ? true : null);
  await eventually('the plays to be counted', isCounted, 60_000);
  files = await playAll(service, itemId);
  const scheduled = async () => {
    const { code, stdout } = await runCommand(['backups', '--json'], { env: envOf('first') });
    return code === 0 && JSON.parse(stdout).backups.length > 0 ? true : null;
  };
  await eventually('a backup by the clock', scheduled, 120_000);
  const { place: written, mediaFiles } = await run('first', 'backup');
  assert.equal(written, place);
  assert.ok(mediaFiles >= files, `${mediaFiles} media files`);
  await run('first', 'verify');

  assert.equal((await service.call('DELETE', '/v1/users/ada/data')).status, 200);
  await eventually('the erasure', erased(service), 60_000);
  await run('first', 'erasures', 'export', erasures);
  await service.stop('SIGKILL');
});

test('after the loss of the machine and the media, a restore has everything, and erases again', async () => {
  await rm(path.join(folder, 'first'), { recursive: true });
  loseMedia();
  const { backups } = await run('second', 'backups');
  const { erasures: replays } = await run(
    'second',
    'restore',
    '--backup',
    backups.at(-1).id,
    '--erasures',
    erasures,
  );
  assert.equal(replays, 1);
  const service = await start('second');
  assert.equal(await playAll(service, itemId), files);
  assert.equal((await overview(service)).plays, 42, 'reports keep the sums');
  const { eventsRemoved } = await eventually('the erasure', erased(service), 60_000);
  assert.equal(eventsRemoved, 30);
  await service.stop();
});

test('a restore to the time before a bad bulk delete brings the items back', async () => {
  const service = await start('second');
  const second = await upload(service, 'Also kept');
  const archived = async (since: number) => {
    const { moments } = await run('second', 'backups');
    return moments !== null && Date.parse(moments.to) > since ? moments : null;
  };
  // From here on, point-in-time recovery is possible: there is a base backup and the WAL after it.
  await eventually('the log to be archived', () => archived(Date.now()), 180_000);
  // Media is copied with each backup, and every ten minutes with the WAL.
  await run('second', 'backup');
  const moment = new Date();
  const body = { ids: [itemId, second] };
  const deleted = await service.call('POST', '/v1/content/bulk/delete', { body });
  assert.equal(deleted.status, 200, deleted.text);
  const isPurged = async () =>
    [...s3.objects.keys()].some((name) => name.startsWith('media/media/')) ? null : true;
  await eventually('the media to be purged', isPurged, 60_000);
  const deletedAt = Date.now();
  await eventually('the log of the delete to be archived', () => archived(deletedAt), 60_000);
  await service.stop('SIGKILL');
  await rm(path.join(folder, 'second'), { recursive: true });

  await run('third', 'restore', '--to', moment.toISOString(), '--erasures', erasures);
  const restored = await start('third');
  for (const id of [itemId, second]) assert.ok((await playAll(restored, id)) >= 4, id);
  assert.equal((await overview(restored)).plays, 42);
  await restored.stop();
});
