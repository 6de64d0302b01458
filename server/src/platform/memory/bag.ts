/**
 * An unordered collection whose members come and go, thousands of times per second. A `Set` or a
 * `Map` would need too much memory: V8 links each table that it outgrows to the table that replaced
 * it. Once one such table is in the old generation, minor collections treat all later tables, and
 * every member they ever held, as live until the next major collection.
 */

/** An object that can be in one bag at a time. */
export type BagMember = {
  /** Its index in the bag. Only the bag may use it. */
  place: number;
};

export class Bag<Member extends BagMember> {
  readonly #members: Member[] = [];

  get size(): number {
    return this.#members.length;
  }

  [Symbol.iterator](): ArrayIterator<Member> {
    return this.#members[Symbol.iterator]();
  }

  has(member: Member): boolean {
    return this.#members[member.place] === member;
  }

  add(member: Member): void {
    member.place = this.#members.length;
    this.#members.push(member);
  }

  /** @returns whether the member was in the bag */
  delete(member: Member): boolean {
    if (!this.has(member)) return false;
    const last = this.#members.pop();
    if (last === undefined || last === member) return true;
    this.#members[member.place] = last;
    last.place = member.place;
    return true;
  }
}
