/**
 * Proves that a warehouse push whose process is killed at each step neither duplicates nor loses
 * rows, and that DuckDB can read the bucket.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { DuckDBInstance } from '@duckdb/node-api';
import { openEventLog, type LoggedEvent } from '../src/features/events/events.ts';
import { openDatabase } from '../src/platform/database/database.ts';
import { takeBackFrom } from '../src/platform/queue/claim-queries.ts';
import { dayMs } from '../src/platform/values/time.ts';
import { atEnd, silentLog } from './database.ts';
import { startProcess } from './processes.ts';
import { authority } from './receiver.ts';
import { startS3 } from './s3-server.ts';
import { createItem, query } from './seed.ts';
import { eventually, startService, temporaryFolder } from './service.ts';
import { startTlsProxy } from './tls-proxy.ts';

const s3 = await startS3({ bucket: 'acme-lake' });
const proxy = await startTlsProxy(s3.endpoint);
const env = { REELFEED_EGRESS_ALLOW: proxy.allow };
const service = await startService({ ...env, REELFEED_ROLES: 'api' });
const database = openDatabase({ connection: service.connection, poolSize: 2, log: silentLog });
atEnd(() => database[Symbol.asyncDispose]());
const folder = await temporaryFolder();
const trusted = path.join(folder, 'authority.pem');
await writeFile(trusted, authority.cert);
const [organization] = await query(service, 'select organization_id from organization');
const { id: contentId } = await createItem(service);
const expected = new Set<string>();

/** Events of three days in several transactions. */
async function append(count: number): Promise<void> {
  const log = openEventLog(database.db);
  const organizationId = String(organization?.['organization_id']);
  for (let block = 0; block < 3; block += 1) {
    const events = Array.from({ length: count }, (_, index): LoggedEvent => {
      const eventId = randomUUID();
      expected.add(eventId);
      const at = Date.now() - (index % 3) * dayMs;
      return { eventId, event: 'like', contentId, at, userId: `user-${index}`, data: { index } };
    });
    await log.append([{ organizationId, events }]);
  }
}

async function killedAt(step: RegExp | null, destinationId: string): Promise<void> {
  const held = step === null ? null : s3.hold('PutObject', step);
  const worker = await startProcess(service.connection, service.dataDir, {
    ...env,
    REELFEED_ROLES: 'worker',
    NODE_EXTRA_CA_CERTS: trusted,
  });
  const release = await held;
  if (release === null) {
    await eventually('the push', async () => {
      const [row] = await query(
        service,
        'select until, next_at > now() as is_over from export_destination where destination_id = $1',
        [destinationId],
      );
      return row?.['until'] === null && row['is_over'] === true ? true : null;
    });
  }
  await worker.kill();
  // The request has arrived, so the object may be stored without an acknowledgement.
  release?.();
  for (const { worker: name } of await query(service, 'select distinct worker from job')) {
    if (typeof name === 'string') await takeBackFrom(database.db, name, 100);
  }
}

/** Rows that DuckDB finds in all Parquet files, and in those referenced by manifests. */
async function readWithDuckDb(): Promise<{ all: number; distinct: number; named: number }> {
  const lake = path.join(folder, randomUUID());
  for (const [key, { bytes }] of s3.objects) {
    await mkdir(path.dirname(path.join(lake, key)), { recursive: true });
    await writeFile(path.join(lake, key), bytes);
  }
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const ask = async (text: string) =>
    Number((await connection.runAndReadAll(text)).getRows()[0]?.[0]);
  const files = `read_parquet('${lake}/lake/events/date=*/*.parquet', hive_partitioning = true)`;
  const manifests = `read_json('${lake}/lake/events/_manifests/*.json')`;
  const wrongDays = await ask(
    `select count(*) from ${files} where "date" <> cast("timestamp" as date)`,
  );
  assert.equal(wrongDays, 0);
  const result = {
    all: await ask(`select count(*) from ${files}`),
    distinct: await ask(`select count(distinct "eventId") from ${files}`),
    named: await ask(`select sum(file.rows) from (select unnest(files) as file from ${manifests})`),
  };
  connection.closeSync();
  return result;
}

test('a push killed at each step has every row once', async () => {
  const made = await service.call('POST', '/v1/exports/destinations', {
    body: {
      bucket: s3.bucket,
      prefix: 'lake',
      endpoint: proxy.url,
      ...s3.credentials,
      every: 'hour',
      startDate: new Date(Date.now() - 2 * dayMs).toISOString().slice(0, 10),
    },
  });
  assert.equal(made.status, 201, made.text);
  const { id } = made.body.data;
  await append(50);
  const steps = [/-0001\.parquet/, /-0002\.parquet/, /-0003\.parquet/, /_manifests/, null];
  for (const step of steps) {
    await killedAt(step, id);
    // Events arriving between attempts belong to the next batch.
    await append(5);
  }
  await query(service, 'update export_destination set next_at = now()');
  await killedAt(null, id);
  const rows = expected.size;
  assert.deepEqual(await readWithDuckDb(), { all: rows, distinct: rows, named: rows });
});
