/**
 * A stream outside the database that holds the bytes of blocks. The database keeps the order of the
 * log, the ledger and the place of each block's message; see docs/decisions/0061.
 *
 * 1. When `store` resolves, the bytes are as durable as the stream promises.
 * 2. A message that no block refers to is garbage. It never counts, and it is removed.
 */

import { dayMs } from '../values/time.ts';

/** The message that holds the bytes of a block. */
export type StreamPlace = {
  readonly sequence: number;
  /** A UUID that distinguishes the message from one of another stream with the same number. */
  readonly messageId: string;
  readonly sizeBytes: number;
};

export type BytesToStore = {
  readonly organizationId: string;
  /**
   * The UTC day of the block, in milliseconds since the Unix epoch. The bytes expire with this day.
   */
  readonly dayMs: number;
  readonly bytes: Buffer;
};

/** The start of the UTC day that contains a time, both in milliseconds since the Unix epoch. */
export function dayOf(momentMs: number): number {
  return Math.floor(momentMs / dayMs) * dayMs;
}

/** Identifies a stream, so that it is not confused with a later one of the same name. */
export type StreamIdentity = { readonly name: string; readonly created: string };

export type BlockStream = AsyncDisposable & {
  readonly identity: StreamIdentity;
  /**
   * Stores bytes. @returns the place of each, in the same order, or null for bytes that the
   * database must keep because they are too large for a message or the stream does not currently
   * accept them
   */
  store(blocks: readonly BytesToStore[]): Promise<(StreamPlace | null)[]>;
  /**
   * @returns the bytes at each place, in the same order, or null if the stream does not hold them
   * @throws EventLogUnavailableError
   */
  fetch(places: readonly StreamPlace[]): Promise<(Buffer | null)[]>;
  /** Removes messages and overwrites their bytes. Ignores messages that are already gone. */
  remove(sequences: readonly number[]): Promise<void>;
  /** Removes the messages of all days before this one (ms since the Unix epoch). */
  removeDaysBefore(dayMs: number): Promise<void>;
  /** The sequence of the last stored message; 0 if there is none. */
  lastSequence(): Promise<number>;
};
