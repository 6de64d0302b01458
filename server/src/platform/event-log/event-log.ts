/**
 * The event log: all accepted events, in blocks of one organization each, in an order that every
 * reader can follow. All projections read events through this interface (see
 * `platform/projections`).
 *
 * PostgreSQL holds the order of the blocks and the ledger that makes each event count once. It also
 * holds the bytes of blocks, unless they are in a stream (`block-stream.ts`, `jetstream/`).
 *
 * Every implementation keeps these promises, which `conformance.ts` tests:
 *
 * 1. When `append` resolves, the events are durable. An event id counts once per organization, for
 *    at least 72 hours.
 * 2. A reader that continues from `next` gets every block exactly once, regardless of the order in
 *    which writers commit, and a slow writer delays no reader.
 * 3. A position is plain JSON that only the log itself can interpret. It stays valid for as long as
 *    the log exists, in every process.
 * 4. Rewriting a block changes no position, so no reader reads it again. Rewrites of one
 *    organization's pages are serialized, so none restores what another has removed.
 * 5. The cost of reading one organization depends only on its own blocks, no matter how many others
 *    there are. A read limited by time costs nothing for the days outside its range.
 * 6. A log may reorganize its old blocks. Readers do not notice: each continues from its position
 *    with the same blocks in the same order.
 */
import type { Tx } from '../database/database.ts';
import type { ElectedChore } from '../leases/elected-chore.ts';
import type { GenerationSize } from './ledger/ledger-queries.ts';

/** Anything with an id can be logged; writers decide on the other fields of an event. */
export type LogEntry = { readonly eventId: string };

/**
 * The hint that this process has appended to the log. Appends by other processes are found by
 * polling.
 */
export const eventLogGrown = 'event-log-grown';

/** A place in the log. Store it, pass it back, compare it with `compare`, but never look inside. */
export type LogPosition = { readonly [key: string]: unknown };

/** The events that one transaction added to the log for one organization. */
export type LogBlock<Event> = {
  /** Unique and increasing, but transactions may commit in a different order. */
  readonly sequence: number;
  readonly organizationId: string;
  /** By the log's clock, in milliseconds since the Unix epoch. */
  readonly receivedAt: number;
  readonly events: readonly Event[];
};

/** A block that has been read, but whose events are not decoded yet. */
export type StoredBlock<Event> = Omit<LogBlock<Event>, 'events'> & {
  readonly eventCount: number;
  /**
   * @returns null if the block was not fetched because it was in memory, but has been evicted since
   * @throws UnreadableBlockError
   */
  readonly decode: () => readonly Event[] | null;
};

export type BlockDraft<Event> = { readonly organizationId: string; readonly events: Event[] };

/**
 * The outcome of appending a draft: its sequence (null if the log already had every event), and the
 * ascending zero-based indexes of the events that the log already had.
 */
export type AddedBlock = { sequence: number | null; leftOut: readonly number[] };

export type ReadLimits = {
  /** Maximum number of blocks on a page. Blocks that the log has joined count as one. */
  readonly limitBlocks: number;
  /** The page ends with the block that reaches this many events. */
  readonly limitEvents: number;
  /** Skips the blocks of all other organizations. */
  readonly organizationId?: string;
  readonly until?: LogPosition;
  /** Skips blocks received at this time (ms since the Unix epoch) or later. */
  readonly receivedBefore?: number;
};

export type LogPage<Block> = {
  readonly blocks: Block[];
  readonly next: LogPosition;
  /** True if nothing more was available, up to `until`, when the page was read. */
  readonly isLast: boolean;
};

/** The part of the log that a reader at a position has not read yet. */
export type Backlog = {
  /** At most 10,000. */
  readonly blocks: number;
  /** The age of the oldest unread event. */
  readonly ageMs: number;
};

/**
 * The relation of one position to another. `apart`: neither is behind the other, because each
 * includes blocks that the other lacks.
 */
