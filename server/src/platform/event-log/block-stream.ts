/**
 * A stream outside of the database that holds the bytes of blocks. The database keeps the order of the
 * log, the ledger and the place of each block's message; see docs/decisions/0061.
 *
 * 1. When `store` resolves, the bytes are as durable as the stream promises.
 * 2. A message that no block names is garbage. It never counts, and it is removed.
 */

import { dayMs } from '../time.ts';

/** The message that holds the bytes of a block. */
export type StreamPlace = {
  readonly sequence: number;
  /** A UUID. It tells the message from one of another stream that has the same number. */
  readonly messageId: string;
  readonly sizeBytes: number;
};

export type BytesToStore = {
  readonly organizationId: string;
  /** The UTC day of the block, in milliseconds of the Unix epoch. It expires with this day. */
  readonly dayMs: number;
  readonly bytes: Buffer;
};

/** The beginning of the UTC day of a moment, both in milliseconds of the Unix epoch. */
export function dayOf(momentMs: number): number {
  return Math.floor(momentMs / dayMs) * dayMs;
}

/** Identifies a stream, so that nobody goes on with another one of the same name. */
export type StreamIdentity = { readonly name: string; readonly created: string };

export type BlockStream = AsyncDisposable & {
  readonly identity: StreamIdentity;
  /**
   * Stores bytes. @returns the place of each, in the same order; null for bytes that the database has to
   * keep, because they are too large for a message or the stream does not take them now
   */
  store(blocks: readonly BytesToStore[]): Promise<(StreamPlace | null)[]>;
  /**
   * @returns the bytes at each place, in the same order; null where the stream does not hold them
   * @throws EventLogUnavailableError
   */
  fetch(places: readonly StreamPlace[]): Promise<(Buffer | null)[]>;
  /** Removes messages and overwrites their bytes. Messages that are gone already are no error. */
  remove(sequences: readonly number[]): Promise<void>;
  /** Removes the messages of all days before this one (ms of the Unix epoch). */
  removeDaysBefore(dayMs: number): Promise<void>;
  /** The sequence of the message that was stored last; 0 for none. */
  lastSequence(): Promise<number>;
};
