import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FairShare } from './fair-share.ts';

/** Takes one unit at a time for each organization in turn until nothing more fits. */
function fill(share: FairShare, organizations: readonly string[]): Map<string, number> {
  const held = new Map(organizations.map((id) => [id, 0]));
  for (let isFull = false; !isFull;) {
    isFull = true;
    for (const id of organizations) {
      if (!share.fits(id, 1)) continue;
      share.add(id, 1);
      held.set(id, (held.get(id) ?? 0) + 1);
      isFull = false;
    }
  }
  return held;
}

test('alone, an organization gets half; n of them get 1/(n + 1) each', () => {
  assert.deepEqual([...fill(new FairShare(600), ['a']).values()], [300]);
  const two = [...fill(new FairShare(600), ['a', 'b']).values()];
  assert.deepEqual(two, [200, 200]);
  const five = [...fill(new FairShare(600), ['a', 'b', 'c', 'd', 'e']).values()];
  assert.deepEqual(five, [100, 100, 100, 100, 100]);
});

test('whoever holds nothing gets in with all that fits, and never more', () => {
  const share = new FairShare(600);
  fill(share, ['a']);
  assert.ok(!share.fits('a', 1));
  assert.ok(share.fits('b', 300));
  assert.ok(!share.fits('b', 301));
  share.add('b', 300);
  assert.ok(!share.fits('c', 1), 'nothing is left');
});

test('what is given back can be taken again, and the largest holder is known', () => {
  const share = new FairShare(600);
  assert.equal(share.largestHolder(), null);
  share.add('a', 200);
  share.add('b', 250);
  assert.equal(share.largestHolder(), 'b');
  share.remove('b', 250);
  assert.equal(share.largestHolder(), 'a');
  share.remove('a', 200);
  assert.equal(share.heldBytes, 0);
  assert.equal(share.largestHolder(), null);
  assert.ok(share.fits('a', 300));
});

test('whatever is added and removed, the rule is that of the bytes that are held', () => {
  const change = fc.record({
    id: fc.constantFrom('a', 'b', 'c', 'd'),
    bytes: fc.integer({ min: 1, max: 300 }),
    isReturn: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      const share = new FairShare(1_000);
      const held = new Map<string, number>();
      for (const { id, bytes, isReturn } of changes) {
        const own = held.get(id) ?? 0;
        const all = [...held.values()].reduce((sum, each) => sum + each, 0);
        assert.equal(share.heldBytes, all);
        const left = 1_000 - all - bytes;
        assert.equal(share.fits(id, bytes), left >= 0 && (own === 0 || own + bytes <= left));
        if (isReturn) share.remove(id, own);
        else share.add(id, bytes);
        held.set(id, isReturn ? 0 : own + bytes);
        const most = Math.max(...held.values());
        const largest = share.largestHolder();
        assert.equal(largest === null ? 0 : held.get(largest), most);
      }
    }),
  );
});

test('a thousand idle organizations change nothing', () => {
  const share = new FairShare(600);
  for (let index = 0; index < 2_500; index += 1) {
    share.add(`idle ${index}`, 10);
    share.remove(`idle ${index}`, 10);
  }
  assert.equal(share.largestHolder(), null);
  assert.deepEqual([...fill(share, ['a', 'b']).values()], [200, 200]);
});
