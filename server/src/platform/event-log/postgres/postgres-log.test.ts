import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from 'pg';
import { openTestDatabase } from '../../../../test/database.ts';
import { poolConnection } from '../../database/database.ts';
import { testEventLog } from '../conformance.ts';
import { drain, idsOf, sample, type SampleEvent } from '../conformance-parts.ts';
import { isSnapshotBehind } from './position.ts';
import { logUnderTest } from '../../../../test/event-log/postgres-log.ts';
import { createPostgresLog } from './postgres-log.ts';

const database = await openTestDatabase();
const { db, connection } = database;

testEventLog('PostgreSQL', logUnderTest(database));

test('a transaction that commits after later ones is read, and holds nobody up', async () => {
  const log = createPostgresLog<SampleEvent>({ db });
  await log.append([{ organizationId: 'org_a', events: [sample()] }]);
  const slow = new Client(poolConnection(connection));
  await slow.connect();
  const start = await log.end();
  await slow.query('begin');
  await slow.query(
    `insert into event_block (organization_id, event_count, events)
     select 'org_slow', 1, events from event_block where event_count = 1 limit 1`,
  );
  const later = sample();
  await log.append([{ organizationId: 'org_a', events: [later] }]);
  const first = await drain(log, start);
  assert.deepEqual(idsOf(first.events), [later.eventId]);
  await slow.query('commit');
  await slow.end();
  const second = await drain(log, first.position);
  assert.equal(second.events.length, 1, 'the slow one, and the other not again');
});

test('a position of another kind of log is refused with what to do', async () => {
  const log = createPostgresLog<SampleEvent>({ db });
  const foreign = { stream: 'events', sequence: 7 };
  await assert.rejects(log.read(foreign, { limitBlocks: 1, limitEvents: 1 }), /rebuild all/);
});

test('a snapshot is behind one that sees all of it and more', () => {
  const cases: [string, string, boolean][] = [
    ['1:1:', '5:9:', true],
    ['5:9:', '1:1:', false],
    ['5:9:', '5:9:', false],
    ['5:9:5,7', '7:9:7', true],
    ['7:9:7', '5:9:5,7', false],
    ['5:9:5', '5:12:5,10', true],
    // The second snapshot does not see 6, which the first one sees, so it is not ahead.
    ['9:9:', '6:12:6', false],
    ['6:12:6', '9:9:', false],
  ];
  for (const [one, other, expected] of cases) {
    assert.equal(isSnapshotBehind(one, other), expected, `${one} behind ${other}`);
  }
});
