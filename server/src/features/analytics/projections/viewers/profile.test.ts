import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, shuffled } from '../../reports/traffic.fixture.ts';
import {
  addEncounter,
  fadedWeight,
  latestEncounters,
  readEncounters,
  writeEncounters,
  type Encounter,
  type Profile,
} from './profile.ts';

const now = 1_790_000_000;

function idOf(number: number): string {
  return `0198c0de-0000-7000-8000-${String(number).padStart(12, '0')}`;
}

test('weights fade to half in two weeks, and dislikes stay dislikes', () => {
  const encounter = { second: now - 14 * 86_400, weight: 8, country: '' };
  assert.equal(fadedWeight(encounter, now * 1_000), 4);
  assert.equal(fadedWeight({ ...encounter, weight: -2 }, now * 1_000), -1);
  assert.equal(fadedWeight({ ...encounter, second: now + 300 }, now * 1_000), 8);
});

test('a profile does not depend on the order and the parts in which it was stored', () => {
  const random = createRandom(6);
  for (let round = 0; round < 200; round += 1) {
    const met: [string, Encounter][] = Array.from({ length: 60 }, (_, index) => [
      idOf(Math.floor(random() * 15)),
      {
        second: now - Math.floor(random() * 10),
        weight: Math.floor(random() * 8) - 2,
        country: ['DE', 'FR', ''][index % 3] ?? '',
      },
    ]);
    const expected: Profile = new Map();
    for (const [contentId, encounter] of met) addEncounter(expected, contentId, encounter);
    const mixed = shuffled(met, round);
    const parts = [mixed.slice(0, 7), mixed.slice(7, 40), mixed.slice(40)].map((part) => {
      const profile: Profile = new Map();
      for (const [contentId, encounter] of part) addEncounter(profile, contentId, encounter);
      return writeEncounters([...profile]);
    });
    const read = readEncounters(Buffer.concat(parts));
    assert.equal(read.size, expected.size);
    for (const [contentId, encounter] of expected) assert.deepEqual(read.get(contentId), encounter);
  }
});

test('a profile is bounded: the latest that say something, and the latest of the others', () => {
  const profile: Profile = new Map();
  for (let number = 0; number < 1_000; number += 1) {
    const weight = number % 2 === 0 ? 10 : 1;
    addEncounter(profile, idOf(number), { second: now - number, weight, country: 'DE' });
  }
  const kept = new Set(latestEncounters(profile).map(([contentId]) => contentId));
  assert.equal(kept.size, 400);
  assert.ok(kept.has(idOf(399)) && !kept.has(idOf(400)));
  assert.equal(writeEncounters(latestEncounters(profile)).length, 9_600);
});
