/** Tests of reorganizing old blocks: promise 6 of event-log.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sample, type LogUnderTest, type SampleEvent } from './conformance-parts.ts';
import type { EventLog, LogBlock, LogPosition, ReadLimits } from './event-log.ts';

type Reader = {
  readonly limits: ReadLimits;
  position: LogPosition;
  readonly blocks: LogBlock<SampleEvent>[];
};

async function readPage(log: EventLog<SampleEvent>, reader: Reader): Promise<boolean> {
  const page = await log.read(reader.position, reader.limits);
  reader.blocks.push(...page.blocks);
  reader.position = JSON.parse(JSON.stringify(page.next)) as LogPosition;
  return page.isLast;
}

async function readOn(log: EventLog<SampleEvent>, reader: Reader): Promise<void> {
  while (!(await readPage(log, reader)));
}

/** The blocks of each organization, in the order in which they were read. */
function byOrganization(blocks: readonly LogBlock<SampleEvent>[]): object {
  return Object.fromEntries(
    [...Map.groupBy(blocks, ({ organizationId }) => organizationId)].toSorted(([a], [b]) =>
      a < b ? -1 : 1,
    ),
  );
}

export function testArranging(log: EventLog<SampleEvent>, { open, arrange }: LogUnderTest): void {
  const organizations = ['org_a', 'org_b', 'org_c'];
  const appendSome = async (): Promise<void> => {
    const twice = sample();
    for (let block = 0; block < 24; block += 1) {
      const drafts = organizations
        .filter((_, index) => block % (index + 1) === 0)
        .map((organizationId) => ({
          organizationId,
          events: [sample(), ...(block % 6 === 0 ? [twice, sample()] : [])],
        }));
      await log.append(drafts);
    }
  };

  test('readers at any position continue with the same blocks after old ones are reorganized', async () => {
    const start = await log.end();
    await appendSome();
    const whole: Reader = {
      limits: { limitBlocks: 100, limitEvents: 1_000 },
      position: start,
      blocks: [],
    };
    await readOn(log, whole);
    // One reader at each position of all organizations, and one of each single organization.
    const readers: Reader[] = [];
    for (const organizationId of [undefined, ...organizations]) {
      for (let pages = 0; pages < 30; pages += 3) {
        const limits = {
          limitBlocks: 1 + (pages % 4),
          limitEvents: 1_000,
          ...(organizationId !== undefined && { organizationId }),
        };
        const reader = { limits, position: start, blocks: [] };
        for (let page = 0; page < pages; page += 1) await readPage(log, reader);
        readers.push(reader);
      }
    }
    await arrange();
    for (const reader of readers) await readPage(open({ remembers: true }), reader);
    await appendSome();
    await arrange();
    await readOn(log, whole);
    for (const reader of readers) {
      await readOn(log, reader);
      const { organizationId } = reader.limits;
      const expected = whole.blocks.filter(
        (block) => organizationId === undefined || block.organizationId === organizationId,
      );
      assert.deepEqual(byOrganization(reader.blocks), byOrganization(expected));
    }
  });

  test('rewriting after a reorganization removes events for every reader', async () => {
    const start = await log.end();
    const reader: Reader = {
      limits: { limitBlocks: 1, limitEvents: 1_000, organizationId: 'org_a' },
      position: start,
      blocks: [],
    };
    for (const who of ['eve', 'ada', 'eve', 'bob', 'eve']) {
      await log.append([{ organizationId: 'org_a', events: [sample(undefined, who), sample()] }]);
    }
    await readPage(log, reader);
    await readPage(log, reader);
    await arrange();
    let removed = 0;
    // Starts in the middle: the part that a rewriter has already passed is checked again, and none
    // of it is lost.
    for (let at = reader.position; ;) {
      const page = await log.rewrite(
        at,
        { ...reader.limits, organizationId: 'org_a' },
        ({ text, events }) =>
          text().includes('eve') ? events().filter(({ who }) => who !== 'eve') : null,
      );
      removed += page.eventsRemoved;
      at = page.next;
      if (page.isLast) break;
    }
    assert.ok(removed >= 2, `${removed} removed`);
    await readOn(log, reader);
    const names = reader.blocks.slice(2).flatMap(({ events }) => events.map(({ who }) => who));
    assert.deepEqual(names, ['ada', 'bob', 'ada', 'ada']);
    const again: Reader = { ...reader, position: start, blocks: [] };
    await readOn(log, again);
    const all = again.blocks.flatMap(({ events }) => events.map(({ who }) => who));
    assert.deepEqual(all.filter((who) => who !== 'eve').length, 7, 'all others are still there');
  });

  test('a reorganization does not change counts and sizes', async () => {
    const start = await log.end();
    await appendSome();
    const events = await log.countEvents();
    const half: Reader = {
      limits: { limitBlocks: 9, limitEvents: 1_000 },
      position: start,
      blocks: [],
    };
    await readPage(log, half);
    await arrange();
    assert.equal(await log.countEvents(), events);
    assert.ok((await log.backlog(half.position)).blocks > 0);
    await readOn(log, half);
    assert.deepEqual(await log.backlog(half.position), { blocks: 0, ageMs: 0 });
  });
}
