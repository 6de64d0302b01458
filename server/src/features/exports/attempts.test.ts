/** Tests exports that are requested or processed at the same time. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { atEnd, silentLog } from '../../../test/database.ts';
import { createItem, createOrganization, query } from '../../../test/seed.ts';
import { send, startService } from '../../../test/service.ts';
import { inTransaction, openDatabase } from '../../platform/database/database.ts';
import { LeaseLostError, type JobContext } from '../../platform/queue/job-handler.ts';
import { loadSigner } from '../../platform/secrets/signing-keys.ts';
import { openDiskStorage } from '../../platform/storage/disk-storage.ts';
import { openEventLog } from '../events/events.ts';
import { createDownloadUrls } from './download-urls.ts';
import { exportHandler } from './export-job.ts';
import { eraseFromExports } from './maintenance.ts';

// Without a worker, exports stay unfinished until a test processes them.
const service = await startService({ REELFEED_ROLES: 'api' });
const second = await startService({ REELFEED_ROLES: 'api' }, { beside: service });
await createItem(service, { title: 'An item' });
const body = { dataset: 'content', format: 'csv', startDate: '2026-01-01', endDate: '2026-12-31' };

const database = openDatabase({ connection: service.connection, poolSize: 4, log: silentLog });
atEnd(() => database[Symbol.asyncDispose]());
const { db } = database;
const storage = await openDiskStorage(path.join(service.dataDir, 'media'));
const urls = createDownloadUrls(service.url, await loadSigner(db, 'urls-and-cursors'));
const handler = exportHandler({ db, storage, eventLog: openEventLog(db), urls });

const organizationId = String(
  (await query(service, 'select organization_id from organization'))[0]?.['organization_id'],
);

async function ask(fields: object = {}): Promise<string> {
  const made = await service.call('POST', '/v1/exports', { body: { ...body, ...fields } });
  assert.equal(made.status, 201, made.text);
  return made.body.data.id;
}

/** One attempt by the real handler; `finish` replaces the queue's final transaction. */
function attempt(exportId: string, finish: JobContext['finish']): Promise<unknown> {
  return handler.run(
    { exportId },
    {
      jobId: 1,
      organizationId,
      attempt: 1,
      maxAttempts: 5,
      signal: new AbortController().signal,
      log: silentLog,
      finish,
    },
  );
}

const commit: JobContext['finish'] = (effect) => inTransaction(db, effect);
const filesOf = async (exportId: string) =>
  (await Array.fromAsync(storage.list(`exports/${organizationId}/${exportId}`))).length;

async function assertReady(exportId: string): Promise<void> {
  const { body: found } = await service.call('GET', `/v1/exports/${exportId}`);
  assert.equal(found.data.status, 'ready');
  const file = await send(found.data.downloadUrl, 'GET');
  assert.equal(file.status, 200);
  assert.match(file.text, /^id,contentType,title,/);
  assert.equal(await filesOf(exportId), 1);
}

test('ten of several concurrent requests create exports; the others are told when to retry', async () => {
  const { secretKey: key } = await createOrganization(service, 'Busy');
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      (index % 2 === 0 ? service : second).call('POST', '/v1/exports', { body, key }),
    ),
  );
  assert.equal(answers.filter(({ status }) => status === 201).length, 10);
  for (const { status, body: answer, headers } of answers.filter((one) => one.status !== 201)) {
    assert.deepEqual([status, answer.error.code], [429, 'RATE_LIMITED']);
    assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/);
  }
});

test('an attempt that has lost its lease removes only its own file', async () => {
  const exportId = await ask();
  const late = attempt(exportId, async () => {
    await attempt(exportId, commit);
    throw new LeaseLostError('another worker has claimed the job');
  });
  await assert.rejects(late, LeaseLostError);
  await assertReady(exportId);
});

