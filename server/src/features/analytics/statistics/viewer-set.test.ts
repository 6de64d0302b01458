import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { openTestDatabase } from '../../../../test/database.ts';
import { ViewerSecrets } from '../../organizations/organizations.ts';
import { hashViewer, memberOf } from './viewer-key.ts';
import {
  addViewer,
  countViewers,
  createViewerSet,
  decodeViewerSet,
  encodeViewerSet,
  mergeViewerSets,
  type ViewerSet,
} from './viewer-set.ts';

const { db } = await openTestDatabase();
const organizations = ['org_a', 'org_b', ...Array.from({ length: 12 }, (_, n) => `org_${n}`)];
await db
  .insertInto('organization')
  .values(
    // With fixed secrets, an estimate is the same in every run.
    organizations.map((id, n) => ({
      organization_id: id,
      name: id,
      viewer_secret: Buffer.alloc(32, n + 1),
    })),
  )
  .execute();
const secrets = new ViewerSecrets();
await secrets.load(db, organizations);

function member(number: number, organization = 'org_a'): number {
  return memberOf(hashViewer(secrets, organization, `u:user-${number}`));
}

function setOf(members: readonly number[]): ViewerSet {
  const set = createViewerSet();
  for (const one of members) addViewer(set, one);
  return set;
}

const range = (count: number) => Array.from({ length: count }, (_, number) => member(number));

describe('a set of viewers', () => {
  test('is exact up to 1,024, even after being stored', () => {
    for (const count of [0, 1, 2, 1_023, 1_024]) {
      const set = setOf([...range(count), ...range(count)]);
      assert.equal(countViewers(set), count);
      assert.equal(countViewers(decodeViewerSet(encodeViewerSet(set))), count);
    }
  });

  test('reports whether it has changed', () => {
    const set = setOf(range(10));
    assert.equal(addViewer(set, member(3)), false);
    assert.equal(addViewer(set, member(10)), true);
  });

  test('has the same bytes for the same members, regardless of how it was built', () => {
    const members = range(3_000);
    const sets = fc.record({
      count: fc.oneof(fc.nat(20), fc.integer({ min: 1_000, max: 1_050 }), fc.nat(3_000)),
      parts: fc.integer({ min: 1, max: 7 }),
      /** The first member, and the distance to the next one. */
      start: fc.nat(3_000),
      stride: fc.constantFrom(1, 7, 11, 13),
      /** The number of parts that contain each member. */
      copies: fc.integer({ min: 1, max: 2 }),
    });
    fc.assert(
      fc.property(sets, ({ count, parts: partCount, start, stride, copies }) => {
        const own = members.slice(0, count);
        const parts = Array.from({ length: partCount }, () => createViewerSet());
        const order = own.map((_, at) => (start + at * stride) % Math.max(1, count));
        for (const at of [...order, ...own.keys()]) {
          for (let copy = 0; copy < copies; copy += 1) {
            const part = parts[(at * (copy + 1)) % partCount];
            const one = own[at];
            if (part !== undefined && one !== undefined) addViewer(part, one);
          }
        }
        const merged = createViewerSet();
        for (const part of parts) mergeViewerSets(merged, decodeViewerSet(encodeViewerSet(part)));
        assert.deepEqual(encodeViewerSet(merged), encodeViewerSet(setOf(own)));
      }),
      { numRuns: 20 },
    );
  });

  test('estimates within a few per cent above that', () => {
    // The standard error is 0.8 %; check the root mean square over many sets.
    for (const count of [1_500, 10_000, 60_000]) {
      const errors = Array.from({ length: 12 }, (_, organization) => {
        const set = createViewerSet();
        for (let number = 0; number < count; number += 1) {
          addViewer(set, member(number, `org_${organization}`));
        }
        return countViewers(set) / count - 1;
      });
      const square = errors.reduce((sum, error) => sum + error ** 2, 0) / errors.length;
      assert.ok(Math.sqrt(square) < 0.015, `${count}: ${errors.join(' ')}`);
      assert.ok(errors.every((error) => Math.abs(error) < 0.04));
    }
  });

  test('rejects invalid bytes', () => {
    for (const bytes of [[], [1, 2], [2, 0, 0], [9]]) {
      assert.throws(() => decodeViewerSet(Uint8Array.from(bytes)), /not an encoded viewer set/);
    }
  });
});

test('hashes of viewers differ, by organization and by the kind of id', () => {
  const hashes = new Set<string>();
  for (let number = 0; number < 200_000; number += 1)
    hashes.add(hashViewer(secrets, 'org_a', `u:${number}`));
  assert.equal(hashes.size, 200_000);
  assert.notEqual(hashViewer(secrets, 'org_a', 'u:1'), hashViewer(secrets, 'org_b', 'u:1'));
  assert.notEqual(hashViewer(secrets, 'org_a', 'u:1'), hashViewer(secrets, 'org_a', 'd:1'));
  // Every bit of a member is set about half the time.
  const ones = Array.from({ length: 53 }, () => 0);
  for (const hash of hashes) {
    const bits = memberOf(hash).toString(2).padStart(53, '0');
    for (const [place, bit] of [...bits].entries())
      if (bit === '1') ones[place] = (ones[place] ?? 0) + 1;
  }
  for (const count of ones) assert.ok(Math.abs(count / 200_000 - 0.5) < 0.01);
});
