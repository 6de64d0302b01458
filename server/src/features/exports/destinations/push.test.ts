/** Tests what a push writes to a bucket, and that it cannot reach or read anything else. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { parquetReadObjects } from 'hyparquet';
import { zstdDecompressSync } from 'node:zlib';
import { atEnd, silentLog } from '../../../../test/database.ts';
import { startS3 } from '../../../../test/s3-server.ts';
import { createItem, createOrganization, query } from '../../../../test/seed.ts';
import { startService } from '../../../../test/service.ts';
import { startTlsProxy } from '../../../../test/tls-proxy.ts';
import { inTransaction, openDatabase } from '../../../platform/database/database.ts';
import { parseAllowList } from '../../../platform/egress/allow-list.ts';
import { createEgress } from '../../../platform/egress/egress.ts';
import type { JobContext } from '../../../platform/queue/job-handler.ts';
import { dayMs } from '../../../platform/values/time.ts';
import { createVault, loadEncryptionKey } from '../../../platform/secrets/vault.ts';
import { openEventLog, type LoggedEvent } from '../../events/events.ts';
import { restartBatches } from './destination-queries.ts';
import { pushHandler } from './destinations.ts';

const s3 = await startS3({ bucket: 'acme-lake' });
const proxy = await startTlsProxy(s3.endpoint);
// Without a worker, only the tests push.
const service = await startService({
  REELFEED_ROLES: 'api',
  REELFEED_EGRESS_ALLOW: proxy.allow,
});
const database = openDatabase({ connection: service.connection, poolSize: 4, log: silentLog });
atEnd(() => database[Symbol.asyncDispose]());
const { db } = database;
const egress = createEgress({ allow: parseAllowList([proxy.allow]) });
atEnd(() => egress[Symbol.asyncDispose]());
const vault = createVault(await loadEncryptionKey(null, service.dataDir));
const eventLog = openEventLog(db);
const handler = pushHandler({ db, eventLog, egress, vault });
const [organization] = await query(service, 'select organization_id from organization');
const organizationId = String(organization?.['organization_id']);
const { id: contentId } = await createItem(service);

const body = {
  bucket: s3.bucket,
  prefix: 'team/reelfeed',
  endpoint: proxy.url,
  ...s3.credentials,
  every: 'hour',
};
const today = Math.floor(Date.now() / dayMs) * dayMs;

async function create(fields: object = {}, key = service.secretKey): Promise<string> {
  const made = await service.call('POST', '/v1/exports/destinations', {
    body: { ...body, ...fields },
    key,
  });
  assert.equal(made.status, 201, made.text);
  return made.body.data.id;
}

async function append(userId: string, ...daysAgo: number[]): Promise<string[]> {
  const events = daysAgo.map((days): LoggedEvent => ({
    eventId: randomUUID(),
    event: 'like',
    contentId,
    at: today - days * dayMs,
    userId,
    data: {},
  }));
  await eventLog.append([{ organizationId, events }]);
  return events.map(({ eventId }) => eventId);
}

function push(destinationId: string, finish?: JobContext['finish']) {
  const context: JobContext = {
    jobId: 1,
    organizationId,
    attempt: 1,
    maxAttempts: 8,
    signal: new AbortController().signal,
    log: silentLog,
    finish: finish ?? ((effect) => inTransaction(db, effect)),
  };
  return handler.run({ destinationId }, context);
}

type Stored = { key: string; rows: Record<string, unknown>[] };

async function stored(prefix: string): Promise<Stored[]> {
  const files = [...s3.objects].filter(
    ([key]) => key.startsWith(`${prefix}/events/date=`) && key.endsWith('.parquet'),
  );
  return Promise.all(
    files.map(async ([key, { bytes }]) => ({
      key: key.slice(prefix.length + 1),
      rows: await parquetReadObjects({
        file: new Uint8Array(bytes).buffer,
        compressors: { ZSTD: (input) => new Uint8Array(zstdDecompressSync(input)) },
      }),
    })),
  );
}

const idsOf = (files: readonly Stored[]) =>
  files.flatMap(({ rows }) => rows.map(({ eventId }) => eventId)).toSorted();
const manifest = (prefix: string, number: number) => {
  const key = `${prefix}/events/_manifests/${String(number).padStart(8, '0')}.json`;
  return JSON.parse(s3.objects.get(key)?.bytes.toString() ?? 'null');
};

test('each batch is written to files by day, and a manifest lists them', async () => {
  const prefix = 'batches';
  const id = await create({ prefix });
  assert.ok(s3.objects.has(`${prefix}/events/_schema.json`));
  const first = await append('ada', 0, 1, 1);
  assert.deepEqual(await push(id), { outcome: 'done' });
  const second = await append('bob', 1);
  await push(id);
  await push(id);
  const files = await stored(prefix);
  const day = (ago: number) => new Date(today - ago * dayMs).toISOString().slice(0, 10);
  assert.deepEqual(
    files.map(({ key, rows }) => [key, rows.length]).toSorted(),
    [
      [`events/date=${day(1)}/00000001-0001.parquet`, 2],
      [`events/date=${day(1)}/00000002-0001.parquet`, 1],
      [`events/date=${day(0)}/00000001-0002.parquet`, 1],
    ].toSorted(),
  );
  assert.deepEqual(idsOf(files), [...first, ...second].toSorted());
  assert.deepEqual([manifest(prefix, 1).rows, manifest(prefix, 1).files.length], [3, 2]);
  assert.equal(manifest(prefix, 2).rows, 1);
  assert.equal(manifest(prefix, 3), null, 'there is no batch without events');
  const { body: listed } = await service.call('GET', '/v1/exports/destinations');
  const found = listed.data.find((one: { id: string }) => one.id === id);
  assert.deepEqual([found.batches, found.pushedRows, found.error], [2, 4, null]);
});

test('a filter and a first day determine what is pushed', async () => {
  const early = await append('early', 0);
  const startDate = new Date(today).toISOString().slice(0, 10);
  const all = await create({ prefix: 'from-today', startDate });
  const none = await create({ prefix: 'elsewhere', startDate, filter: { country: 'DE' } });
  await push(all);
  await push(none);
  const pushed = new Set(idsOf(await stored('from-today')));
  assert.ok(early.every((eventId) => pushed.has(eventId)));
  assert.deepEqual(await stored('elsewhere'), []);
});

test('a failed commit, or one whose response was lost, changes nothing for readers', async () => {
  const prefix = 'doubt';
  const id = await create({ prefix });
  const events = await append('carol', 0, 1, 2);
  await assert.rejects(
    push(id, () => Promise.reject(new Error('killed before the commit'))),
    /killed/,
  );
  const before = [...s3.objects].filter(([key]) => key.startsWith(prefix));
  await append('dave', 0);
  await push(id);
  for (const [key, { bytes }] of before) {
    assert.deepEqual(s3.objects.get(key)?.bytes, bytes, `${key} is the same`);
  }
  const late = push(id, async (effect) => {
    await inTransaction(db, effect);
    throw new Error('Connection terminated unexpectedly');
  });
  await assert.rejects(late, /terminated/);
  await push(id);
  assert.equal(idsOf(await stored(prefix)).length, events.length + 1);
  assert.equal(new Set(idsOf(await stored(prefix))).size, events.length + 1);
});

test('a viewer erased before the batch is complete is in none of its files', async () => {
  const prefix = 'erased';
  const id = await create({ prefix });
  const kept = await append('kept', 0, 1);
  await append('gone', 0, 3);
  const position = eventLog.start;
  await assert.rejects(push(id, () => Promise.reject(new Error('killed'))));
  assert.match(JSON.stringify(await stored(prefix)), /gone/);
  // Does what an erasure does to the log, and then to the exports.
  const limits = { limitBlocks: 1_000, limitEvents: 100_000, organizationId };
  await eventLog.rewrite(position, limits, ({ events }) =>
    events().filter(({ userId }) => userId !== 'gone'),
  );
  await inTransaction(db, (tx) => restartBatches(tx, organizationId));
  await push(id);
  assert.deepEqual(idsOf(await stored(prefix)), kept.toSorted());
});

test('credentials are encrypted and never shown', async () => {
  await query(service, 'delete from export_destination');
  const made = await service.call('POST', '/v1/exports/destinations', { body });
  const { body: listed, text } = await service.call('GET', '/v1/exports/destinations');
  assert.equal(listed.data.length, 1);
  for (const secret of Object.values(s3.credentials)) {
    assert.ok(![made.text, text].some((answer) => answer.includes(secret)));
  }
  const rows = await query(service, 'select credentials from export_destination');
  const sealed = rows[0]?.['credentials'] as Buffer;
  for (const secret of Object.values(s3.credentials)) assert.ok(!sealed.includes(secret));
  const audit = await service.call('GET', '/v1/audit?limit=100');
  assert.ok(!audit.text.includes(s3.credentials.secretAccessKey));
});

test('a destination is rejected if it cannot be written to or has an internal address', async () => {
  const wrong: [object, string, RegExp][] = [
    [{ endpoint: 'http://example.com' }, 'endpoint', /https/],
    [{ endpoint: 'https://10.0.0.1' }, 'endpoint', /public/],
    [{ endpoint: `${proxy.url}/path` }, 'endpoint', /path/],
    [{ bucket: 'no-such-bucket' }, 'bucket', /NoSuchBucket/],
    [{ secretAccessKey: 'wrong' }, 'bucket', /SignatureDoesNotMatch/],
    [{ prefix: '../up' }, 'prefix', /./],
    [{ filter: { country: 'XX' } }, 'filter.country', /./],
  ];
  for (const [fields, path, message] of wrong) {
    const answer = await service.call('POST', '/v1/exports/destinations', {
      body: { ...body, ...fields },
    });
    assert.equal(answer.status, 400, answer.text);
    const [detail] = answer.body.error.details;
    assert.match(detail.path, new RegExp(path));
    assert.match(detail.message, message);
  }
});

test('a rejecting bucket is reported and retried', async () => {
  const id = await create({ prefix: 'refusing' });
  await append('erin', 0);
  s3.fail({ operation: 'PutObject', times: 3, how: { status: 403, code: 'AccessDenied' } });
  const answer = await push(id);
  s3.clearFaults();
  assert.equal(answer.outcome, 'failed');
  const error = async () => {
    const { body: listed } = await service.call('GET', '/v1/exports/destinations');
    return listed.data.find((one: { id: string }) => one.id === id).error;
  };
  assert.equal(await error(), 'The bucket returned AccessDenied.');
  await push(id);
  assert.equal(await error(), null);
});

test('destinations belong to their organization, and there are at most five', async () => {
  const { secretKey: key } = await createOrganization(service, 'Other');
  for (let made = 0; made < 5; made += 1) await create({ prefix: `other-${made}` }, key);
  const beyond = await service.call('POST', '/v1/exports/destinations', { body, key });
  assert.equal(beyond.body.error.code, 'LIMIT_EXCEEDED');
  const { body: listed } = await service.call('GET', '/v1/exports/destinations', { key });
  const path = `/v1/exports/destinations/${listed.data[0].id}`;
  assert.equal((await service.call('DELETE', path)).status, 404);
  assert.equal((await service.call('DELETE', path, { key })).status, 200);
  assert.equal((await service.call('DELETE', path, { key })).status, 404);
});
