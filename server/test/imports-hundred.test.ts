/** Proves that each of a hundred imports, a third of them failing, ends correctly. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { pino } from 'pino';
import { atEnd } from './database.ts';
import { secretOfSources, startImportSources } from './import-sources.ts';
import { sampleBytes } from './media.ts';
import { query } from './seed.ts';
import { eventually, startService } from './service.ts';
import { storedFiles } from './stored-files.ts';

const clip = await sampleBytes('faststart.mp4');
const maxBytes = clip.length * 2;
const sources = await startImportSources(clip, maxBytes);
atEnd(() => sources[Symbol.asyncDispose]());
let logged = '';
const logLines = new Writable({
  write(chunk: Buffer, _encoding, done) {
    logged += chunk.toString();
    done();
  },
});
// Without processing: a successful import ends with its bytes stored and its job queued.
const service = await startService(
  {
    REELFEED_ROLES: 'api,worker',
    REELFEED_EGRESS_ALLOW: sources.allow,
    REELFEED_MAX_UPLOAD_BYTES: String(maxBytes),
    REELFEED_IMPORT_CONCURRENCY: '64',
    REELFEED_IMPORT_DEADLINE: '4s',
  },
  { log: pino({ level: 'trace' }, logLines) },
);

test('a hundred concurrent imports: 67 succeed, 33 fail each for its own reason', async () => {
  const faultOf = (index: number) =>
    index % 3 === 2 ? sources.faults[Math.floor(index / 3) % sources.faults.length] : undefined;
  const { status, body } = await service.call('POST', '/v1/content/import', {
    body: {
      items: Array.from({ length: 100 }, (_, index) => ({
        title: `Import ${index}`,
        externalId: `row-${index}`,
        sourceUrl: faultOf(index)?.url ?? sources.good(String(index)),
      })),
    },
  });
  assert.equal(status, 201);
  assert.equal(body.data.totalCreated, 100);
  const ids: string[] = body.data.results.map((one: { item: { id: string } }) => one.item.id);

  await eventually(
    'every import to end',
    async () => {
      const left = await query(
        service,
        `select from content where upload_status = 'pending' and source_key is null`,
      );
      return left.length === 0 ? true : null;
    },
    240_000,
  );
  for (const [index, id] of ids.entries()) {
    const fault = faultOf(index);
    const item = (await service.call('GET', `/v1/content/${id}`)).body.data;
    const [row] = await query(service, 'select source_key from content where content_id = $1', [
      id,
    ]);
    if (fault === undefined) {
      assert.equal(item.uploadStatus, 'pending', `${index}: ${JSON.stringify(item.errorReason)}`);
      const file = path.join(service.dataDir, 'media', 'objects', String(row?.['source_key']));
      assert.ok((await readFile(file)).equals(clip), `the bytes of ${index}`);
    } else {
      assert.equal(item.uploadStatus, 'error', fault.name);
      assert.equal(item.errorReason.code, fault.code, fault.name);
      assert.match(item.errorReason.message, fault.message, fault.name);
      assert.equal(row?.['source_key'], null, fault.name);
      assert.doesNotMatch(JSON.stringify(item), /words of an internal|10\.1\.2\.3/, fault.name);
    }
  }
  assert.match(logged, /could not be imported/);
  assert.ok(!logged.includes(secretOfSources), 'the log repeats nothing that a source has said');
  const stored = await storedFiles(service, 'objects');
  assert.equal(stored.filter((file) => file.startsWith('sources/')).length, 67);
  assert.deepEqual(await storedFiles(service, 'work'), [], 'nothing is left of those that failed');
});

test('a name that resolves to an internal address is rejected before anything is created', async () => {
  const { body } = await service.call('POST', '/v1/content/import', {
    body: { items: [{ title: 'Inside', sourceUrl: 'https://localhost:9/clip.mp4' }] },
  });
  const [result] = body.data.results;
  assert.deepEqual([result.status, result.error.code], ['failed', 'VALIDATION_ERROR']);
  assert.doesNotMatch(result.error.message, /127\.0\.0\.1/);
});