export type LogOrder = 'same' | 'before' | 'after' | 'apart';

/**
 * Decides what to keep of a block: returns the remaining events, or null to leave the block
 * unchanged. If it changes a block that the log has joined, it is called again with each part.
 */
export type BlockEditor<Event> = (block: {
  /** The block as JSON, including duplicates. Cheap to search. */
  readonly text: () => string;
  readonly events: () => readonly Event[];
}) => readonly Event[] | null;

export type RewrittenPage = {
  readonly next: LogPosition;
  readonly isLast: boolean;
  readonly blocksRead: number;
  readonly eventsRemoved: number;
};

export type EventLog<Event extends LogEntry> = {
  /** Before the first block. */
  readonly start: LogPosition;
  /** A position from which a reader gets at least everything received after a given time. */
  since(receivedAtMs: number): LogPosition;
  /** The position after everything that is in the log now. */
  end(): Promise<LogPosition>;
  /**
   * The position before the first block received at this time (ms since the Unix epoch) or later.
   * Blocks received earlier are skipped, even those that come after it in the log's order.
   */
  positionAt(timeMs: number): Promise<LogPosition>;
  readonly compare: (one: LogPosition, other: LogPosition) => LogOrder;
  /**
   * Appends events, one block per organization, except those that the log already has. All or
   * nothing.
   * @returns the outcome of each draft, in the same order
   */
  append(drafts: readonly BlockDraft<Event>[]): Promise<AddedBlock[]>;
  /**
   * Reads the next page. It may be empty although `next` has advanced.
   *
   * @throws UnreadableBlockError
   */
  read(from: LogPosition, limits: ReadLimits): Promise<LogPage<LogBlock<Event>>>;
  /** Like `read`, but the reader decides which blocks are worth decoding. */
  scan(from: LogPosition, limits: ReadLimits): Promise<LogPage<StoredBlock<Event>>>;
  backlog(position: LogPosition): Promise<Backlog>;
  /**
   * The age of the oldest unread event in milliseconds, as in `backlog`, for the cost of one page.
   */
  lagMs(position: LogPosition): Promise<number>;
  countEvents(): Promise<number>;
  /**
   * The first day for which the log holds all events, in milliseconds since the Unix epoch: −∞
   * while nothing has expired, +∞ for an empty log.
   */
  firstDay(): Promise<number>;
  /**
   * Rewrites the blocks of one page. Durable when it resolves, and idempotent if `edit` is, so a
   * page whose outcome is unknown may be rewritten again.
   */
  rewrite(
    from: LogPosition,
    limits: ReadLimits & { readonly organizationId: string },
    edit: BlockEditor<Event>,
  ): Promise<RewrittenPage>;
  /**
   * Removes whole days that ended over `retentionMs` ago, and drops ledger keys that are old
   * enough. Should be called about once an hour.
   */
  expire(retentionMs: number, signal: AbortSignal): Promise<void>;
  /** Removes an event id from the ledger, so that no trace of it remains. */
  forgetId(tx: Tx, organizationId: string, eventId: string): Promise<void>;
  measureLedger(): Promise<readonly GenerationSize[]>;
  /** Creates everything that the first `append` needs. Cheap if it already exists. */
  prepare(): Promise<void>;
  /** Periodic maintenance of the log, other than `expire`. */
  readonly upkeep: readonly ElectedChore[];
};

/** A block of the log whose bytes are damaged. An operator must investigate. */
export class UnreadableBlockError extends Error {
  override readonly name = 'UnreadableBlockError';
  readonly sequence: number;

  constructor(sequence: number, cause: unknown) {
    super(`block ${sequence} of the event log cannot be read`, { cause });
    this.sequence = sequence;
  }
}

/** The log is unavailable for a reason other than the database. A retry may succeed. */
export class EventLogUnavailableError extends Error {
  override readonly name = 'EventLogUnavailableError';

  constructor(message: string, cause: unknown) {
    super(message, { cause });
  }
}
