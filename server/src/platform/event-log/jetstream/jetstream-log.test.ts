/**
 * The log with its bytes in JetStream: the conformance suite, and tests that are specific to a
 * stream.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase, silentLog } from '../../../../test/database.ts';
import { testEventLog } from '../conformance.ts';
import { drain, idsOf, limits, sample, type SampleEvent } from '../conformance-parts.ts';
import { UnreadableBlockError } from '../event-log.ts';
import { logUnderTest } from '../../../../test/event-log/postgres-log.ts';
import { createPostgresLog } from '../postgres/postgres-log.ts';
import { findLostMessages, removeGarbage } from '../postgres/stream-upkeep.ts';
import { openJetStream } from './jetstream-stream.ts';
import {
  isJetStreamThere,
  openTestStream,
  sharedServer,
  streamUrlOf,
} from '../../../../test/event-log/jetstream.ts';

const { signal } = new AbortController();

if (await isJetStreamThere()) {
  const database = await openTestDatabase();
  testEventLog('JetStream', logUnderTest(database, (await openTestStream()).stream));
  describe('bytes in a stream', testStream);
} else {
  test('an event log in JetStream', { skip: `needs NATS with JetStream at ${sharedServer}` });
}

async function openLog() {
  const { db } = await openTestDatabase();
  const opened = await openTestStream();
  const { stream, manager, name } = opened;
  const log = createPostgresLog<SampleEvent>({ db, stream });
  await log.prepare();
  const messages = async () => (await manager.streams.info(name)).state.messages;
  return { ...opened, db, log, messages };
}

function testStream(): void {
  test('the database holds places, and a log without the stream says what is missing', async () => {
    const { db, log, messages } = await openLog();
    const start = await log.end();
    const events = [sample(), sample()];
    await log.append([{ organizationId: 'org_a', events }]);
    const { rows } = await sql<{ size: number; stream_bytes: number }>`
      select octet_length(events) as size, stream_bytes from event_block`.execute(db);
    assert.equal(rows[0]?.size, 0);
    assert.ok((rows[0]?.stream_bytes ?? 0) > 50);
    assert.equal(await messages(), 1);
    assert.deepEqual(idsOf((await drain(log, start)).events), idsOf(events));
    await assert.rejects(
      createPostgresLog<SampleEvent>({ db }).read(start, limits),
      /set REELFEED_EVENT_LOG as it was/,
    );
  });

  test('blocks that were stored before and without the stream are read with it', async () => {
    const { db, log } = await openLog();
    const before = sample();
    await createPostgresLog<SampleEvent>({ db }).append([
      { organizationId: 'org_a', events: [before] },
    ]);
    const later = sample();
    await log.append([{ organizationId: 'org_a', events: [later] }]);
    assert.deepEqual(idsOf((await drain(log, log.start)).events), idsOf([before, later]));
  });

  test('a block that is too large for a message stays in the database', async () => {
    const { db, log, messages } = await openLog();
    const large = Array.from({ length: 60 }, () => ({ ...sample(), text: randomText(30_000) }));
    await log.append([{ organizationId: 'org_a', events: large }]);
    assert.equal(await messages(), 0);
    const { rows } = await sql`select from event_block where stream_sequence is null`.execute(db);
    assert.equal(rows.length, 1);
    assert.deepEqual(idsOf((await drain(log, log.start)).events), idsOf(large));
  });

  test('what is taken out of a block is gone from the stream when the rewriting resolves', async () => {
    const { manager, name, log, messages } = await openLog();
    const [kept, erased] = [sample('1', 'ada'), sample('2', 'bob')];
    await log.append([{ organizationId: 'org_a', events: [kept, erased] }]);
    await log.append([{ organizationId: 'org_a', events: [sample('3', 'bob')] }]);
    const page = { ...limits, organizationId: 'org_a' };
    const { eventsRemoved } = await log.rewrite(log.start, page, ({ events }) =>
      events().filter(({ who }) => who !== 'bob'),
    );
    assert.equal(eventsRemoved, 2);
    assert.equal(await messages(), 1);
    assert.equal((await manager.streams.info(name)).state.first_seq, 3);
    assert.deepEqual(idsOf((await drain(log, log.start)).events), ['1']);
  });

  test('messages that a killed process left, and those of repeated events, are found', async () => {
    const { db, stream, log, messages } = await openLog();
    const repeated = sample();
    await log.append([{ organizationId: 'org_a', events: [repeated] }]);
    await log.append([{ organizationId: 'org_a', events: [repeated] }]);
    const dayMs = Math.floor(Date.now() / 86_400_000) * 86_400_000;
    const lost = { organizationId: 'org_a', dayMs, bytes: Buffer.from('never named') };
    await stream.store([lost]);
    assert.equal(await messages(), 3);
    await removeGarbage(db, stream, signal);
    assert.equal(await messages(), 2, 'the repeated block was noted when it was appended');
    // The first search determines the end of the stream, the second one reads up to it.
    for (let search = 0; search < 2; search += 1) await findLostMessages(db, stream, 0);
    await removeGarbage(db, stream, signal);
    assert.equal(await messages(), 1);
    assert.deepEqual(idsOf((await drain(log, log.start)).events), [repeated.eventId]);
  });

  test('days expire in the stream one day after their blocks', async () => {
    const { stream, log, messages } = await openLog();
    const today = Math.floor(Date.now() / 86_400_000) * 86_400_000;
    const at = (daysAgo: number) => ({
      organizationId: 'org_a',
      dayMs: today - daysAgo * 86_400_000,
      bytes: Buffer.from('x'),
    });
    await stream.store([at(0), at(7), at(8), at(9), at(300)]);
    await log.expire(7 * 86_400_000, signal);
    assert.equal(await messages(), 3);
  });

  test('a block whose message was lost is unreadable, and the error says which', async () => {
    const { manager, name, log } = await openLog();
    await log.append([{ organizationId: 'org_a', events: [sample()] }]);
    await manager.streams.deleteMessage(name, 1);
    await assert.rejects(log.read(log.start, limits), (error) => {
      assert.ok(error instanceof UnreadableBlockError);
      assert.match(String(error.cause), /message 1 is missing from the stream/);
      return true;
    });
  });

  test('another stream of the same name is refused, and its messages are nobody else’s', async () => {
    const { db, manager, name, log } = await openLog();
    await log.append([{ organizationId: 'org_a', events: [sample()] }]);
    await manager.streams.delete(name);
    await using another = await openJetStream(streamUrlOf(name), silentLog);
    const logOfAnother = createPostgresLog<SampleEvent>({ db, stream: another });
    await assert.rejects(logOfAnother.prepare(), /Restore the former stream from its backup/);
    await another.store([{ organizationId: 'org_b', dayMs: 0, bytes: Buffer.from('foreign') }]);
    await assert.rejects(logOfAnother.read(log.start, limits), UnreadableBlockError);
  });

  test('an unreachable server and a stream that cannot be created are explained', async () => {
    const closed = { ...streamUrlOf('NONE'), servers: ['127.0.0.1:1'] };
    await assert.rejects(openJetStream(closed, silentLog), /at 127\.0\.0\.1:1 does not respond/);
    const wide = { ...streamUrlOf('WIDE'), replicas: 3 };
    await assert.rejects(
      openJetStream(wide, silentLog),
      /event log stream WIDE cannot be used: .*replicas/,
    );
  });
}

/** Text that can't be compressed. */
function randomText(length: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(length))).toString('base64');
}
