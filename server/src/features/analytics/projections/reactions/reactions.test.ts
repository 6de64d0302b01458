import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import type { Db } from '../../../../platform/database/database.ts';
import { rebuildProjection } from '../../../../platform/projections/rebuild.ts';
import { openEventLog, type LoggedEvent } from '../../../events/events.ts';
import { ItemTotalsReader } from '../../totals/item-totals.ts';
import {
  makeContentIds,
  openProjected,
  organizationId,
  readTables,
} from '../../../../../test/projections/projector.ts';
import { reactions } from './reactions.ts';

const contentIds = makeContentIds(4);
const kinds = ['like', 'unlike', 'save', 'unsave'] as const;
const startMs = Date.now() - 3_600_000;

/**
 * Few viewers who often change their minds, sometimes at the same time, and some events without a
 * viewer.
 */
const reactionEvents = fc
  .array(
    fc.record({
      userId: fc.constantFrom('ada', 'bob', 'cy', 'dora', undefined),
      event: fc.constantFrom(...kinds),
      contentId: fc.constantFrom(...contentIds),
      second: fc.nat(39),
      /** The event with the larger id counts if two have the same second. */
      name: fc.nat(1_000_000),
    }),
    { minLength: 300, maxLength: 400, size: 'max' },
  )
  .map((all) =>
    all.map(({ userId, event, contentId, second, name }, index): LoggedEvent => ({
      eventId: `${name}-${index}`,
      event,
      contentId,
      at: startMs + second * 1_000,
      ...(userId !== undefined && { userId }),
      data: {},
    })),
  );

/** Reference implementation of the counts, one viewer after another. */
function countByDefinition(events: readonly LoggedEvent[], contentId: string) {
  const count = (positive: LoggedEvent['event'], negative: LoggedEvent['event']) => {
    const pair = events.filter(
      (one) => one.contentId === contentId && [positive, negative].includes(one.event),
    );
    const anonymous = pair.filter((one) => one.userId === undefined && one.event === positive);
    const users = new Set(pair.flatMap(({ userId }) => userId ?? []));
    const holding = [...users].filter((user) => {
      const own = pair.filter(({ userId }) => userId === user);
      own.sort((a, b) => a.at - b.at || (a.eventId < b.eventId ? -1 : 1));
      return own.at(-1)?.event === positive;
    });
    return anonymous.length + holding.length;
  };
  return { likes: count('like', 'unlike'), saves: count('save', 'unsave') };
}

async function readTotals(db: Db) {
  const totals = await new ItemTotalsReader(db).read(organizationId, contentIds);
  return totals.map(({ likes, saves }) => ({ likes, saves }));
}

describe('likes and saves of an item', () => {
  test('count viewers whose latest event is positive, regardless of order and passes', async () => {
    const sent = reactionEvents.chain((events) => {
      const twice = [...events, ...events];
      return fc.record({
        events: fc.constant(events),
        twice: fc.shuffledSubarray(twice, { minLength: twice.length }),
        blockSize: fc.integer({ min: 5, max: 20 }),
        blocksOfPass: fc.integer({ min: 1, max: 4 }),
      });
    });
    await fc.assert(
      fc.asyncProperty(sent, async ({ events, twice, blockSize, blocksOfPass }) => {
        const expected = contentIds.map((id) => countByDefinition(events, id));
        const first = await openProjected(contentIds, events);
        assert.deepEqual(await readTotals(first), expected);
        const options = { blockSizes: [blockSize], blocksOfPass };
        const other = await openProjected(contentIds, twice, options);
        const tables = await readTables(first);
        const found = await readTables(other);
        for (const table of reactions.tables) assert.deepEqual(found[table], tables[table], table);
      }),
      // Shrinking would take minutes; the seed repeats the case.
      { numRuns: 1, endOnFailure: true },
    );
  });

  test('are unchanged by a rebuild, even if the log has dropped their events', async () => {
    const signal = new AbortController().signal;
    const [events = []] = fc.sample(reactionEvents, { numRuns: 1, seed: 6 });
    const db = await openProjected(contentIds, events, { blockSizes: [20] });
    const before = await readTables(db);
    const eventLog = openEventLog(db);
    await rebuildProjection(reactions, { db, eventLog, signal });
    const rebuilt = await readTables(db);
    for (const table of reactions.tables) assert.deepEqual(rebuilt[table], before[table], table);
    // The log has dropped all of its days.
    await sql`delete from event_block`.execute(db);
    const kept = await readTotals(db);
    await rebuildProjection(reactions, {
      db,
      eventLog: { ...eventLog, firstDay: async () => Infinity },
      signal,
    });
    assert.deepEqual(await readTotals(db), kept);
    assert.ok(kept.some(({ likes }) => likes > 0));
  });
});
