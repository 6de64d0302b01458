/**
 * Proves that no viewer and no crowd of fake viewers dominates, and that erasures win over fits.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase } from '../../../../test/database.ts';
import { inTransaction } from '../../../platform/database/database.ts';
import { emptyEncounter, writeEncounters } from '../viewers/encounter.ts';
import { ItemVectors, encodeParts, recordBytes, withoutItems } from './item-vectors.ts';
import { tasteDimensions } from './factorize.ts';
import { markStale, storeFit } from './taste-queries.ts';
import { maxItemsOfViewer, WatchCollector } from './watches.ts';

const completed = 2;
const daySeconds = 86_400;

/** The encounters of a viewer who has watched items to the end, on one day or several. */
function viewerOf(serialNumbers: readonly number[], days = 1): Buffer {
  return writeEncounters(
    serialNumbers.map((serialNumber, at) => {
      const second = 1_800_000_000 + (at % days) * daySeconds;
      return [serialNumber, { ...emptyEncounter(), second, seenSecond: second, flags: completed }];
    }),
  );
}

const range = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

test('a viewer counts once per item, and with a bounded number of items', () => {
  const collector = new WatchCollector();
  const all = viewerOf(range(300));
  for (let viewer = 0; viewer < 3; viewer += 1) collector.add(Buffer.concat([all, all]));
  const { watches } = collector.gather();
  assert.equal(watches.items.length, 3 * maxItemsOfViewer);
  assert.deepEqual([...watches.starts], [0, 200, 400, 600]);
});

test('items that only two viewers have encountered have no vector', () => {
  const collector = new WatchCollector();
  for (const met of [
    [1, 2, 3],
    [1, 2],
    [1, 2, 3],
  ])
    collector.add(viewerOf(met));
  assert.deepEqual([...collector.gather().watches.serialNumbers], [1, 2]);
});

test('viewers who came once count together no more than returning ones', () => {
  const collector = new WatchCollector();
  for (let viewer = 0; viewer < 60; viewer += 1) collector.add(viewerOf([1, 2, 3], 2));
  for (let viewer = 0; viewer < 600; viewer += 1) collector.add(viewerOf([3, 4, 5]));
  const { weights } = collector.gather().watches;
  const sum = (from: number, to: number) => weights.slice(from, to).reduce((all, one) => all + one);
  assert.equal(sum(0, 60), 60);
  assert.ok(Math.abs(sum(60, 660) - 60) < 0.01);
});

test('vectors are found by item, and removed with a purged one', () => {
  const serialNumbers = Float64Array.from([3, 70_000, 2 ** 40]);
  const factors = {
    mean: 0.4,
    spread: 0.7,
    found: 1,
    biases: Float32Array.of(0.1, -0.2, 0.3),
    vectors: Float32Array.from({ length: 3 * tasteDimensions }, (_, at) => Math.sin(at)),
  };
  const [part = Buffer.alloc(0)] = encodeParts(factors, serialNumbers, () => 9);
  const vectors = new ItemVectors(factors, part);
  for (const [place, serialNumber] of serialNumbers.entries()) {
    assert.equal(vectors.placeOf(serialNumber), place);
    assert.ok(Math.abs(vectors.biasAt(place) - (factors.biases[place] ?? 0)) < 1e-6);
    const read = new Float32Array(tasteDimensions);
    vectors.readInto(place, read);
    for (const [at, value] of read.entries()) {
      const exact = factors.vectors[place * tasteDimensions + at] ?? 0;
      assert.ok(Math.abs(value - exact) < 0.005);
    }
    const product = read.reduce((sum, one) => sum + one * one, 0);
    assert.ok(Math.abs(vectors.productWith(place, read) - product) < 1e-4);
  }
  for (const missing of [0, 4, 2 ** 41]) assert.equal(vectors.placeOf(missing), -1);
  const left = withoutItems(part, new Set([70_000])) ?? Buffer.alloc(0);
  assert.equal(left.length, 2 * recordBytes);
  assert.equal(new ItemVectors(factors, left).placeOf(70_000), -1);
  assert.equal(withoutItems(part, new Set([5])), null);
});

test('a fit that began before an erasure is not stored', async () => {
  const { db } = await openTestDatabase();
  const organizationId = 'org_01jd0000000000000000000000';
  await sql`
    insert into organization (organization_id, name) values (${organizationId}, 'Test')
    on conflict do nothing`.execute(db);
  const fit = {
    parts: [Buffer.alloc(recordBytes)],
    mean: 0,
    spread: 1,
    viewers: 3,
    watches: 9,
    fitMs: 1,
  };
  const due = { organizationId, version: 0, watchedUntil: new Date() };
  await inTransaction(db, (tx) => markStale(tx, organizationId));
  assert.equal(await storeFit(db, due, fit), false);
  const { rows } = await sql`select from taste_part`.execute(db);
  assert.equal(rows.length, 0);
  assert.equal(await storeFit(db, { ...due, version: 1 }, fit), true);
});
