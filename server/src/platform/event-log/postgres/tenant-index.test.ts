/**
 * Proves that a log with existing blocks gets its index one partition at a time, without blocking
 * writers.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase } from '../../../../test/database.ts';
import { sample, type SampleEvent } from '../conformance-parts.ts';
import { createPostgresLog } from './postgres-log.ts';
import { completeTenantIndex } from './tenant-index.ts';

const { db, connection } = await openTestDatabase();
const log = createPostgresLog<SampleEvent>({ db });
const signal = new AbortController().signal;

async function isComplete(): Promise<boolean> {
  const { rows } = await sql<{ valid: boolean }>`
    select indisvalid as valid from pg_index
    where indexrelid = 'event_block_by_organization'::regclass`.execute(db);
  return rows[0]?.valid ?? false;
}

/** The per-organization indexes of all partitions, including unused ones. */
async function listParts(): Promise<number> {
  const { rows } = await sql`
    select from pg_index join pg_class on pg_class.oid = indrelid
    where relispartition and pg_get_indexdef(indexrelid) like '%(organization_id, written_by, sequence)'
  `.execute(db);
  return rows.length;
}

async function countPartitions(): Promise<number> {
  const { rows } =
    await sql`select from pg_inherits where inhparent = 'event_block'::regclass`.execute(db);
  return rows.length;
}

test('each partition gets its part, also after a kill, and so do days that come', async () => {
  await log.prepare();
  await log.append([{ organizationId: 'org_a', events: [sample()] }]);
  // The state in which the migration leaves a log that had blocks.
  await sql`drop index event_block_by_organization`.execute(db);
  await sql`create index event_block_by_organization
    on only event_block (organization_id, written_by, sequence)`.execute(db);
  assert.equal(await isComplete(), false);
  assert.equal(
    (await log.read(log.start, readOf('org_a'))).blocks.length,
    1,
    'it is read meanwhile',
  );
  // A killed run has left an unused partition index.
  await sql`create index event_block_default_by_organization on event_block_default (sequence)`.execute(
    db,
  );
  await sql`select create_day_partition('event_block', 'received_at', '2020-01-01')`.execute(db);
  await completeTenantIndex(db, connection, signal);
  assert.equal(await isComplete(), true);
  assert.equal(await listParts(), await countPartitions(), 'one for each partition');
  await sql`select create_day_partition('event_block', 'received_at', '2020-01-02')`.execute(db);
  assert.equal(await isComplete(), true);
  assert.equal(await listParts(), await countPartitions());
  const { rows } = await sql<{ limit: string }>`
    select current_setting('statement_timeout') as "limit"`.execute(db);
  assert.equal(rows[0]?.limit, '30s', 'the connection has its limits again');
});

function readOf(organizationId: string) {
  return { limitBlocks: 10, limitEvents: 100, organizationId };
}
