import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import type { Db } from '../../../../platform/database/database.ts';
import { rebuildProjection } from '../../../../platform/projections/rebuild.ts';
import { openEventLog, type LoggedEvent } from '../../../events/events.ts';
import { createRandom, shuffled } from '../../reports/traffic.fixture.ts';
import { ItemTotalsReader } from '../../totals/item-totals.ts';
import { makeContentIds, openProjected, organizationId, readTables } from '../projector.fixture.ts';
import { reactions } from './reactions.ts';

const contentIds = makeContentIds(4);
const kinds = ['like', 'unlike', 'save', 'unsave'] as const;
const startMs = Date.now() - 3_600_000;

/**
 * Few viewers who often change their minds, sometimes at the same time, and some events without a
 * viewer.
 */
function makeReactions(seed: number, count: number): LoggedEvent[] {
  const random = createRandom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  return Array.from({ length: count }, (_, index) => {
    const userId = pick(['ada', 'bob', 'cy', 'dora', null]);
    return {
      eventId: `${Math.floor(random() * 1e6)}-${index}`,
      event: pick(kinds),
      contentId: pick(contentIds),
      at: startMs + Math.floor(random() * 40) * 1_000,
      ...(userId !== null && { userId }),
      data: {},
    };
  });
}

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
  test('are of viewers whose latest event is the positive one, whatever the order and passes', async () => {
    const events = makeReactions(5, 400);
    const expected = contentIds.map((id) => countByDefinition(events, id));
    const first = await openProjected(contentIds, events);
    assert.deepEqual(await readTotals(first), expected);
    const twice = shuffled([...events, ...events], 9);
    const other = await openProjected(contentIds, twice, { blockSizes: [7], blocksOfPass: 2 });
    const tables = await readTables(first);
    const found = await readTables(other);
    for (const table of reactions.tables) assert.deepEqual(found[table], tables[table], table);
  });

  test('are the same after a rebuild, also of what the log has lost', async () => {
    const signal = new AbortController().signal;
    const db = await openProjected(contentIds, makeReactions(6, 300), { blockSizes: [20] });
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
