/** Proves that a backup taken under load is complete, and that a restored installation is equal. */
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { zstdDecompressSync } from 'node:zlib';
import { sampleEvent } from '../../../test/event-samples.ts';
import { form, sampleBytes } from '../../../test/media.ts';
import { ready, runCommand, startMain } from '../../../test/processes.ts';
import { eventually, send, temporaryFolder, type Call } from '../../../test/service.ts';
import { pause } from '../../../test/waiting.ts';

const folder = await temporaryFolder();
const clip = await sampleBytes('small.mp4');
const envOf = (name: string) => ({
  PORT: '0',
  REELFEED_DATA_DIR: path.join(folder, name),
  REELFEED_MIN_FREE_BYTES: '0',
  REELFEED_LOG_LEVEL: 'error',
});

async function start(name: string, key = '') {
  const running = startMain({ env: envOf(name) });
  const url = await ready(running);
  const secretKey = key === '' ? /(rf_sk_\S+)/.exec(running.output.stdout)?.[1] : key;
  return {
    secretKey: secretKey ?? '',
    call: (method: string, target: string, call: Call = {}) =>
      send(url + target, method, { key: secretKey ?? '', ...call }),
    async stop() {
      running.child.kill('SIGTERM');
      assert.equal((await running.ended).code, 0);
    },
  };
}

type Running = Awaited<ReturnType<typeof start>>;

const totals = async (service: Running) =>
  (await service.call('GET', '/v1/analytics/overview')).body.data.summary;

async function run(...args: string[]) {
  const [name = '', ...rest] = args;
  const ended = await runCommand(rest, { env: envOf(name) });
  return { ...ended, output: ended.stdout + ended.stderr };
}

const copy = path.join(folder, 'backup');
let original: Running;
let item: { id: string };

test('a backup under load holds everything that was acknowledged before it', async () => {
  original = await start('original');
  const uploaded = await original.call('POST', '/v1/content/upload', {
    body: form([
      ['title', 'Kept 🎬'],
      ['file', clip],
    ]),
  });
  item = uploaded.body.data;
  const isReady = async () => {
    const { body } = await original.call('GET', `/v1/content/${item.id}`);
    return body.data.uploadStatus === 'ready' ? true : null;
  };
  await eventually('the item to be ready', isReady, 120_000);
  // The audio-only rendition is the last one to be offered.
  const hasAllRungs = async () => {
    const { body } = await original.call('GET', `/v1/content/${item.id}`);
    const master = await original.call('GET', new URL(body.data.streamingUrl).pathname);
    return master.text.includes('audio/index.m3u8') ? true : null;
  };
  await eventually('all renditions', hasAllRungs, 120_000);
  const hook = { url: 'https://hooks.example.com/x', events: ['content.ready'] };
  assert.equal((await original.call('POST', '/v1/webhooks', { body: hook })).status, 201);

  let over = false;
  let acknowledged = 0;
  const load = (async () => {
    while (!over) {
      const events = Array.from({ length: 20 }, () => sampleEvent('playStart', item.id));
      const { status } = await original.call('POST', '/v1/events/batch', { body: { events } });
      if (status === 200) acknowledged += events.length;
    }
  })();
  await eventually('some load', async () => (acknowledged >= 200 ? true : null));
  const before = acknowledged;
  const made = await run('original', 'backup', copy, '--include-key', '--json');
  over = true;
  await load;
  assert.equal(made.code, 0, made.output);
  const { mediaFiles, newMediaFiles } = JSON.parse(made.stdout);
  // Files with identical bytes are stored once.
  assert.ok(newMediaFiles > 3 && newMediaFiles <= mediaFiles, `${newMediaFiles} of ${mediaFiles}`);
  assert.match((await run('original', 'verify', copy)).stdout, /is intact: \d+ files/);

  const restored = await run('restored', 'restore', copy);
  assert.equal(restored.code, 0, restored.output);
  const twin = await start('restored', original.secretKey);
  const [there, here] = await Promise.all(
    [original, twin].map(
      async (one) => (await one.call('GET', `/v1/content/${item.id}`)).body.data,
    ),
  );
  // The URLs of each service contain its own port.
  assert.equal(here.title, 'Kept 🎬');
  for (const name of ['uploadStatus', 'duration', 'width', 'createdAt', 'tags', 'aspectRatio']) {
    assert.deepEqual(here[name], there[name], name);
  }
  const playlist = new URL(here.streamingUrl).pathname;
  const [master, copied] = await Promise.all(
    [original, twin].map(async (one) => (await one.call('GET', playlist)).text),
  );
  assert.ok((master ?? '').startsWith('#EXTM3U'));
  assert.equal(copied, master);
  const { plays } = await eventually('the statistics to be complete', async () => {
    const summary = await totals(twin);
    await pause(2_000, 'what is not counted yet is counted');
    // By now, events that the backup had not counted have been counted.
    const isSettled = (await totals(twin)).plays === summary.plays;
    return isSettled && summary.plays >= before ? summary : null;
  });
  assert.ok(plays <= acknowledged, `${plays} plays of ${acknowledged} events`);

  // The restored service continues where the backup ended: events count once, secrets decrypt.
  const more = sampleEvent('playStart', item.id);
  for (let turn = 0; turn < 2; turn += 1) {
    await twin.call('POST', '/v1/events', { body: more });
  }
  await eventually('the new event to be counted once', async () =>
    (await totals(twin)).plays === plays + 1 ? true : null,
  );
  const [webhook] = (await twin.call('GET', '/v1/webhooks')).body.data;
  const rotated = await twin.call('POST', `/v1/webhooks/${webhook.id}/rotate-secret`);
  assert.equal(rotated.status, 200);
  assert.equal(
    (await twin.call('POST', '/v1/content/upload', { body: { title: 'New' } })).status,
    201,
  );
  await twin.stop();
});

