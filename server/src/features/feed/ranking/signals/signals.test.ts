/**
 * Proves that each signal follows its formula, stays in [0, 1], and ignores what it should not use.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { affinityOf, usualLikeRate } from './affinity.ts';
import { bucketOf, completionRate, smoothedRate } from './completion-rate.ts';
import { creatorAffinity } from './creator-affinity.ts';
import { engagement, lowerBound, usualRate as usualRateOfTags } from './engagement.ts';
import { geoRelevance, mayBeShownIn, readGeoTargeting } from './geo-relevance.ts';
import { recency } from './recency.ts';
import { topicAffinity } from './topic-affinity.ts';

const hour = 3_600_000;
const near = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 1e-9, `${actual} is not ${expected}`);
const isUnit = (value: number) => assert.ok(value >= 0 && value <= 1, String(value));

describe('recency', () => {
  test('is halved with each half-life, and is 1 for new and future items', () => {
    near(recency(0, 24 * hour, 24), 0.5);
    near(recency(0, 72 * hour, 24), 0.125);
    near(recency(0, 12 * hour, 6), 0.25);
    assert.equal(recency(5 * hour, 0, 24), 1);
    isUnit(recency(0, 1e15, 0.1));
  });
});

describe('engagement', () => {
  const scale = { mean: 0.1, tagRates: new Map([['loved', 0.3]]), low: 0.05, high: 0.2 };

  test("is the position of Wilson's lower bound between the 5th and the 95th percentile", () => {
    // p = (30 + 60·0.1) / (80 + 60) = 0.257142857 over 140 trials.
    near(lowerBound({ shown: 80, reactions: 30 }, 0.1), 0.20154116858451757);
    const wide = { ...scale, high: 0.45 };
    near(engagement({ shown: 80, reactions: 30 }, 0.1, wide), (0.20154116858451757 - 0.05) / 0.4);
  });

  test('grows with reactions, and with certainty at the same rate', () => {
    const at = (shown: number, reactions: number) => engagement({ shown, reactions }, 0.1, scale);
    assert.ok(at(100, 20) > at(100, 10));
    assert.ok(at(1_000, 100) > at(100, 10));
    assert.ok(at(0, 0) < at(1_000, 100));
    for (const [shown, reactions] of [
      [0, 0],
      [1, 100],
      [1e9, 1e9],
      [1e9, 0],
    ] as const) {
      isUnit(at(shown, reactions));
    }
  });

  test('an item is assumed to perform like items with its tags until its own data say otherwise', () => {
    near(usualRateOfTags(['loved', 'unknown'], scale), 0.2);
    near(usualRateOfTags([], scale), 0.1);
    const at = (shown: number, reactions: number, tags: string[]) =>
      engagement({ shown, reactions }, usualRateOfTags(tags, scale), scale);
    assert.ok(at(0, 0, ['loved']) > at(0, 0, []));
    assert.ok(at(5_000, 400, ['loved']) < at(5_000, 700, []));
  });

  test('is neutral if all items are equal', () => {
    const flat = { ...scale, low: 0, high: 0 };
    assert.equal(engagement({ shown: 50, reactions: 0 }, 0, flat), 0.5);
  });
});

describe('completionRate', () => {
  const bucket = { mean: 0.5, rates: [0.2, 0.4, 0.5, 0.6, 0.9] };

  test('compares only clips of similar length', () => {
    assert.deepEqual(
      [1, 10, 10.1, 20, 45, 90, 180, 181, null].map(bucketOf),
      [0, 0, 1, 1, 2, 3, 4, 5, 6],
    );
  });

  test('is the rank of the smoothed rate among the others', () => {
    near(smoothedRate({ plays: 80, completions: 80 }, 0.5), 0.9);
    near(completionRate({ plays: 80, completions: 80 }, bucket), 5.5 / 7);
    near(completionRate({ plays: 0, completions: 0 }, bucket), 0.5);
    assert.ok(
      completionRate({ plays: 3, completions: 3 }, bucket) < 5 / 7,
      'three plays prove little',
    );
    isUnit(completionRate({ plays: 1, completions: 50 }, bucket));
  });

  test('is neutral if nobody has played anything of that length', () => {
    assert.equal(completionRate({ plays: 0, completions: 0 }, { mean: null, rates: [] }), 0.5);
  });
});

describe('topicAffinity and creatorAffinity', () => {
  test('an affinity is relative to what the viewer usually does', () => {
    const usual = usualLikeRate({ liked: 5, disliked: 5 });
    assert.equal(usual, 0.5);
    assert.equal(affinityOf({ liked: 0, disliked: 0 }, usual), 0.5);
    // Rate (5 + 2.5) / (5 + 5) = 0.75, odds ratio 3, 3³ / (1 + 3³).
    near(affinityOf({ liked: 5, disliked: 0 }, usual), 27 / 28);
    near(affinityOf({ liked: 0, disliked: 5 }, usual), 1 / 28);
    near(affinityOf({ liked: 9, disliked: 1 }, 0.9), 0.5);
    assert.ok(affinityOf({ liked: 6, disliked: 4 }, 0.9) < 0.2, 'liked less than usual');
    isUnit(affinityOf({ liked: 1e9, disliked: 0 }, usualLikeRate({ liked: 1e9, disliked: 0 })));
    isUnit(affinityOf({ liked: 0, disliked: 1e9 }, usualLikeRate({ liked: 0, disliked: 1e9 })));
  });

  test('an item has the mean of its tags', () => {
    const affinities = new Map([
      ['a', 0.9],
      ['b', 0.8],
      ['d', 0.1],
    ]);
    near(topicAffinity(['a', 'b', 'd'], affinities), 0.6);
    near(topicAffinity(['d', 'b', 'a'], affinities), 0.6);
    near(topicAffinity(['d'], affinities), 0.1);
    near(topicAffinity(['a', 'unknown'], affinities), 0.7);
    assert.equal(topicAffinity([], affinities), 0.5);
    assert.equal(topicAffinity(['a'], new Map()), 0.5);
  });

  test('over viewers with different tastes, an item gains nothing by having all their tags', () => {
    const topics = ['a', 'b', 'c', 'd', 'e', 'f'];
    const viewers = topics.map((topic) => new Map([[topic, 0.94]]));
    const gainOf = (tags: readonly string[]) =>
      viewers.reduce((sum, viewer) => sum + topicAffinity(tags, viewer) - 0.5, 0);
    for (let count = 1; count <= topics.length; count += 1) {
      assert.ok(gainOf(topics.slice(0, count)) <= gainOf(['a']) + 1e-12, `${count} tags`);
    }
  });

  test('an unknown or missing author is neutral', () => {
    const affinities = new Map([['Ada', 0.8]]);
    assert.equal(creatorAffinity('Ada', affinities), 0.8);
    assert.equal(creatorAffinity('Bob', affinities), 0.5);
    assert.equal(creatorAffinity(null, affinities), 0.5);
  });
});

describe('geoRelevance', () => {
  const all = {
    total: 1_000,
    countries: new Map([
      ['DE', 500],
      ['FR', 500],
    ]),
  };
  const german = { total: 100, countries: new Map([['DE', 100]]) };

  test('a declaration decides', () => {
    const geo = readGeoTargeting({ include: ['de'], exclude: ['us'] });
    assert.equal(geoRelevance(geo, german, all, 'DE'), 1);
    assert.equal(geoRelevance(geo, german, all, 'FR'), 0);
    assert.equal(geoRelevance(geo, german, all, null), 0.5);
    assert.equal(mayBeShownIn(geo, 'US'), false);
    assert.equal(mayBeShownIn(geo, 'DE'), true);
    assert.equal(mayBeShownIn(geo, null), true);
  });

  test('otherwise the smoothed lift over the usual share decides', () => {
    // (100 + 20·0.5) / 120 = 0.9167; lift 11/6.
    near(geoRelevance(null, german, all, 'DE'), 11 / 17);
    assert.ok(geoRelevance(null, german, all, 'FR') < 0.5);
    assert.equal(geoRelevance(null, null, all, 'DE'), 0.5);
    assert.equal(geoRelevance(null, german, all, 'JP'), 0.5);
    assert.equal(geoRelevance(null, german, { total: 0, countries: new Map() }, 'DE'), 0.5);
  });

  test('a malformed declaration is ignored', () => {
    for (const value of [
      null,
      1,
      'DE',
      [],
      {},
      { include: 'DE' },
      { include: [] },
      { include: [1] },
    ]) {
      assert.equal(readGeoTargeting(value), null, JSON.stringify(value));
    }
  });
});
