/** Tests when the ranked candidates of a viewer are reused, and when they are recomputed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Choice, type ChoiceParts } from './choice.ts';
import { baseConfig } from './config.ts';
import { EditorialRules, type EditorialRule } from './editorial.ts';
import { noFilter } from './filter.ts';
import { keepPool, leaveOutServed, poolOf, type Session } from './pool.ts';
import { weightedSum } from './scorer.ts';
import { shortlistSize } from './sources.ts';
import { contentIdOf, item, nowMs, partsOf, viewerOf } from './testing/small-world.ts';

const items = Array.from({ length: 200 }, (_, at) => item(at + 1));
const session: Session = { feedId: 'fed_a', served: new Set() };

/** Whether the candidates cached for `parts` are reused for `next`, as the same objects. */
function isKept(
  parts: ChoiceParts,
  next: Partial<ChoiceParts> = {},
  sessions: [Session, Session] = [session, session],
): boolean {
  keepPool(parts, sessions[0]);
  const first = poolOf(new Choice(parts), sessions[0]);
  const choice = new Choice({ ...parts, ...next });
  leaveOutServed(choice, sessions[1]);
  const second = poolOf(choice, sessions[1]);
  return second.length > 0 && second.every((one) => first.includes(one));
}

const rule: EditorialRule = {
  type: 'boost',
  match: { tags: ['a'] },
  factor: 2,
  position: null,
  startsAtMs: -Infinity,
  endsAtMs: Infinity,
};

test('candidates are kept for three seconds while nothing changes', () => {
  const parts = partsOf(items);
  assert.equal(poolOf(new Choice(parts), session).length, shortlistSize);
  assert.equal(isKept(parts), true);
  assert.equal(isKept(parts, { nowMs: nowMs + 2_999 }), true);
  assert.equal(isKept(parts, { nowMs: nowMs + 3_000 }), false);
});

test('a change of anything that the order depends on recomputes the candidates', () => {
  const rules = new EditorialRules([rule], nowMs);
  const changes: Record<string, Partial<ChoiceParts>> = {
    country: { country: 'DE' },
    rules: { rules },
    scorer: { scorer: weightedSum({ ...baseConfig.weights, recency: 9 }) },
    halfLife: { config: { ...baseConfig, recencyHalfLifeHours: 1 } },
    index: { index: partsOf(items).index },
    viewer: { viewer: viewerOf([]) },
  };
  for (const [name, change] of Object.entries(changes)) {
    assert.equal(isKept(partsOf(items), change), false, name);
  }
  const same = { rules: new EditorialRules([rule], nowMs) };
  assert.equal(isKept(partsOf(items, { rules }), same), true, 'the same rules');
});

test('a change of an item or of the counts recomputes the candidates', async () => {
  const parts = partsOf(items);
  keepPool(parts, session);
  const [first] = poolOf(new Choice(parts), session);
  await parts.index.apply([item(1, { revision: 2, tags: ['new'] })]);
  assert.ok(first && !poolOf(new Choice(parts), session).includes(first));
  keepPool(parts, session);
  const [second] = poolOf(new Choice(parts), session);
  parts.index.statistics.refresh(nowMs);
  assert.ok(second && !poolOf(new Choice(parts), session).includes(second));
});

test('candidates are never cached with filters, with excluded items or during an outage', () => {
  const odd: Record<string, Partial<ChoiceParts>> = {
    filter: { filter: { ...noFilter, contentType: 'video' } },
    excluded: { excludedIds: new Set([contentIdOf(1)]) },
    outage: { canPresent: () => true },
  };
  for (const [name, given] of Object.entries(odd)) {
    assert.equal(isKept(partsOf(items, given)), false, name);
    const parts = partsOf(items);
    assert.equal(isKept(parts, given), false, `${name}, after it was kept`);
  }
});

test('items served in one session are excluded only for that session', () => {
  const served = { feedId: 'fed_a', served: new Set([1, 2, 3]) };
  const other = { feedId: 'fed_b', served: new Set<number>() };
  assert.equal(isKept(partsOf(items), {}, [served, served]), true);
  assert.equal(isKept(partsOf(items), {}, [served, other]), false);
  assert.equal(isKept(partsOf(items), {}, [session, other]), true);
});

test('with fewer than 110 left they are made anew, and what is not due is left out', () => {
  const parts = partsOf(items);
  const newest = (count: number) => ({
    feedId: 'fed_a',
    served: new Set(items.slice(-count).map(({ serialNumber }) => serialNumber)),
  });
  assert.equal(isKept(parts, {}, [session, newest(40)]), true);
  assert.equal(isKept(parts, {}, [session, newest(41)]), false);
  const ending = partsOf(items.map((one) => ({ ...one, expiresAtMs: nowMs + 1 })));
  keepPool(ending, session);
  assert.equal(poolOf(new Choice({ ...ending, nowMs: nowMs + 1 }), session).length, 0);
});
