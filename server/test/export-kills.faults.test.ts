/**
 * Proves that an export whose worker is killed resumes where it stopped, and is complete: ten
 * million events and five kills for each format, or EXPORTED_EVENTS and EXPORT_KILLS. Use at least
 * 120,000 events, which make two full parts and a remainder.
 */
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { OrganizationId } from '../src/platform/values/ids.ts';
import { dayMs } from '../src/platform/values/time.ts';
import { takeBackFrom } from '../src/platform/queue/claim-queries.ts';
import { openDatabase } from '../src/platform/database/database.ts';
import { atEnd, silentLog } from './database.ts';
import { appendEvents, downloadTo, peakMemoryMiB, sumFile } from './export-kills.ts';
import { startProcess, type ServiceProcess } from './processes.ts';
import { createItem, query } from './seed.ts';
import { eventually, send, startService, temporaryFolder } from './service.ts';

const count = Number(process.env['EXPORTED_EVENTS'] ?? 10_000_000);
const killsWanted = Number(process.env['EXPORT_KILLS'] ?? 5);
const maxMemoryMiB = 300;
/** Generous, for a busy machine. */
const patienceMs = 30 * 60_000 + count / 2;
const service = await startService({ REELFEED_ROLES: 'api' });
const folder = await temporaryFolder();
const database = openDatabase({ connection: service.connection, poolSize: 2, log: silentLog });
atEnd(() => database[Symbol.asyncDispose]());
const [organization] = await query(service, 'select organization_id from organization');
const organizationId = String(organization?.['organization_id']) as OrganizationId;
const contentIds = [await createItem(service), await createItem(service)].map(({ id }) => id);
const endMs = Date.now();
const days = [endMs - dayMs, endMs].map((ms) => new Date(ms).toISOString().slice(0, 10));
const [startDate = '', endDate = ''] = days;
const expected = await appendEvents(database.db, organizationId, { contentIds, count, endMs });
assert.equal(expected.rows, count);

// Shares the files with the service that handles requests.
const startWorker = () =>
  startProcess(service.connection, service.dataDir, { REELFEED_ROLES: 'worker' });

async function killWhileItWrites(worker: ServiceProcess, exportId: string, parts: number) {
  return eventually('another part, or the end', async () => {
    const [row] = await query(
      service,
      `select status, (select count(*)::int from data_export_part where export_id = $1) as parts
       from data_export where export_id = $1`,
      [exportId],
    );
    if (row?.['status'] === 'ready') return null;
    assert.notEqual(row?.['status'], 'failed');
    if (Number(row?.['parts']) <= parts) return null;
    await worker.kill();
    // As a restarted worker does on its own data directory.
    for (const { worker: name } of await query(service, 'select distinct worker from job')) {
      if (typeof name === 'string') await takeBackFrom(database.db, name, 100);
    }
    return Number(row?.['parts']);
  });
}

// Runs first, so that the exporting workers, whose memory is measured, have nothing else to do.
test('reports count the same', async () => {
  const worker = await startWorker();
  const path = `/v1/analytics/overview?startDate=${startDate}&endDate=${endDate}`;
  await eventually(
    'the projections',
    async () => {
      const { body } = await send(`${service.url}${path}`, 'GET', { key: service.secretKey });
      const { summary } = body.data;
      if (summary.likes !== expected.kinds['like']) return null;
      assert.deepEqual(
        [summary.shares, summary.saves],
        [expected.kinds['share'], expected.kinds['save']],
      );
      return true;
    },
    patienceMs,
  );
  await worker.kill();
});

for (const { format, compression } of [
  // Files decompressed as a whole must fit into memory.
  { format: 'ndjson', compression: count > 1_000_000 ? 'none' : 'zstd' },
  { format: 'csv', compression: 'gzip' },
  { format: 'parquet', compression: 'zstd' },
]) {
  test(`${count} events as ${format}, ${compression}, through ${killsWanted} kills`, async (t) => {
    const body = { dataset: 'events', format, compression, startDate, endDate };
    const made = await service.call('POST', '/v1/exports', { body });
    assert.equal(made.status, 201, made.text);
    const exportId: string = made.body.data.id;
    let parts = 0;
    for (let kills = 0; kills < killsWanted; kills += 1) {
      parts = await killWhileItWrites(await startWorker(), exportId, parts);
    }
    const worker = await startWorker();
    const ready = await eventually(
      'the export',
      async () => {
        const { body: found } = await service.call('GET', `/v1/exports/${exportId}`);
        assert.notEqual(found.data.status, 'failed');
        return found.data.status === 'ready' ? found.data : null;
      },
      patienceMs,
    );
    const memory = await peakMemoryMiB(worker.pid);
    t.diagnostic(`${parts} parts before the last kill, ${memory.toFixed(0)} MiB`);
    await worker.kill();
    assert.ok(memory <= maxMemoryMiB, `${memory} MiB`);
    assert.equal(ready.rowCount, count);
    const own = path.join(folder, format);
    await mkdir(own);
    const url = `${service.url}${ready.downloadUrl.slice(ready.downloadUrl.indexOf('/v1/'))}`;
    const file = await downloadTo(url, own);
    assert.deepEqual(await sumFile(file, format, compression), expected);
  });
}
