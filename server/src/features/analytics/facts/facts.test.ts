import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { columnIndex, emptyAudienceCounts } from '../projections/engagement/contribution.ts';
import { createRandom } from '../../../../test/recount/traffic.ts';
import { decodeFacts, encodeFacts } from './codec.ts';
import {
  contentIdOf,
  contentKey,
  countOffset,
  factColumn,
  factColumnCount,
  FactsBuilder,
  type Fact,
  type Facts,
} from './facts.ts';
import { FactViewers } from './fact-viewers.ts';
import { MemberPairs } from './member-pairs.ts';
import { mergeFacts } from './merge.ts';

const random = createRandom(5);
const below = (end: number) => Math.floor(random() * end);
const ids = [
  '',
  ...Array.from({ length: 5 }, (_, index) => `0198c0de-0000-7000-8000-00000000000${index}`),
];

/** Draws from few values so that many facts are equal. Some values are the largest possible. */
function someFact(weight: number): Fact {
  const counts = emptyAudienceCounts();
  counts[below(3)] = [1, 300, 70_000, 2 ** 32 - 1][below(4)] ?? 0;
  return {
    weight,
    member: [0, 7, 2 ** 53 - 1][below(3)] ?? 0,
    contentId: ids[below(6)] ?? '',
    hour: below(2),
    device: below(2),
    country: 0,
    entryPoint: ['', 'abcdefgh'][below(2)] ?? '',
    appVersion: ['', '\u0000\u00ff345678'][below(2)] ?? '',
    startup: 0,
    reached: 0,
    isWatched: 1,
    feedId: '',
    sharePlatform: '',
    rendition: ['', 'rendition'.slice(0, 8)][below(2)] ?? '',
    codec: '',
    errorCode: '',
    errorMessage: '',
    position: below(3),
    counts,
  };
}

function build(facts: readonly Fact[]): Facts {
  const builder = new FactsBuilder();
  for (const fact of facts) builder.add(fact);
  return builder.build();
}

/** The total weight of each distinct fact. */
function weigh(facts: readonly Fact[]): Map<string, number> {
  const weights = new Map<string, number>();
  for (const { weight, ...rest } of facts) {
    const key = JSON.stringify({ ...rest, counts: [...Array.from(rest.counts)] });
    weights.set(key, (weights.get(key) ?? 0) + weight);
  }
  return weights;
}

describe('facts', () => {
  test('are unchanged by storing them, compressed or not', () => {
    for (const size of [0, 1, 100, 5_000]) {
      const facts = build(Array.from({ length: size }, () => someFact(1 - below(3))));
      const { rows, contents, labels, columns } = decodeFacts(encodeFacts(facts));
      assert.deepEqual({ rows, contents, labels, columns }, facts);
    }
    assert.throws(() => decodeFacts(Buffer.alloc(64)));
  });

  test('merge in any order: equal rows become one, and those of weight 0 are dropped', () => {
    const facts = Array.from({ length: 3_000 }, (_, index) => someFact(index % 3 === 0 ? -1 : 1));
    const taken = facts.slice(0, 500).map((fact) => ({ ...fact, weight: -fact.weight }));
    const parts = [facts.slice(0, 900), facts.slice(900), taken].map(build);
    const expected = [...weigh([...facts, ...taken]).values()].filter((weight) => weight !== 0);
    for (const order of [parts, parts.toReversed()]) {
      const merged = mergeFacts(order);
      assert.equal(merged.rows, expected.length);
      assert.deepEqual(
        mergeFacts([mergeFacts(order.slice(0, 2)), ...order.slice(2)]).rows,
        merged.rows,
      );
    }
    const column = mergeFacts(parts).columns[factColumn.weight];
    const coded = expected.map((weight) => (weight >= 0 ? weight * 2 : -weight * 2 - 1));
    assert.deepEqual([...(column ?? [])].toSorted(), coded.toSorted());
    assert.equal(
      mergeFacts([build(facts), build(facts.map((one) => ({ ...one, weight: -one.weight })))]).rows,
      0,
    );
  });
});