test('a superseded attempt cannot make the export ready', async () => {
  const exportId = await ask();
  let overtaking: Promise<unknown> | undefined;
  const late = attempt(exportId, async (effect) => {
    overtaking = attempt(exportId, async (theirs) => {
      await assert.rejects(commit(effect), /starts over/);
      await commit(theirs);
    });
    await overtaking;
    throw new LeaseLostError('another worker has claimed the job');
  });
  await assert.rejects(late, LeaseLostError);
  await assertReady(exportId);
});

test('a commit whose response was lost keeps the file of the export', async () => {
  const exportId = await ask();
  const inDoubt = attempt(exportId, async (effect) => {
    await commit(effect);
    throw new Error('Connection terminated unexpectedly');
  });
  await assert.rejects(inDoubt, /Connection terminated/);
  await assertReady(exportId);
});

test('files left by a killed attempt are removed by the next one', async () => {
  const exportId = await ask();
  await assert.rejects(
    attempt(exportId, () => Promise.reject(new Error('killed'))),
    /killed/,
  );
  assert.equal(await filesOf(exportId), 1, 'it is unknown whether it was committed');
  await attempt(exportId, commit);
  await assertReady(exportId);
});

test('an erasure during an attempt removes the file and restarts the export', async () => {
  const exportId = await ask({ dataset: 'events' });
  const erased = attempt(exportId, async (effect) => {
    await eraseFromExports(db, storage, { organizationId });
    await commit(effect);
  });
  await assert.rejects(erased, /erased/);
  assert.equal(await filesOf(exportId), 0);
  await attempt(exportId, commit);
  assert.equal(await filesOf(exportId), 1);
});

test('a file made by the previous version can be downloaded', async () => {
  const exportId = await ask();
  await attempt(exportId, commit);
  const folder = `exports/${organizationId}/${exportId}`;
  await storage.removePrefix(folder);
  await storage.put(`${folder}/data`, Readable.from([Buffer.from('id,contentType,title,\r\n')]));
  await query(service, 'update data_export set file_name = null where export_id = $1', [exportId]);
  await assertReady(exportId);
});

test('other organizations cannot cancel an export or read its finished parts', async () => {
  const exportId = await ask();
  await query(
    service,
    `insert into data_export_part (export_id, number, row_count, reader, writer)
     values ($1, 1, 0, '{"after": null}', 'null')`,
    [exportId],
  );
  const { secretKey: key } = await createOrganization(service, 'Stranger');
  const foreign = await service.call('POST', `/v1/exports/${exportId}/cancel`, { key });
  assert.equal(foreign.status, 404);
  const parts = 'select number from data_export_part where export_id = $1';
  assert.equal((await query(service, parts, [exportId])).length, 1);
});

test('an export cancelled during an attempt leaves nothing and stays cancelled', async () => {
  const exportId = await ask();
  const path = `/v1/exports/${exportId}`;
  const answer = await attempt(exportId, async (effect) => {
    const cancelled = await service.call('POST', `${path}/cancel`);
    assert.equal(cancelled.body.data.status, 'cancelled');
    await commit(effect);
  });
  assert.deepEqual(answer, { outcome: 'skipped', reason: 'the export was cancelled' });
  assert.equal(await filesOf(exportId), 0);
  assert.equal((await service.call('POST', `${path}/cancel`)).status, 200);
  await attempt(exportId, commit);
  const { body: found } = await service.call('GET', path);
  assert.equal(found.data.status, 'cancelled');
});

test('a deleted export leaves nothing, whether it was finished or not', async () => {
  const made = await ask();
  await attempt(made, commit);
  const underWay = await ask();
  assert.equal((await service.call('DELETE', `/v1/exports/${made}`)).status, 200);
  await attempt(made, commit);
  assert.equal(await filesOf(made), 0);
  await attempt(underWay, async (effect) => {
    assert.equal((await service.call('DELETE', `/v1/exports/${underWay}`)).status, 200);
    await commit(effect);
  });
  assert.equal(await filesOf(underWay), 0);
});
