/**
 * Limits sends that have no connection yet. A TLS handshake takes two milliseconds of CPU time, so
 * hundreds of them at once, or one after each failure, would starve everything else in the process.
 * Quick webhooks open connections as needed; other pools have a few places each and a pause after
 * each new connection.
 */
import type { PoolName, Slot } from './webhook-load.ts';

/**
 * Sends of a pool that may wait for a connection at a time, and the pause after each new
 * connection.
 */
const limits = {
  quick: { places: Infinity, pauseMs: 0 },
  leisurely: { places: 4, pauseMs: 8 },
  unknown: { places: 12, pauseMs: 0 },
  slow: { places: 2, pauseMs: 16 },
} as const;
/** A send that waits longer gives up its place, because its time is not spent on the handshake. */
const handshakeMs = 25;
/** A pooled connection is available immediately and causes no pause. */
const newConnectionMs = 0.5;

export const connectingPlaces = (pool: PoolName): number => limits[pool].places;

export class Connecting {
  /** Oldest first. */
  readonly #poolOf = new Map<Slot, PoolName>();
  readonly #taken = { quick: 0, leisurely: 0, unknown: 0, slow: 0 };
  readonly #pausedUntil = { quick: 0, leisurely: 0, unknown: 0, slow: 0 };

  /** Maximum time until the pool has a free place; 0 if it has one. */
  untilRoomMs(pool: PoolName, now: number): number {
    if (this.#taken[pool] >= limits[pool].places) return handshakeMs;
    return Math.max(0, this.#pausedUntil[pool] - now);
  }

  add(slot: Slot, pool: PoolName): void {
    if (pool === 'quick') return;
    this.#poolOf.set(slot, pool);
    this.#taken[pool] += 1;
  }

  /**
   * Must be called when a send gets its connection or fails to get one.
   * @returns whether it had a place
   */
  leave(slot: Slot, now: number): boolean {
    const pool = this.#poolOf.get(slot);
    if (pool === undefined) return false;
    this.#poolOf.delete(slot);
    this.#taken[pool] -= 1;
    if (now - slot.startedAt >= newConnectionMs) {
      this.#pausedUntil[pool] = Math.max(now, this.#pausedUntil[pool]) + limits[pool].pauseMs;
    }
    return true;
  }

  /** Frees the places of sends that have waited too long, and returns these sends. */
  takeOverdue(now: number): Slot[] {
    const overdue: Slot[] = [];
    for (const slot of this.#poolOf.keys()) {
      if (now - slot.startedAt < handshakeMs) break;
      overdue.push(slot);
    }
    for (const slot of overdue) this.leave(slot, now);
    return overdue;
  }
}
