import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Bag } from './bag.ts';

const names = (bag: Bag<{ name: string; place: number }>) =>
  Array.from(bag, ({ name }) => name).toSorted();

test('a bag holds what was added and not deleted', () => {
  const bag = new Bag<{ name: string; place: number }>();
  const members = Array.from('abcdef', (name) => ({ name, place: 0 }));
  for (const member of members) bag.add(member);
  assert.equal(bag.size, 6);
  const [a, b, c, , , f] = members;
  assert.ok(a && b && c && f);
  assert.equal(bag.delete(b), true, 'from the middle');
  assert.equal(bag.delete(f), true, 'the one that was moved');
  assert.deepEqual(names(bag), ['a', 'c', 'd', 'e']);
  assert.equal(bag.delete(b), false, 'it has gone before');
  assert.equal(bag.has(b), false);
  assert.equal(bag.has(c), true);
  bag.add(b);
  assert.deepEqual(names(bag), ['a', 'b', 'c', 'd', 'e']);
  for (const member of members) bag.delete(member);
  assert.equal(bag.size, 0);
});

test('any order of additions and deletions leaves what a Set would hold', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20), { maxLength: 300 }), (steps) => {
      const bag = new Bag<{ name: string; place: number }>();
      const set = new Set<{ name: string; place: number }>();
      const members = Array.from({ length: 21 }, (_, n) => ({ name: String(n), place: 0 }));
      for (const step of steps) {
        const member = members[step];
        assert.ok(member);
        if (set.has(member)) assert.equal(bag.delete(member), set.delete(member));
        else {
          bag.add(member);
          set.add(member);
        }
        assert.equal(bag.size, set.size);
      }
      assert.deepEqual(new Set(bag), set);
    }),
    { numRuns: 60 },
  );
});