test('a viewer who was erased after the backup is erased again after its restore', async () => {
  const target = '/v1/users/ada/data';
  const isErased = (service: Running) => async () => {
    const { body } = await service.call('GET', target);
    return body.data?.status === 'complete' ? body.data : null;
  };
  assert.equal((await original.call('DELETE', target)).status, 200);
  await eventually('the erasure', isErased(original), 60_000);
  const file = path.join(folder, 'erasures.ndjson');
  const exported = await run('original', 'erasures', 'export', file);
  assert.equal(exported.code, 0, exported.output);
  const text = await readFile(file, 'utf8');
  assert.match(
    text,
    /^\{"organizationId":"[^"]+","userHash":"[0-9a-f]{64}","requestedAt":"[^"]+"\}\n$/,
  );
  const restored = await run('erased', 'restore', copy, '--erasures', file, '--json');
  assert.equal(restored.code, 0, restored.output);
  assert.equal(JSON.parse(restored.stdout).erasures, 1);
  const again = await start('erased', original.secretKey);
  const { eventsRemoved } = await eventually('the erasure', isErased(again), 60_000);
  assert.ok(eventsRemoved > 0);
  await again.stop();
  // A backup taken now contains the erasure.
  const later = path.join(folder, 'later');
  assert.equal((await run('erased', 'backup', later)).code, 0);
  const last = await run('last', 'restore', later, '--erasures', file, '--json');
  assert.equal(JSON.parse(last.stdout).erasures, 0, 'what the backup knows is not repeated');
  await writeFile(file, `${text}{}\n`);
  const refused = await run('never', 'restore', copy, '--erasures', file);
  assert.match(refused.stderr, /Line 2 of .* is not an erasure record/);
  await original.stop();
});

type BackedUpTable = { table: string; path: string; columns: string[] };

/** The newest backup of a place: its manifest, and the lines of its media index. */
async function newest(place: string) {
  const objects = path.join(place, 'objects');
  const [id = ''] = (await readdir(path.join(objects, 'backups'))).toSorted().toReversed();
  const file = path.join(objects, 'backups', id, 'manifest.json');
  const { manifest } = JSON.parse(await readFile(file, 'utf8'));
  const list = zstdDecompressSync(await readFile(path.join(objects, manifest.media.path)));
  const lines = list
    .toString()
    .split('\n')
    .filter((line) => line !== '');
  return { id, file, manifest, objects, media: lines.map((line) => JSON.parse(line)) };
}

/** Columns that a backup rewrites: transaction ids, and positions of readers that contain them. */
const isMoved = (column: string) => ['changed_xid', 'written_by', 'position'].includes(column);

