/** Proves that draws have the intended distribution, and which entries they may take. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createRandom } from '../../../../test/simulation/random.ts';
import { emptyStats } from '../items/item-stats.ts';
import { OrganizationIndex } from '../items/organization-index.ts';
import { emptyEncounter } from '../viewers/encounter.ts';
import { ViewerProfile } from '../viewers/viewer-profile.ts';
import { Choice } from './choice.ts';
import { drawBeta, drawExplorations, drawRate } from './exploration.ts';
import { priorShowings } from './signals/engagement.ts';
import { item, nowMs, partsOf } from './testing/small-world.ts';

/** The mean and the variance of many draws. */
function momentsOf(draw: () => number, count = 8_000): { mean: number; variance: number } {
  const draws = Array.from({ length: count }, draw);
  const mean = draws.reduce((sum, one) => sum + one, 0) / count;
  return { mean, variance: draws.reduce((sum, one) => sum + (one - mean) ** 2, 0) / count };
}

test('draws from Beta(a, b) have its mean and its variance', () => {
  const random = createRandom(3);
  for (const [a, b] of [
    [1, 1],
    [0.3, 2],
    [0.5, 0.5],
    [2, 5],
    [40, 10],
  ] as const) {
    const { mean, variance } = momentsOf(() => drawBeta(a, b, random));
    const expected = (a * b) / ((a + b) ** 2 * (a + b + 1));
    assert.ok(Math.abs(mean - a / (a + b)) < 0.012, `mean of Beta(${a}, ${b}): ${mean}`);
    assert.ok(Math.abs(variance / expected - 1) < 0.08, `variance of Beta(${a}, ${b})`);
  }
});

test('every draw is a rate, whatever the random numbers', () => {
  const positive = fc.double({ min: 0.01, max: 1_000, noNaN: true });
  fc.assert(
    fc.property(positive, positive, fc.integer({ min: 1 }), (a, b, seed) => {
      const draw = drawBeta(a, b, createRandom(seed));
      assert.ok(draw >= 0 && draw <= 1, String(draw));
    }),
    { numRuns: 200 },
  );
});

test('an item that nobody has encountered is drawn around the usual rate, between 1 and 99 %', () => {
  const random = createRandom(5);
  const [entry] = new OrganizationIndex([item(1)]).newestFirst;
  assert.ok(entry !== undefined);
  for (const [usual, mean] of [
    [0.2, 0.2],
    [-1, 0.01],
    [0, 0.01],
    [2, 0.99],
  ] as const) {
    const found = momentsOf(() => drawRate(entry, usual, random));
    assert.ok(Math.abs(found.mean - mean) < 0.01, `${usual}: ${found.mean}`);
    const expected = (mean * (1 - mean)) / (priorShowings + 1);
    assert.ok(Math.abs(found.variance / expected - 1) < 0.25, `${usual}: ${found.variance}`);
  }
});

test('an encountered item is drawn around its own rate, more closely the more viewers encountered it', () => {
  const random = createRandom(6);
  const [entry] = new OrganizationIndex([item(1)]).newestFirst;
  assert.ok(entry !== undefined);
  const none = { shown: 0, reactions: 0, plays: 0, completions: 0 };
  const seen = (shown: number, reactions: number) => ({
    ...entry,
    stats: {
      ...emptyStats(),
      recent: { serialNumber: 1, known: { ...none, shown, reactions }, newcomers: none },
    },
  });
  for (const [shown, reactions, counted] of [
    [60, 30, 30],
    [600, 60, 60],
    // Reactions are clamped to between zero and the number of times the item was shown.
    [60, 90, 60],
    [60, -5, 0],
  ] as const) {
    const found = momentsOf(() => drawRate(seen(shown, reactions), 0.2, random));
    const all = priorShowings + shown;
    const mean = (priorShowings * 0.2 + counted) / all;
    assert.ok(Math.abs(found.mean - mean) < 0.01, `${shown}, ${reactions}: ${found.mean}`);
    const expected = (mean * (1 - mean)) / (all + 1);
    assert.ok(Math.abs(found.variance / expected - 1) < 0.2, `${shown}, ${reactions}`);
  }
});

