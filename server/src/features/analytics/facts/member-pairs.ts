/**
 * Counts how often each viewer is in each group. This is a hash table in typed arrays, because a
 * report reads millions of facts and a `Map` takes four times as long.
 */
export class MemberPairs {
  #members = new Float64Array(1_024);
  #groups = new Int32Array(1_024);
  #counts = new Int32Array(1_024);
  #size = 0;

  /** @param member above 0 */
  add(member: number, group: number, times: number): void {
    const place = this.#claim(member, group);
    this.#counts[place] = (this.#counts[place] ?? 0) + times;
  }

  /** For pairs that carry flags instead of a count. Returns the flags that were not set before. */
  setFlags(member: number, group: number, flags: number): number {
    const place = this.#claim(member, group);
    const before = this.#counts[place] ?? 0;
    this.#counts[place] = before | flags;
    return flags & ~before;
  }

  clear(): void {
    this.#members.fill(0);
    this.#counts.fill(0);
    this.#size = 0;
  }

  /** Visits the pairs whose sum is positive. */
  forEach(visit: (member: number, group: number) => void): void {
    const [members, groups, counts] = [this.#members, this.#groups, this.#counts];
    for (let place = 0; place < members.length; place += 1) {
      if ((counts[place] ?? 0) > 0) visit(members[place] ?? 0, groups[place] ?? 0);
    }
  }

  #claim(member: number, group: number): number {
    if (this.#size * 2 >= this.#members.length) this.#grow();
    const place = this.#placeOf(member, group);
    if (this.#members[place] === 0) {
      this.#members[place] = member;
      this.#groups[place] = group;
      this.#size += 1;
    }
    return place;
  }

  #placeOf(member: number, group: number): number {
    const members = this.#members;
    const mask = members.length - 1;
    let place = hash(member, group) & mask;
    while (members[place] !== 0) {
      if (members[place] === member && this.#groups[place] === group) break;
      place = (place + 1) & mask;
    }
    return place;
  }

  #grow(): void {
    const [members, groups, counts] = [this.#members, this.#groups, this.#counts];
    this.#members = new Float64Array(members.length * 2);
    this.#groups = new Int32Array(members.length * 2);
    this.#counts = new Int32Array(members.length * 2);
    for (let from = 0; from < members.length; from += 1) {
      const member = members[from] ?? 0;
      if (member === 0) continue;
      const group = groups[from] ?? 0;
      const place = this.#placeOf(member, group);
      this.#members[place] = member;
      this.#groups[place] = group;
      this.#counts[place] = counts[from] ?? 0;
    }
  }
}

function hash(member: number, group: number): number {
  const low = (member | 0) ^ Math.imul(group, 0x9e3779b1);
  const mixed = Math.imul(low ^ (low >>> 15), 0x2c1b3c6d);
  return mixed ^ (mixed >>> 13);
}
