/** Proves that an organization is recorded whether its link or its activity is written first. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase } from '../../../../../test/database.ts';
import { until } from '../../../../../test/waiting.ts';
import { inTransaction, type Tx } from '../../../../platform/database/database.ts';
import { upsertActivities } from '../retention/retention-queries.ts';
import { upsertLinks } from './link-queries.ts';
import { PeopleNote } from './people-note.ts';
import { hasPeople } from './people-queries.ts';

const { db } = await openTestDatabase();

/** A viewer hash as stored in the tables. */
const hashOf = (name: string): string => Buffer.alloc(16, name).toString('latin1');

async function writeLink(tx: Tx, organizationId: string, device: string): Promise<void> {
  const key = hashOf(device);
  await upsertLinks(tx, [{ organizationId, device: key, user: hashOf(`u ${device}`), atMs: 1 }]);
  await new PeopleNote('viewer_activity').add(tx, [{ key, organizationId }]);
}

async function writeActivity(tx: Tx, organizationId: string, viewer: string): Promise<void> {
  const key = hashOf(viewer);
  await upsertActivities(tx, [{ key, organizationId, activity: [20_000] }]);
  await new PeopleNote('viewer_link').add(tx, [{ key, organizationId }]);
}

test('a device with a link and an activity is enough, in either order', async () => {
  await inTransaction(db, (tx) => writeLink(tx, 'org_a', 'one'));
  assert.equal(await hasPeople(db, 'org_a'), false, 'a device without activity of its own');
  await inTransaction(db, (tx) => writeActivity(tx, 'org_a', 'other'));
  assert.equal(await hasPeople(db, 'org_a'), false, 'another device');
  await inTransaction(db, (tx) => writeActivity(tx, 'org_a', 'one'));
  assert.equal(await hasPeople(db, 'org_a'), true);
  await inTransaction(db, (tx) => writeActivity(tx, 'org_b', 'two'));
  await inTransaction(db, (tx) => writeLink(tx, 'org_b', 'two'));
  assert.equal(await hasPeople(db, 'org_b'), true);
});

test('two concurrent passes see each other', async () => {
  for (const [index, writers] of [
    [writeLink, writeActivity] as const,
    [writeActivity, writeLink] as const,
  ].entries()) {
    const organizationId = `org_same_${index}`;
    const [first, second] = writers;
    const mayEnd = Promise.withResolvers<void>();
    const hasWritten = Promise.withResolvers<void>();
    const one = inTransaction(db, async (tx) => {
      await first(tx, organizationId, organizationId);
      hasWritten.resolve();
      await mayEnd.promise;
    });
    await hasWritten.promise;
    const other = inTransaction(db, (tx) => second(tx, organizationId, organizationId));
    const waiting = async () => {
      const { rows } = await sql`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
      return rows.length;
    };
    await until('the other to wait', waiting, (count) => count > 0);
    mayEnd.resolve();
    await Promise.all([one, other]);
    assert.equal(await hasPeople(db, organizationId), true);
  }
});