/**
 * The rows of a table in a backup, in an order that does not depend on how they were stored. The
 * format is PostgreSQL's binary COPY: a header of 19 bytes, then for each row the number of values,
 * and for each value its length (-1 for null) and bytes.
 */
async function rowsOf(file: string, columns: readonly string[]): Promise<string[]> {
  const bytes = zstdDecompressSync(await readFile(file));
  const rows: string[] = [];
  let at = 19;
  while (bytes.readInt16BE(at) !== -1) {
    assert.equal(bytes.readInt16BE(at), columns.length);
    at += 2;
    const values = columns.map((column) => {
      const length = bytes.readInt32BE(at);
      at += 4 + Math.max(0, length);
      if (isMoved(column)) return '';
      return length === -1 ? 'null' : bytes.toString('hex', at - length, at);
    });
    rows.push(values.join());
  }
  return rows.toSorted();
}

test('a backup of the restored database has the same rows, value by value', async () => {
  const third = path.join(folder, 'third');
  const second = path.join(folder, 'again');
  assert.equal((await run('third', 'restore', copy)).code, 0);
  assert.equal((await run('third', 'backup', second)).code, 0);
  const contents = async (backup: string) => {
    const { manifest, media, objects } = await newest(backup);
    return {
      media: media.map(({ key, sha256 }) => [key, sha256]).toSorted(),
      sequences: manifest.sequences,
      rows: Object.fromEntries(
        await Promise.all(
          manifest.tables.map(async (entry: BackedUpTable) => [
            entry.table,
            await rowsOf(path.join(objects, entry.path), entry.columns),
          ]),
        ),
      ),
    };
  };
  const [there, here] = await Promise.all([contents(copy), contents(second)]);
  assert.ok(there.rows['content'].length > 0 && there.rows['event_block'].length > 0);
  assert.deepEqual(Object.keys(here.rows), Object.keys(there.rows));
  for (const [table, rows] of Object.entries(there.rows)) {
    assert.deepEqual(here.rows[table], rows, table);
  }
  assert.deepEqual([here.media, here.sequences], [there.media, there.sequences]);
  await rm(third, { recursive: true });
});

test('what is damaged, missing or in the way is named, and nothing is restored', async () => {
  const { id, file: manifest, objects } = await newest(copy);
  const file = path.join(objects, 'backups', id, 'database', 'content.copy.zst');
  const bytes = await readFile(file);
  const damaged = Buffer.from(bytes);
  damaged[damaged.length - 1] = (damaged.at(-1) ?? 0) ^ 1;
  await writeFile(file, damaged);
  const verdict = await run('other', 'verify', copy);
  assert.equal(verdict.code, 1);
  assert.match(verdict.stdout, /content\.copy\.zst (has a wrong checksum|cannot be read)/);
  assert.match((await run('other', 'restore', copy)).stderr, /is damaged: .*content\.copy/);
  await rm(file);
  assert.match((await run('other', 'verify', copy)).stdout, /content\.copy\.zst is missing/);
  await writeFile(file, bytes);
  assert.match((await run('original', 'restore', copy)).stderr, /database is not empty/);
  const other = path.join(folder, 'other-files');
  await mkdir(path.join(other, 'objects'), { recursive: true });
  await writeFile(path.join(other, 'objects', 'notes.txt'), 'mine');
  assert.match(
    (await run('original', 'backup', other)).stderr,
    /contains other files \(notes\.txt\)/,
  );
  assert.match((await run('original', 'verify', folder)).stderr, /is not a complete backup/);
  await writeFile(manifest, (await readFile(manifest, 'utf8')).replace('"rows":1', '"rows":2'));
  assert.match((await run('original', 'verify', copy)).stderr, /manifest .* is damaged/);
});

test('every command has its own help, and the version can be printed', async () => {
  assert.match((await run('x', '--version')).stdout, /^reelfeed \d+\.\d+\.\d+\n$/);
  for (const args of [
    ['help', 'backup'],
    ['backup', '--help'],
  ]) {
    assert.match((await run('x', ...args)).stdout, /^Usage: reelfeed backup \[<folder>\|s3:/);
  }
});