test('items that were rejected or have left the index are not explored', async () => {
  const refused = { item: 0, author: 2 * nowMs + 1, tag: 0 };
  const viewer = new ViewerProfile(
    new Map([[1, { ...emptyEncounter(), second: nowMs / 1_000, refused }]]),
    () => ({ tags: [], author: 'ada' }),
    { nowMs, isIdentified: true },
  );
  const items = Array.from({ length: 6 }, (_, at) =>
    item(at + 1, { author: at < 3 ? 'ada' : 'bob', freshSinceMs: nowMs - 1 }),
  );
  const parts = partsOf(items, { viewer, random: createRandom(4) });
  parts.index.statistics.refresh(nowMs);
  await parts.index.apply([{ ...item(4, { revision: 2 }), isMember: false }]);
  const drawn = new Set<number>();
  for (let round = 0; round < 30; round += 1) {
    for (const { serialNumber } of drawExplorations(new Choice(parts))) drawn.add(serialNumber);
  }
  assert.deepEqual([...drawn].toSorted(), [5, 6]);
});

test('items of the last day come first in half of the choices, followed by the rest in order of their draws', () => {
  const hour = 3_600_000;
  const items = Array.from({ length: 40 }, (_, at) =>
    item(at + 1, { freshSinceMs: nowMs - (at < 4 ? 23 : 25 + at) * hour }),
  );
  const random = createRandom(8);
  let newFirst = 0;
  for (let round = 0; round < 400; round += 1) {
    const parts = partsOf(items, { random });
    parts.index.statistics.refresh(nowMs);
    const drawn = drawExplorations(new Choice(parts));
    assert.equal(new Set(drawn).size, drawn.length, 'each is taken once');
    const isNew = drawn.map(({ serialNumber }) => serialNumber <= 4);
    const count = isNew.filter(Boolean).length;
    if (count > 0 && isNew.slice(0, count).every(Boolean)) newFirst += 1;
  }
  assert.ok(newFirst > 160 && newFirst < 280, `${newFirst} of 400`);
});

test('without new items, all have the same chance', () => {
  const items = Array.from({ length: 60 }, (_, at) => item(at + 1, { freshSinceMs: at }));
  const parts = partsOf(items, { random: createRandom(9) });
  parts.index.statistics.refresh(nowMs);
  const [first] = parts.index.statistics.unexplored;
  let times = 0;
  for (let round = 0; round < 100; round += 1) {
    if (first !== undefined && drawExplorations(new Choice(parts)).includes(first)) times += 1;
  }
  assert.ok(times > 5 && times < 60, `${times} of 100`);
});

test('ten draws go to new items, ten to the newer half, and five to the older half', () => {
  const hour = 3_600_000;
  const random = createRandom(10);
  /** The expected number of different items drawn from each half. */
  const drawnOfHalves = (newCount: number) => {
    const items = Array.from({ length: 40 }, (_, at) =>
      item(40 - at, { freshSinceMs: nowMs - (at < newCount ? 1 : 25) * hour - at }),
    );
    const parts = partsOf(items, { random });
    parts.index.statistics.refresh(nowMs);
    const rounds = 300;
    let [newer, older] = [0, 0];
    for (let round = 0; round < rounds; round += 1) {
      for (const { serialNumber } of drawExplorations(new Choice(parts))) {
        if (serialNumber > 20) newer += 1 / rounds;
        else older += 1 / rounds;
      }
    }
    return [newer, older] as const;
  };
  /** The expected number of different items, out of `of`, in this many draws. */
  const met = (draws: number, of = 20) => of * (1 - (1 - 1 / of) ** draws);
  for (const [newCount, ofNewer] of [
    [0, met(10)],
    [20, met(20)],
    // Entries of the older half are not drawn as new ones.
    [40, met(20)],
    [5, 20 - 15 * (1 - 1 / 20) ** 10 - 5 * (1 - 1 / 5) ** 10 * (1 - 1 / 20) ** 10],
  ] as const) {
    const [newer, older] = drawnOfHalves(newCount);
    assert.ok(Math.abs(newer - ofNewer) < 0.5, `${newCount} new: ${newer}, not ${ofNewer}`);
    assert.ok(Math.abs(older - met(5)) < 0.4, `${newCount} new: ${older} of the older half`);
  }
});

test('new items are counted again after a minute', () => {
  const dayMs = 86_400_000;
  const items = Array.from({ length: 40 }, (_, at) =>
    item(at + 1, { freshSinceMs: nowMs - dayMs + 30_000 }),
  );
  const parts = partsOf(items, { random: createRandom(12) });
  parts.index.statistics.refresh(nowMs);
  const drawnAt = (ms: number) => {
    let count = 0;
    for (let round = 0; round < 200; round += 1) {
      count += drawExplorations(new Choice({ ...parts, nowMs: nowMs + ms })).length / 200;
    }
    return count;
  };
  const [before, within, after] = [drawnAt(0), drawnAt(60_000), drawnAt(60_001)];
  assert.ok(Math.abs(before - within) < 1, `${before} and ${within}`);
  assert.ok(before - after > 3, `${before} and ${after}`);
});