test('chunks of the previous version are read in the current order and units', () => {
  const fact = { ...someFact(1), rendition: '', position: 0 };
  const row = build([fact]);
  const unlikes = countOffset + columnIndex.unlikes;
  const share = countOffset + columnIndex.watched_share;
  const thousandths = {
    ...row,
    columns: row.columns.with(unlikes, null).with(share, Uint16Array.of(250)),
  };
  const bytes = encodeFacts(thousandths);
  const read = decodeFacts(asEarlierChunk(bytes, row));
  assert.equal(read.columns.length, factColumnCount);
  assert.equal(read.columns[unlikes], null);
  assert.equal(read.columns[share]?.[0], 2_500_000);
  const sessions = countOffset + columnIndex.sessions;
  assert.deepEqual(read.columns[sessions], row.columns[sessions]);
});

/** Version 1 chunks had 11 keys and 26 counts: no `unlikes`, and no follow-on plays. */
function asEarlierChunk(bytes: Buffer, { contents, labels }: Facts): Buffer {
  const widthsAt = 16 + contents.length * 16 + labels.length * 8;
  const widths = [...bytes.subarray(widthsAt, widthsAt + factColumnCount)];
  const counts = widths.slice(countOffset, -1).toSpliced(columnIndex.unlikes, 1);
  const earlier = [...widths.slice(0, 11), ...counts];
  assert.equal(earlier.length, 37);
  const padded = (size: number) => Math.ceil(size / 8) * 8;
  const head = Buffer.alloc(padded(widthsAt + earlier.length));
  bytes.copy(head, 0, 0, widthsAt);
  head.set(earlier, widthsAt);
  head.writeUInt32LE(1, 0);
  return Buffer.concat([head, bytes.subarray(padded(widthsAt + factColumnCount))]);
}

test('a viewer counts in a group as long as any of its facts remain there', () => {
  const pairs = new MemberPairs();
  const expected = new Map<string, number>();
  for (let turn = 0; turn < 50_000; turn += 1) {
    const [member, group] = [1 + below(5_000) * 2 ** 40, below(7)];
    const times = below(3) - 1;
    pairs.add(member, group, times);
    const key = `${member} ${group}`;
    expected.set(key, (expected.get(key) ?? 0) + times);
  }
  const found: string[] = [];
  pairs.forEach((member, group) => found.push(`${member} ${group}`));
  const left = [...expected].filter(([, times]) => times > 0).map(([key]) => key);
  assert.deepEqual(found.toSorted(), left.toSorted());
});

test('the id of an item survives its conversion to a key and back', () => {
  const id = '0198c0de-00ff-7000-8000-f00000000001';
  assert.equal(contentIdOf(contentKey(id)), id);
  assert.equal(contentKey(id).length, 8);
  assert.equal(contentIdOf(contentKey('')), '');
});

test('viewers of sets of groups count once in each set, however many sets there are', () => {
  const [groups, sets] = [90, 75];
  const setsOf = Array.from({ length: groups }, () =>
    Array.from({ length: sets }, (_, set) => set).filter(() => below(4) === 0),
  );
  const viewers = new FactViewers();
  const expected = Array.from({ length: sets }, () => new Set<number>());
  for (let group = 0; group < groups; group += 1) {
    for (let turn = 0; turn < 40; turn += 1) {
      const member = 1 + below(200) * 2 ** 40;
      viewers.add(member, group, 1);
      for (const set of setsOf[group] ?? []) expected[set]?.add(member);
    }
    // A viewer whose facts are cancelled out counts nowhere.
    viewers.add(7, group, 1);
    viewers.add(7, group, -1);
    if (group % 3 === 0) viewers.settle();
  }
  viewers.settle();
  assert.deepEqual(
    viewers.countBySet(sets, setsOf),
    expected.map((members) => members.size),
  );
});
