/**
 * Sends that have no connection yet. A TLS handshake takes two milliseconds of the processor, so hundreds
 * of them at once, or one after each failure, would keep the process from everybody else. Quick webhooks
 * open connections as they need them; others have a few places each and a pause behind each connection.
 */
import type { PoolName, Slot } from './webhook-load.ts';

/** Sends of a pool that may wait for a connection at a time, and the pause behind each new connection. */
const limits = {
  quick: { places: Infinity, pauseMs: 0 },
  leisurely: { places: 4, pauseMs: 8 },
  unknown: { places: 12, pauseMs: 0 },
  slow: { places: 2, pauseMs: 16 },
} as const;
/** A send that has waited for longer leaves its place: it is not the handshake that takes the time. */
const handshakeMs = 25;
/** A connection that is there is used at once, and costs no pause. */
const newConnectionMs = 0.5;

export const connectingPlaces = (pool: PoolName): number => limits[pool].places;

export class Connecting {
  /** Oldest first. */
  readonly #poolOf = new Map<Slot, PoolName>();
  readonly #taken = { quick: 0, leisurely: 0, unknown: 0, slow: 0 };
  readonly #pausedUntil = { quick: 0, leisurely: 0, unknown: 0, slow: 0 };

  /** How long until a place of the pool is free at the latest; 0 if one is. */
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
   * The send has its connection, or has failed to get one.
   *
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

  /** Takes the places from those that have waited for too long, and gives these sends. */
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
