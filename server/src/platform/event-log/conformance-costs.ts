/** Tests the cost of reading a part of the log: promise 5 of event-log.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayMs } from '../values/time.ts';
import { drain, idsOf, sample, type LogUnderTest, type SampleEvent } from './conformance-parts.ts';
import type { BlockDraft, EventLog, LogPosition, ReadLimits } from './event-log.ts';

const manyBlocks = 1_500;

/** Blocks of one event each. */
function blocksOf(organizationId: string, count: number): BlockDraft<SampleEvent>[] {
  return Array.from({ length: count }, () => ({ organizationId, events: [sample()] }));
}

async function readAll(
  log: EventLog<SampleEvent>,
  from: LogPosition,
  limits: Partial<ReadLimits>,
): Promise<string[]> {
  const all = { limitBlocks: 100, limitEvents: 10_000, ...limits };
  return idsOf((await drain(log, from, all)).events);
}

/** These tests run first, because they need a log to which only newer blocks are added. */
export function testDays(log: EventLog<SampleEvent>, { appendAt, pagesRead }: LogUnderTest): void {
  test('past days expire as a whole, and the log reports from when it is complete', async () => {
    assert.equal(await log.firstDay(), Infinity);
    const today = Math.floor(Date.now() / dayMs) * dayMs;
    const [old, kept] = [blocksOf('org_days', 3), blocksOf('org_days', 2)];
    await appendAt(old, today - 9 * dayMs);
    assert.equal(await log.firstDay(), -Infinity, 'nothing has expired');
    await appendAt(kept, today - 7 * dayMs);
    await log.expire(8 * dayMs, new AbortController().signal);
    assert.equal(await log.firstDay(), today - 7 * dayMs);
    const left = await readAll(log, log.start, { organizationId: 'org_days' });
    assert.deepEqual(left, idsOf(kept.flatMap(({ events }) => events)));
  });

  test('finding a day reads no other days', async () => {
    const today = Math.floor(Date.now() / dayMs) * dayMs;
    const limits = { receivedBefore: today - 4 * dayMs };
    const wanted = blocksOf('org_day', 5);
    await appendAt(blocksOf('org_day', 1), today - 6 * dayMs);
    await appendAt(wanted, today - 5 * dayMs);
    await appendAt(blocksOf('org_day', 1), today - 4 * dayMs);
    const from = await log.positionAt(today - 5 * dayMs);
    assert.deepEqual(
      [log.compare(log.start, from), log.compare(from, await log.end())],
      ['before', 'before'],
    );
    const readDay = (through: EventLog<SampleEvent>) => readAll(through, from, limits);
    const cheap = await pagesRead(readDay);
    await appendAt(blocksOf('org_day', manyBlocks), today - 6 * dayMs + 1_000);
    await appendAt(blocksOf('org_day', manyBlocks), today - 4 * dayMs + 1_000);
    const pages = await pagesRead(readDay);
    assert.deepEqual(await readDay(log), idsOf(wanted.flatMap(({ events }) => events)));
    assert.ok(pages <= cheap + 8, `${pages} pages, ${cheap} before the other days grew`);
  });

  test('a moment within a day is exact to the millisecond', async () => {
    const noon = Math.floor(Date.now() / dayMs) * dayMs - 1.5 * dayMs;
    const [before, first, last, beyond] = Array.from({ length: 4 }, () => blocksOf('org_noon', 1));
    for (const [index, drafts] of [before, first, last, beyond].entries()) {
      await appendAt(drafts ?? [], noon - 1 + index);
    }
    const limits = { organizationId: 'org_noon', receivedBefore: noon + 2 };
    const found = await readAll(log, await log.positionAt(noon), limits);
    assert.deepEqual(
      found,
      idsOf([...(first ?? []), ...(last ?? [])].flatMap((one) => one.events)),
    );
  });
}

export function testTenants(
  log: EventLog<SampleEvent>,
  { appendAt, pagesRead }: LogUnderTest,
): void {
  test('blocks of another tenant cost nothing', async () => {
    const own = blocksOf('org_small', 3);
    const now = Date.now();
    await appendAt(own, now - 3_600_000);
    const reads = [
      (through: EventLog<SampleEvent>) =>
        readAll(through, log.start, { organizationId: 'org_small' }),
      (through: EventLog<SampleEvent>) =>
        readAll(through, log.start, { organizationId: 'org_none' }),
      (through: EventLog<SampleEvent>) =>
        through.rewrite(
          log.start,
          { organizationId: 'org_small', limitBlocks: 100, limitEvents: 1_000 },
          () => null,
        ),
    ];
    const cheap: number[] = [];
    for (const read of reads) cheap.push(await pagesRead(read));
    // Other blocks before and after this organization's blocks, in both orders of the
    // organizations' names.
    await appendAt(blocksOf('org_large', manyBlocks), now - 3_500_000);
    await appendAt(blocksOf('org_zoo', manyBlocks), now - 3_400_000);
    for (const [index, read] of reads.entries()) {
      const pages = await pagesRead(read);
      assert.ok(
        pages <= (cheap[index] ?? 0) + 8,
        `${index}: ${pages} pages, ${cheap[index]} before`,
      );
    }
    const found = await readAll(log, log.start, { organizationId: 'org_small' });
    assert.deepEqual(found, idsOf(own.flatMap(({ events }) => events)));
  });
}
