/**
 * Members in no order, which come and go by the thousand a second. A `Set` or a `Map` would do but
 * for its memory: V8 links each table that one has outgrown to the table that replaced it. Once such
 * a table is old, all later ones look alive to the collections of young objects, with every member
 * that was ever in them, until the next full collection. So nothing dies young.
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

  /** The member must not be in the bag. */
  add(member: Member): void {
    member.place = this.#members.length;
    this.#members.push(member);
  }

  /** @returns whether it was in the bag */
  delete(member: Member): boolean {
    if (!this.has(member)) return false;
    const last = this.#members.pop();
    if (last === undefined || last === member) return true;
    this.#members[member.place] = last;
    last.place = member.place;
    return true;
  }
}
