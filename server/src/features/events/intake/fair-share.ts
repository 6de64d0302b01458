/**
 * A bounded amount of memory that organizations share: each may hold at most as much as is left
 * free. A single organization gets half of it; with n busy organizations, each gets 1/(n + 1), and
 * one share always stays free for the next one. An organization that holds nothing may take
 * anything that fits, so a flood from others never blocks its first request.
 *
 * The rule is the dynamic threshold of shared-memory switches (Choudhury and Hahne, "Dynamic queue
 * length thresholds for shared-memory packet switches", 1998) with a factor of 1.
 */
export class FairShare {
  readonly #maxBytes: number;
  readonly #heldBy = new Map<string, number>();
  #heldBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Whether the organization may take this many bytes now. */
  fits(organizationId: string, bytes: number): boolean {
    const freeAfter = this.#maxBytes - this.#heldBytes - bytes;
    const held = this.#heldBy.get(organizationId) ?? 0;
    return freeAfter >= 0 && (held === 0 || held + bytes <= freeAfter);
  }

  /** Counts bytes as held, even if they do not fit. */
  add(organizationId: string, bytes: number): void {
    const held = (this.#heldBy.get(organizationId) ?? 0) + bytes;
    this.#heldBytes += bytes;
    // Keeps entries of zero while they are few, because adding and deleting one for each request
    // would make the map allocate new tables.
    if (held === 0 && this.#heldBy.size > maxIdleOrganizations) this.#heldBy.delete(organizationId);
    else this.#heldBy.set(organizationId, held);
  }

  remove(organizationId: string, bytes: number): void {
    this.add(organizationId, -bytes);
  }

  /** The organization that holds the most, or null if nothing is held. */
  largestHolder(): string | null {
    let largest: string | null = null;
    let mostBytes = 0;
    for (const [organizationId, bytes] of this.#heldBy) {
      if (bytes <= mostBytes) continue;
      largest = organizationId;
      mostBytes = bytes;
    }
    return largest;
  }
}

const maxIdleOrganizations = 1_000;
