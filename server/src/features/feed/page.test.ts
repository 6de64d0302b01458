/** Tests what a session shows from its first page to its last, without a service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FeedSession } from './feed-cursor.ts';
import { createFeedCursors } from './feed-cursor.ts';
import type { EntryFields, FeedEntry } from './items/feed-entry.ts';
import { takePage } from './page.ts';
import type { ChoiceParts } from './ranking/choice.ts';
import { baseConfig } from './ranking/config.ts';
import { EditorialRules, type EditorialRule } from './ranking/editorial.ts';
import { noFilter } from './ranking/filter.ts';
import { contentIdOf, item, nowMs, partsOf, viewerOf } from './ranking/testing/small-world.ts';
import { emptyEncounter } from './viewers/encounter.ts';

const failed = (error: unknown) => {
  throw error;
};

const start: FeedSession = {
  feedId: `fed_${'0'.repeat(26)}`,
  planned: 0,
  order: [],
  explorations: [],
  served: new Set(),
  sweptTo: null,
};

/** A signature of realistic length. */
const cursors = createFeedCursors({
  sign: (_data: Buffer, length: number) => Buffer.alloc(length, 7),
  verify: () => true,
});
const scope = { organizationId: 'org_1' as const, filter: noFilter };

/** Reads all pages of a session through its cursors, and records the longest cursor. */
function walk(parts: ChoiceParts, limit: number, mostPages = Infinity) {
  const entries: FeedEntry[] = [];
  let session = start;
  let longest = 0;
  for (let page = 0; page < mostPages; page += 1) {
    const taken = takePage(parts, { limit, session, live: [], isRanked: true }, failed);
    entries.push(...taken.page.map(({ entry }) => entry));
    if (taken.next.order.length === 0) break;
    const cursor = cursors.encode(scope, taken.next);
    longest = Math.max(longest, cursor.length);
    session = cursors.decode(scope, cursor);
    assert.deepEqual(session, taken.next);
  }
  return { numbers: entries.map(({ serialNumber }) => serialNumber), entries, longest };
}

test('a session of 50,000 items continues to its end without repeats, and its cursors stay short', () => {
  // Sparse numbers, as when many organizations share a database.
  const items = Array.from({ length: 50_000 }, (_, at) =>
    item(at * 20_000 + 1, { freshSinceMs: nowMs - (at % 1_000) * 60_000 }),
  );
  const { numbers, longest } = walk(partsOf(items), 50);
  assert.equal(numbers.length, items.length);
  assert.equal(new Set(numbers).size, items.length);
  assert.ok(longest <= 7_000, `${longest} characters`);
});

test('a sweep shows returning items in their place once, and never repeats', async () => {
  const items = Array.from({ length: 4_000 }, (_, at) => item(at + 1));
  const parts = partsOf(items);
  let session = start;
  const seen: number[] = [];
  for (let round = 0; ; round += 1) {
    const taken = takePage(parts, { limit: 50, session, live: [], isRanked: true }, failed);
    seen.push(...taken.page.map(({ entry }) => entry.serialNumber));
    session = taken.next;
    if (session.order.length === 0) break;
    await parts.index.apply([
      item(1 + round, { revision: 2, tags: ['edited'] }),
      item(9_000 + round),
    ]);
  }
  assert.equal(new Set(seen).size, seen.length);
  for (const { serialNumber } of items) assert.ok(seen.includes(serialNumber));
});

const pin = (serialNumber: number, position: number): EditorialRule => ({
  type: 'pin',
  match: { contentId: contentIdOf(serialNumber) },
  factor: null,
  position,
  startsAtMs: -Infinity,
  endsAtMs: Infinity,
});

test('two or three pins for one place follow each other, even across a page boundary', () => {
  const items = Array.from({ length: 200 }, (_, at) => item(at + 1));
  for (const limit of [10, 20]) {
    for (const position of [3, 9, 10, 18, 19, 20, 38, 39, 40, 59]) {
      const rules = new EditorialRules(
        [pin(1, position), pin(2, position), pin(3, position)],
        nowMs,
      );
      const { numbers } = walk(partsOf(items, { rules }), limit, 10);
      assert.deepEqual(numbers.slice(position, position + 3), [1, 2, 3], `${limit}, ${position}`);
      assert.equal(new Set(numbers).size, numbers.length);
    }
  }
});

/** Places with the same author as the place before, although another author was still available. */
function needlessRepeats(entries: readonly FeedEntry[]): number[] {
  const found: number[] = [];
  for (let place = 1; place < entries.length; place += 1) {
    const author = entries[place]?.author ?? null;
    if (author === null || author !== entries[place - 1]?.author) continue;
    if (entries.slice(place).some((later) => later.author !== author)) found.push(place);
  }
  return found;
}

const authorOf = (at: number): Partial<EntryFields> => {
  const authors = ['Ada', 'Ada', 'Ada', 'Bob', 'Ada', 'Cy', null, 'Dee'];
  return { author: authors[at % authors.length] ?? null, tags: [`t${at % 5}`] };
};

test('no author follows itself while others are left: cold viewers, tastes, and seen items', () => {
  const items = Array.from({ length: 400 }, (_, at) => item(at + 1, authorOf(at)));
  const ada = { tags: ['t1'], author: 'Ada' };
  const viewers = {
    cold: viewerOf([]),
    'with tastes': viewerOf([ada, ada, ada, ada]),
  };
  for (const [name, viewer] of Object.entries(viewers)) {
    for (const limit of [7, 20]) {
      const { entries } = walk(partsOf(items, { viewer }), limit);
      assert.equal(entries.length, items.length);
      assert.deepEqual(needlessRepeats(entries), [], `${name}, pages of ${limit}`);
    }
  }
});

test('seen items come last, and no author of them follows itself either', () => {
  const items = Array.from({ length: 120 }, (_, at) =>
    item(at + 1, { author: at % 2 === 0 ? 'Ada' : at % 3 === 0 ? 'Bob' : 'Cy' }),
  );
  const viewer = viewerOf([]);
  const second = nowMs / 1_000 - 3_600;
  for (let number = 1; number <= 80; number += 1) {
    // One author's items were all seen one after another.
    const at = second + number + (number % 2) * 1_000;
    viewer.add(number, { ...emptyEncounter(), second: at, seenSecond: at }, null);
  }
  const { entries, numbers } = walk(partsOf(items, { viewer }), 10);
  assert.equal(entries.length, 120);
  assert.ok(numbers.slice(0, 40).every((number) => number > 80));
  const seen = entries.slice(40);
  assert.deepEqual(needlessRepeats(seen), []);
});

test('a pin is not next to an item of its author while others are left', () => {
  const items = Array.from({ length: 100 }, (_, at) => item(at + 1, authorOf(at)));
  const config = { ...baseConfig, exploration: 0.3 };
  const rules = new EditorialRules([pin(1, 4), pin(9, 12)], nowMs);
  for (let round = 0; round < 20; round += 1) {
    const { entries } = walk(partsOf(items, { rules, config }), 10, 3);
    assert.equal(entries[4]?.serialNumber, 1);
    assert.deepEqual(needlessRepeats(entries), []);
  }
});
