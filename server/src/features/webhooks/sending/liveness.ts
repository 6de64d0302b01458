/**
 * Detects dead senders. Each sender increments a counter in its own row; the others watch it and
 * take over the deliveries of a sender whose counter has not changed for `deadAfterMs` of
 * observation.
 *
 * Each process uses only its own monotonic clock, so wall clocks that differ or jump do not cause
 * false positives. Time without a response from the database does not count as observation.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { inTransaction, type Db } from '../../../platform/database/database.ts';
import {
  beat,
  listSenders,
  registerSender,
  removeDeadSenders,
  removeSender,
  takeBackDeliveries,
  type SenderRow,
} from './sender-queries.ts';

export type LivenessParts = {
  db: Db;
  log: Logger;
  name: string;
  /** Whether no other process can be alive, so that all others count as dead from the start. */
  isOnlySender: boolean;
  deadAfterMs: number;
  beatEveryMs: number;
  /** Called when deliveries were reclaimed from a dead sender. */
  onTakenBack: () => void;
};

type Observation = { beats: number; stillForMs: number };

export class Liveness {
  readonly #parts: LivenessParts;
  readonly #others = new Map<string, Observation>();
  #senderId: string | null = null;
  #lastLookAt: number | null = null;

  constructor(parts: LivenessParts) {
    this.#parts = parts;
  }

  /** The id under which this sender claims, or null before the first beat. */
  get senderId(): string | null {
    return this.#senderId;
  }

  /** Sends one heartbeat and checks the others. Throws on database errors. */
  async beatAndLook(): Promise<void> {
    const { db, log, name, isOnlySender } = this.#parts;
    if (this.#senderId !== null && !(await beat(db, this.#senderId))) {
      log.warn({ senderId: this.#senderId }, 'webhook sender was declared dead; restarting');
      this.#senderId = null;
    }
    const isFirst = this.#senderId === null;
    if (this.#senderId === null) {
      const fresh = randomUUID();
      await registerSender(db, fresh, name);
      this.#senderId = fresh;
    }
    const others = (await listSenders(db)).filter((row) => row.sender_id !== this.#senderId);
    const dead = isFirst && isOnlySender ? others : this.#observe(others);
    // The first look also reclaims deliveries of a sender that ended between its removal and its
    // last write.
    if (dead.length === 0 && !isFirst) return;
    const takenBack = await inTransaction(db, async (tx) => {
      const removed = await removeDeadSenders(tx, dead);
      return removed > 0 || isFirst ? takeBackDeliveries(tx) : 0;
    });
    if (takenBack === 0) return;
    log.warn({ deliveries: takenBack }, 'webhook deliveries reclaimed from a dead sender');
    this.#parts.onTakenBack();
  }

  /** Discards the time since the last look, during which nothing was observed. */
  lostSight(): void {
    this.#lastLookAt = null;
  }

  async leave(): Promise<void> {
    if (this.#senderId !== null) await removeSender(this.#parts.db, this.#senderId);
  }

  /** @returns the senders whose counters have not changed for long enough */
  #observe(others: readonly SenderRow[]): SenderRow[] {
    const now = performance.now();
    const { beatEveryMs, deadAfterMs } = this.#parts;
    // This process may itself have been paused. Unobserved time must not count against others.
    const passedMs =
      this.#lastLookAt === null ? 0 : Math.min(now - this.#lastLookAt, 2 * beatEveryMs);
    this.#lastLookAt = now;
    const dead: SenderRow[] = [];
    const ids = new Set(others.map((row) => row.sender_id));
    for (const id of this.#others.keys()) if (!ids.has(id)) this.#others.delete(id);
    for (const row of others) {
      const known = this.#others.get(row.sender_id);
      if (known === undefined || known.beats !== row.beats) {
        this.#others.set(row.sender_id, { beats: row.beats, stillForMs: 0 });
        continue;
      }
      known.stillForMs += passedMs;
      if (known.stillForMs >= deadAfterMs) dead.push(row);
    }
    return dead;
  }
}
