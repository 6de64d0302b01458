/** The age of a replica, derived from positions in the write-ahead log of its primary. */
type Sample = { readonly position: bigint; readonly atMs: number };

/** Ten minutes, at two samples per second. */
const maxSamples = 1_200;

export class ReplayLag {
  /** Sorted by both in ascending order. */
  readonly #samples: Sample[] = [];

  /** Records the primary's position at a time, in milliseconds of a single clock. */
  note(position: bigint, atMs: number): void {
    // After a failover, the new primary may lack the end of the previous primary's log.
    while ((this.#samples.at(-1)?.position ?? 0n) > position) this.#samples.pop();
    this.#samples.push({ position, atMs });
    if (this.#samples.length > maxSamples) this.#samples.shift();
  }

  /** Whether this position is beyond the latest one reported by the primary. */
  isAhead(position: bigint): boolean {
    return position > (this.#samples.at(-1)?.position ?? 0n);
  }

  /**
   * An upper bound for the age of a replica that has replayed up to this position; null if unknown.
   */
  of(replayed: bigint, nowMs: number): number | null {
    const newest = this.#samples.findLast(({ position }) => position <= replayed);
    return newest === undefined ? null : nowMs - newest.atMs;
  }
}
