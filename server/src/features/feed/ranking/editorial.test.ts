/** Tests which editorial rules are in effect at a given time, and where pins are placed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { OrganizationIndex } from '../items/organization-index.ts';
import { EditorialRules, maxFactor, type EditorialRule } from './editorial.ts';
import { contentIdOf, item, nowMs } from './testing/small-world.ts';

const rule = (given: Partial<EditorialRule>): EditorialRule => ({
  type: 'boost',
  match: {},
  factor: null,
  position: null,
  startsAtMs: -Infinity,
  endsAtMs: Infinity,
  ...given,
});
const [entry] = new OrganizationIndex([
  item(1, { tags: ['a', 'b'], author: 'ada', section: 'news' }),
]).newestFirst;
assert.ok(entry !== undefined);
const known = entry;

test('a rule applies from its start until just before its end', () => {
  const exclude = { type: 'exclude', match: { author: 'ada' } } as const;
  const holds = (given: Partial<EditorialRule>) =>
    new EditorialRules([rule({ ...exclude, ...given })], nowMs).excludes(known);
  assert.equal(holds({}), true);
  assert.equal(holds({ startsAtMs: nowMs }), true);
  assert.equal(holds({ startsAtMs: nowMs + 1 }), false);
  assert.equal(holds({ endsAtMs: nowMs }), false);
  assert.equal(holds({ endsAtMs: nowMs + 1 }), true);
});

test('all conditions of a rule must match, but only one of its tags', () => {
  const excludes = (match: EditorialRule['match']) =>
    new EditorialRules([rule({ type: 'exclude', match })], nowMs).excludes(known);
  const right = { contentId: contentIdOf(1), tags: ['x', 'b'], author: 'ada', section: 'news' };
  assert.equal(excludes(right), true);
  for (const wrong of [
    { contentId: contentIdOf(2) },
    { tags: ['x'] },
    { author: 'bob' },
    { section: 'sport' },
  ]) {
    assert.equal(excludes({ ...right, ...wrong }), false, JSON.stringify(wrong));
  }
});

test('factors of matching rules multiply, up to a bound, and are 1 if nothing matches', () => {
  const factors = fc.array(fc.double({ min: 0.01, max: 100, noNaN: true }), { maxLength: 6 });
  fc.assert(
    fc.property(factors, factors, (own, others) => {
      const rules = new EditorialRules(
        [
          ...own.map((factor) => rule({ factor, match: { author: 'ada' } })),
          ...others.map((factor) => rule({ factor, match: { author: 'bob' } })),
        ],
        nowMs,
      );
      const product = own.reduce((sofar, factor) => sofar * factor, 1);
      assert.equal(rules.factorOf(known), own.length === 0 ? 1 : Math.min(maxFactor, product));
      assert.equal(rules.boosted.length, own.length + others.length);
    }),
    { numRuns: 100 },
  );
});

test('pins keep their places, and a later one for a taken place gets the next free one', () => {
  const positions = fc.array(fc.nat(8), { maxLength: 8 });
  fc.assert(
    fc.property(positions, (wanted) => {
      const { pins } = new EditorialRules(
        wanted.map((position, at) =>
          rule({ type: 'pin', position, match: { contentId: String(at) } }),
        ),
        nowMs,
      );
      const places = pins.map(({ place }) => place);
      assert.equal(new Set(places).size, wanted.length);
      const taken = new Set<number>();
      // The older rule first, among those for one position.
      for (const { place, position, match } of pins) {
        assert.equal(wanted[Number(match.contentId)], position);
        for (let at = position; at < place; at += 1) assert.ok(taken.has(at), 'no gap before it');
        assert.ok(place >= position);
        taken.add(place);
      }
      for (const [at, pin] of pins.entries()) {
        const before = pins[at - 1];
        if (before?.position !== pin.position) continue;
        assert.ok(Number(before.match.contentId) < Number(pin.match.contentId));
      }
    }),
    { numRuns: 200 },
  );
  const others = [rule({ position: 3 }), rule({ type: 'pin' })];
  assert.deepEqual(new EditorialRules(others, nowMs).pins, [], 'only pins with a position');
});

test('rules are the same if they are the same objects in the same order', () => {
  const [a, b] = [rule({ factor: 2 }), rule({ factor: 3 })];
  const of = (...all: EditorialRule[]) => new EditorialRules(all, nowMs);
  assert.equal(of(a, b).isSameAs(of(a, b)), true);
  assert.equal(of(a, b).isSameAs(of(b, a)), false);
  assert.equal(of(a, b).isSameAs(of(a)), false);
  assert.equal(of(a).isSameAs(of({ ...a })), false);
  const pinned = of(rule({ type: 'pin', position: 0, match: { author: 'ada' } }));
  assert.deepEqual([pinned.isPinned(known), of(a).isPinned(known)], [true, false]);
});
