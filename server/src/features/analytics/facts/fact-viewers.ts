/**
 * Tracks which viewers are in which groups of facts, so that viewers of several groups can be
 * counted once.
 */
import { MemberPairs } from './member-pairs.ts';

const flagBits = 31;

export class FactViewers {
  /** Pairs that further facts may still change. */
  readonly #open = new MemberPairs();
  // Settled pairs, each once: the viewer, and the group at the same index.
  readonly #members: number[] = [];
  readonly #groups: number[] = [];

  /**
   * @param weight of the fact; a viewer is in a group while the sum of its weights there is
   * positive
   */
  add(member: number, group: number, weight: number): void {
    this.#open.add(member, group, weight);
  }

  /**
   * Call this once all facts of the groups so far have been added, to keep the number of open pairs
   * small.
   */
  settle(): void {
    this.#open.forEach((member, group) => {
      this.#members.push(member);
      this.#groups.push(group);
    });
    this.#open.clear();
  }

  forEach(visit: (member: number, group: number) => void): void {
    const [members, groups] = [this.#members, this.#groups];
    for (let index = 0; index < members.length; index += 1) {
      visit(members[index] ?? 0, groups[index] ?? 0);
    }
  }

  countByGroup(groups: number): Int32Array {
    const counts = new Int32Array(groups);
    for (const group of this.#groups) counts[group] = (counts[group] ?? 0) + 1;
    return counts;
  }

  /**
   * Unique viewers of sets of groups: a viewer in several groups of a set counts once.
   *
   * @param setsOf by group, the sets it belongs to, from 0 to `sets` − 1
   */
  countBySet(sets: number, setsOf: readonly (readonly number[])[]): number[] {
    const counts = Array.from({ length: sets }, () => 0);
    const flagsOf = setsOf.map(flagsOfSets);
    const seen = new MemberPairs();
    this.forEach((member, group) => {
      for (const { word, flags } of flagsOf[group] ?? []) {
        let added = seen.setFlags(member, word, flags);
        for (; added !== 0; added &= added - 1) {
          const set = word * flagBits + 31 - Math.clz32(added & -added);
          counts[set] = (counts[set] ?? 0) + 1;
        }
      }
    });
    return counts;
  }
}

/** Represents sets as bits of numbered words. */
function flagsOfSets(sets: readonly number[]): { word: number; flags: number }[] {
  const words = new Map<number, number>();
  for (const set of sets) {
    const word = Math.floor(set / flagBits);
    words.set(word, (words.get(word) ?? 0) | (1 << (set % flagBits)));
  }
  return [...words].map(([word, flags]) => ({ word, flags }));
}
