/** Proves that explanations match the order, and give its reasons. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { emptyEncounter } from '../viewers/encounter.ts';
import { ViewerProfile } from '../viewers/viewer-profile.ts';
import { Choice, type ChoiceParts } from './choice.ts';
import { EditorialRules, type EditorialRule } from './editorial.ts';
import { explain, rank } from './rank.ts';
import { weightedSum } from './scorer.ts';
import { signalNames } from './signals/table.ts';
import { item, nowMs, partsOf, viewerOf } from './testing/small-world.ts';
import { baseWeights } from './weights.ts';

const ruleOf = (factor: number, author: string): EditorialRule => ({
  type: factor > 1 ? 'boost' : 'suppress',
  match: { author },
  factor,
  position: null,
  startsAtMs: -Infinity,
  endsAtMs: Infinity,
});
const items = Array.from({ length: 12 }, (_, at) =>
  item(at + 1, { author: ['ada', 'bob', 'cy'][at % 3] ?? null, tags: [`t${at % 2}`] }),
);

/** A viewer who has seen item 1 and has rejected the author of item 2. */
function refusingViewer(): ViewerProfile {
  const second = nowMs / 1_000;
  const refused = { item: 0, author: 2 * nowMs + 1, tag: 0 };
  const encounters = new Map([
    [1, { ...emptyEncounter(), second, seenSecond: second }],
    [2, { ...emptyEncounter(), second, refused }],
  ]);
  const about = (serialNumber: number) => items[serialNumber - 1] ?? null;
  return new ViewerProfile(encounters, about, { nowMs, isIdentified: true });
}

function explained(parts: ChoiceParts, serialNumber: number, extra: readonly string[] = []) {
  const entry = parts.index.find(serialNumber);
  assert.ok(entry !== undefined);
  return explain(new Choice(parts), entry, extra);
}

test('candidates are in the order of their keys: scores times factors', () => {
  const factors = fc.constantFrom(0.5, 1, 2, 4);
  fc.assert(
    fc.property(factors, factors, (ofAda, ofBob) => {
      const rules = new EditorialRules([ruleOf(ofAda, 'ada'), ruleOf(ofBob, 'bob')], nowMs);
      const viewer = refusingViewer();
      const parts = partsOf(items, { rules, viewer });
      const found = rank(new Choice(parts), [...parts.index.newestFirst]);
      assert.equal(found.length, items.length);
      for (const [at, { entry, score, key }] of found.entries()) {
        const byEditors = entry.author === 'ada' ? ofAda : entry.author === 'bob' ? ofBob : 1;
        assert.ok(Math.abs(key - score * byEditors * viewer.factorOf(entry)) < 1e-12);
        assert.ok(key <= (found[at - 1]?.key ?? Infinity));
        assert.equal(explained(parts, entry.serialNumber).score, score);
      }
    }),
    { numRuns: 40 },
  );
});

test('the reasons are the sources, the rules, the viewer, and the two strongest signals', () => {
  const rules = new EditorialRules([ruleOf(2, 'ada'), ruleOf(0.5, 'cy')], nowMs);
  const parts = partsOf(items, { rules, viewer: refusingViewer() });
  const reasons = (serialNumber: number, extra?: readonly string[]) =>
    explained(parts, serialNumber, extra).reasons.filter(
      (reason) => !(signalNames as readonly string[]).includes(reason),
    );
  assert.deepEqual(reasons(1), ['boosted', 'seenBefore']);
  assert.deepEqual(reasons(2), ['notInterested']);
  assert.deepEqual(reasons(3), ['suppressed']);
  assert.deepEqual(reasons(4, ['exploration']), ['exploration', 'boosted']);
  const plain = explained(partsOf(items, { viewer: viewerOf([]) }), 2);
  assert.equal(plain.reasons.length, 2);
  const strongest = signalNames.toSorted(
    (a, b) => (plain.contributions[b] ?? 0) - (plain.contributions[a] ?? 0),
  );
  assert.deepEqual(plain.reasons, strongest.slice(0, 2));
  for (const name of signalNames) {
    const weights = { ...baseWeights, [name]: 1_000 };
    const { reasons: found } = explained(partsOf(items, { scorer: weightedSum(weights) }), 2);
    assert.equal(found[0], name, 'the heaviest signal');
  }
  for (const signal of Object.values(plain.signals)) assert.ok(signal >= 0 && signal <= 1);
});
