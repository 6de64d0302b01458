/**
 * Tests that every event log must pass. event-log.ts lists the promises; run these tests from a
 * test file.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { testArranging } from './conformance-arranging.ts';
import { testDays, testTenants } from './conformance-costs.ts';
import {
  drain,
  idsOf,
  limits,
  sample,
  type LogUnderTest,
  type SampleEvent,
} from './conformance-parts.ts';
import type { EventLog, LogPosition } from './event-log.ts';

export function testEventLog(name: string, underTest: LogUnderTest): void {
  const { open } = underTest;
  describe(`an event log in ${name}`, () => {
    const log = open();
    testDays(log, underTest);
    testTenants(log, underTest);
    testAppending(log);
    testReading(log);
    testComparing(log);
    testRewriting(log, open({ remembers: true }));
    testArranging(log, underTest);
  });
}

function testAppending(log: EventLog<SampleEvent>): void {
  test('appended events are read completely and once, by organization', async () => {
    const start = await log.end();
    const ours = [sample(), sample()];
    const theirs = [sample()];
    const added = await log.append([
      { organizationId: 'org_a', events: ours },
      { organizationId: 'org_b', events: theirs },
    ]);
    assert.ok(added.every(({ sequence, leftOut }) => sequence !== null && leftOut.length === 0));
    const page = await log.read(start, limits);
    assert.deepEqual(
      page.blocks.map(({ organizationId, events }) => [organizationId, events]),
      [
        ['org_a', ours],
        ['org_b', theirs],
      ],
    );
    assert.ok(Math.abs((page.blocks[0]?.receivedAt ?? 0) - Date.now()) < 60_000);
    assert.deepEqual((await log.read(page.next, limits)).blocks, []);
    const own = await log.read(start, { ...limits, organizationId: 'org_b' });
    assert.deepEqual(
      own.blocks.map(({ events }) => events),
      [theirs],
    );
  });

  test('an id counts once per organization: within a call, across calls, in upper or lower case', async () => {
    const start = await log.end();
    const [first, second] = [sample(), sample(`not a uuid ${randomUUID()}`)];
    const append = (organizationId: string, events: SampleEvent[]) =>
      log.append([{ organizationId, events }]);
    const upper = sample(first.eventId.toUpperCase());
    const other = sample(second.eventId.toUpperCase());
    assert.deepEqual((await append('org_a', [first, upper, second]))[0]?.leftOut, [1]);
    assert.deepEqual((await append('org_a', [other, second, first]))[0]?.leftOut, [1, 2]);
    assert.deepEqual(await append('org_a', [upper, second]), [{ sequence: null, leftOut: [0, 1] }]);
    assert.deepEqual((await append('org_b', [first]))[0]?.leftOut, []);
    const { events } = await drain(log, start);
    assert.deepEqual(idsOf(events), idsOf([first, first, second, other]));
  });

  test('the indexes of duplicates are correct in each of several blocks', async () => {
    const start = await log.end();
    const [one, two, three] = [sample(), sample(), sample()];
    await log.append([{ organizationId: 'org_c', events: [two] }]);
    const added = await log.append([
      { organizationId: 'org_b', events: [sample(), one, one] },
      { organizationId: 'org_c', events: [two] },
      { organizationId: 'org_c', events: [two, three, one, three] },
    ]);
    assert.deepEqual(
      added.map(({ sequence, leftOut }) => [sequence === null, leftOut]),
      [
        [false, [2]],
        [true, [0]],
        [false, [0, 3]],
      ],
    );
    assert.equal((await drain(log, start)).events.length, 1 + 2 + 2);
  });
}

function testReading(log: EventLog<SampleEvent>): void {
  test('pages are limited by blocks and by events, and neither miss nor repeat any', async () => {
    const start = await log.end();
    const sent: SampleEvent[] = [];
    for (let block = 0; block < 23; block += 1) {
      const events = Array.from({ length: 1 + (block % 5) }, () => sample());
      sent.push(...events);
      await log.append([{ organizationId: 'org_a', events }]);
    }
    for (const [limitBlocks, limitEvents] of [
      [1, 1],
      [3, 1_000],
      [100, 4],
      [23, 1_000],
      [7, 9],
    ] as const) {
      let position: LogPosition = start;
      const seen: SampleEvent[] = [];
      for (;;) {
        const page = await log.read(position, { limitBlocks, limitEvents });
        assert.ok(page.blocks.length <= limitBlocks);
        const before = page.blocks.slice(0, -1).reduce((sum, { events }) => sum + events.length, 0);
        assert.ok(before < limitEvents);
        seen.push(...page.blocks.flatMap(({ events }) => events));
        position = JSON.parse(JSON.stringify(page.next)) as LogPosition;
        if (page.isLast) break;
      }
      assert.deepEqual(idsOf(seen), idsOf(sent), `${limitBlocks} blocks, ${limitEvents} events`);
    }
    const all = await drain(log, log.start, { limitBlocks: 100, limitEvents: 90 });
    assert.ok(sent.every((one) => all.events.some(({ eventId }) => eventId === one.eventId)));
    assert.equal(new Set(all.events).size, all.events.length);
    assert.equal(await log.countEvents(), all.events.length);
  });

  test('blocks appended during a read are read later, once', async () => {
    const start = await log.end();
    const append = async () => {
      const one = sample();
      await log.append([{ organizationId: 'org_a', events: [one] }]);
      return one.eventId;
    };
    const early = [await append(), await append()];
    const page = await log.read(start, { limitBlocks: 1, limitEvents: 10 });
    const late = await append();
    const rest = await drain(log, page.next);
    assert.deepEqual(idsOf(rest.events), [early[1], late].toSorted());
  });

  test('a reader stops at the given position', async () => {
    const start = await log.end();
    const append = (events: SampleEvent[]) => log.append([{ organizationId: 'org_a', events }]);
    const wanted = [sample(), sample(), sample()];
    for (const one of wanted) await append([one]);
    const until = await log.end();
    const beyond = sample();
    await append([beyond]);
    let position: LogPosition = start;
    const seen: SampleEvent[] = [];
    for (;;) {
      const page = await log.read(position, { limitBlocks: 2, limitEvents: 100, until });
      seen.push(...page.blocks.flatMap(({ events }) => events));
      position = page.next;
      if (page.isLast) break;
    }
    assert.deepEqual(idsOf(seen), idsOf(wanted));
    assert.equal(log.compare(position, until), 'same');
    const again = await log.read(position, { ...limits, until });
    assert.deepEqual([again.blocks, again.isLast], [[], true]);
    assert.deepEqual(idsOf((await drain(log, position)).events), [beyond.eventId]);
  });

  test('the backlog is what a reader has not read', async () => {
    const start = await log.end();
    assert.deepEqual(await log.backlog(start), { blocks: 0, ageMs: 0 });
    await log.append([{ organizationId: 'org_a', events: [sample(), sample()] }]);
    await log.append([{ organizationId: 'org_b', events: [sample()] }]);
    assert.equal((await log.backlog(start)).blocks, 2);
    const page = await log.read(start, { limitBlocks: 1, limitEvents: 100 });
    assert.equal((await log.backlog(page.next)).blocks, 1);
    assert.equal((await log.backlog(await log.end())).blocks, 0);
    assert.equal(await log.lagMs(await log.end()), 0);
    const lagMs = await log.lagMs(start);
    assert.ok(
      lagMs > 0 && lagMs <= (await log.backlog(start)).ageMs,
      'the oldest, whichever is read',
    );
  });
}

function testComparing(log: EventLog<SampleEvent>): void {
  test('positions compare by what their readers have read', async () => {
    const start = await log.end();
    for (let block = 0; block < 3; block += 1) {
      await log.append([{ organizationId: 'org_a', events: [sample()] }]);
    }
    const one = (await log.read(start, { limitBlocks: 1, limitEvents: 10 })).next;
    const two = (await log.read(one, { limitBlocks: 1, limitEvents: 10 })).next;
    const end = (await drain(log, two)).position;
    const ordered = [log.start, start, one, two, end];
    for (const [index, position] of ordered.entries()) {
      assert.equal(log.compare(position, position), 'same');
      const next = ordered[index + 1];
      if (next === undefined) continue;
      assert.equal(log.compare(position, next), 'before', `${index} and the next`);
      assert.equal(log.compare(next, position), 'after', `${index} and the next`);
    }
  });
}

function testRewriting(log: EventLog<SampleEvent>, remembering: EventLog<SampleEvent>): void {
  test('rewriting removes events, also from memory, and changes no position', async () => {
    const start = await log.end();
    const known = sample(randomUUID(), 'eve');
    await remembering.append([{ organizationId: 'org_a', events: [known, sample()] }]);
    // A duplicate, which readers skip, and which must be removed from the bytes, too.
    await remembering.append([{ organizationId: 'org_a', events: [known, sample()] }]);
    await remembering.append([{ organizationId: 'org_a', events: [sample(randomUUID(), 'eve')] }]);
    await remembering.append([{ organizationId: 'org_b', events: [sample(randomUUID(), 'eve')] }]);
    const half = (await log.read(start, { limitBlocks: 1, limitEvents: 10 })).next;
    let [removed, read] = [0, 0];
    for (let at: LogPosition = start; ;) {
      const page = await log.rewrite(
        at,
        { limitBlocks: 2, limitEvents: 100, organizationId: 'org_a' },
        ({ text, events }) =>
          text().includes('eve') ? events().filter(({ who }) => who !== 'eve') : null,
      );
      removed += page.eventsRemoved;
      read += page.blocksRead;
      at = page.next;
      if (page.isLast) break;
    }
    assert.deepEqual([removed, read], [2, 3]);
    for (const reader of [log, remembering]) {
      const { events } = await drain(reader, start);
      assert.deepEqual(
        events.map(({ who }) => who),
        ['ada', 'ada', 'eve'],
      );
    }
    assert.equal((await drain(log, half)).events.length, 2, 'a reader in between continues');
    const [again] = await log.append([{ organizationId: 'org_a', events: [known] }]);
    assert.equal(again?.sequence, null, 'a late copy of what was removed is not stored');
  });

  test('blocks in memory equal stored ones', async () => {
    const start = await log.end();
    const known = sample();
    await remembering.append([{ organizationId: 'org_a', events: [known] }]);
    await remembering.append([{ organizationId: 'org_a', events: [known, sample()] }]);
    await log.append([{ organizationId: 'org_a', events: [sample()] }]);
    const stored = await log.read(start, limits);
    assert.equal(stored.blocks.length, 3);
    assert.deepEqual((await remembering.read(start, limits)).blocks, stored.blocks);
    const scanned = await remembering.scan(start, limits);
    assert.deepEqual(
      scanned.blocks.map(({ eventCount, decode }) => [eventCount, decode()]),
      stored.blocks.map(({ events }) => [events.length, events]),
    );
  });
}
