/**
 * The event log: what was accepted, in blocks of one organization each, in an order that every reader
 * can follow. All projections read events through this interface (see `platform/projections`).
 *
 * The order of the blocks and the ledger that makes each event count once are in PostgreSQL. The bytes of
 * blocks are there as well, or in a stream (`block-stream.ts`, `jetstream/`).
 *
 * Every implementation keeps these promises, which `conformance.ts` tests:
 *
 * 1. When `append` resolves, the events are durable. An event id counts once for each organization, for
 *    72 hours at least.
 * 2. A reader that continues from `next` gets every block exactly once, whatever the order in which
 *    writers commit, and a slow writer holds up no reader.
 * 3. A position is plain JSON that only the log itself can interpret. It stays valid for as long as
 *    the log exists, in every process.
 * 4. Rewriting a block moves no position: nobody reads it a second time. Rewrites of one organization's
 *    pages take turns, so that none restores what another one has removed.
 * 5. Reading one organization costs what its own blocks cost, however many others there are. Reading
 *    from a moment on, or up to one, costs nothing for the days outside.
 * 6. A log may arrange its old blocks anew. Readers do not notice: each continues from its position with
 *    the same blocks in the same order, wherever it stands.
 */
import type { Tx } from '../database/database.ts';
import type { ElectedChore } from '../leases/elected-chore.ts';
import type { GenerationSize } from './ledger/ledger-queries.ts';

/** Anything with an id can be logged; what else an event holds is its writers' business. */
export type LogEntry = { readonly eventId: string };

/** The hint that this process has appended to the log; what others append is found by polling. */
export const eventLogGrown = 'event-log-grown';

/** A place in the log. Store it, hand it back, compare it with `compare`; never look inside. */
export type LogPosition = { readonly [key: string]: unknown };

/** The events that one transaction added to the log for one organization. */
export type LogBlock<Event> = {
  /** Unique and growing, but transactions may commit in another order. */
  readonly sequence: number;
  readonly organizationId: string;
  /** On the log's clock, in milliseconds of the Unix epoch. */
  readonly receivedAt: number;
  readonly events: readonly Event[];
};

/** A block that has been read, whose events have not been decoded yet. */
export type StoredBlock<Event> = Omit<LogBlock<Event>, 'events'> & {
  readonly eventCount: number;
  /**
   * @returns null when the block was not fetched, being in memory, and has left the memory meanwhile
   * @throws UnreadableBlockError
   */
  readonly decode: () => readonly Event[] | null;
};

/** Events of one organization that are to become a block. */
export type BlockDraft<Event> = { readonly organizationId: string; readonly events: Event[] };

/**
 * What `append` has made of a draft: its sequence, or null when the log already had every event, and
 * the zero-based indexes of the events that the log already had, ascending.
 */
export type AddedBlock = { sequence: number | null; leftOut: readonly number[] };

export type ReadLimits = {
  /** Maximum blocks of a page, where blocks that the log has joined count as one. */
  readonly limitBlocks: number;
  /** The block with which this many events are reached is the last one of the page. */
  readonly limitEvents: number;
  /** Leaves out the blocks of all other organizations. */
  readonly organizationId?: string;
  /** Reads no farther than this position. */
  readonly until?: LogPosition;
  /** Leaves out the blocks that were received at this moment (ms of the Unix epoch) or later. */
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
 * How one position relates to another. `apart`: neither is behind the other, because each has had
 * something that the other has not.
 */
export type LogOrder = 'same' | 'before' | 'after' | 'apart';

/**
 * Decides about one block: the events to keep, or null to leave the block as it is. Where it changes a
 * block that the log has joined, it is called again with each part.
 */
export type BlockEditor<Event> = (block: {
  /** The block as JSON, duplicates included: cheap to search. */
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
  /** From where on a reader gets at least everything that was received after a moment. */
  since(receivedAtMs: number): LogPosition;
  /** Behind everything that is in the log now. */
  end(): Promise<LogPosition>;
  /**
   * Before the first block that was received at this moment (ms of the Unix epoch) or later. Blocks of
   * earlier moments are left out, also where they come after it in the log's order.
   */
  positionAt(timeMs: number): Promise<LogPosition>;
  readonly compare: (one: LogPosition, other: LogPosition) => LogOrder;
  /**
   * Appends events, one block per organization, leaving out those that the log already has. All or
   * nothing. @returns the outcome of each draft, in the same order
   */
  append(drafts: readonly BlockDraft<Event>[]): Promise<AddedBlock[]>;
  /**
   * Reads the next page. It may be empty although `next` has advanced.
   *
   * @throws UnreadableBlockError
   */
  read(from: LogPosition, limits: ReadLimits): Promise<LogPage<LogBlock<Event>>>;
  /** The same, but the reader decides which blocks are worth decoding. */
  scan(from: LogPosition, limits: ReadLimits): Promise<LogPage<StoredBlock<Event>>>;
  backlog(position: LogPosition): Promise<Backlog>;
  /** The age of the oldest unread event in milliseconds, as in `backlog`, at the cost of a page. */
  lagMs(position: LogPosition): Promise<number>;
  /** The number of events in the log. */
  countEvents(): Promise<number>;
  /**
   * The first day of which the log holds all events, in milliseconds of the Unix epoch: −∞ while
   * nothing has expired yet, +∞ for an empty log.
   */
  firstDay(): Promise<number>;
  /**
   * Rewrites the blocks of one page. Durable when it resolves, and idempotent where `edit` is, so
   * that a page whose outcome is unknown may be rewritten again.
   */
  rewrite(
    from: LogPosition,
    limits: ReadLimits & { readonly organizationId: string },
    edit: BlockEditor<Event>,
  ): Promise<RewrittenPage>;
  /**
   * Removes whole days that ended over `retentionMs` ago, and lets go of the ledger's keys that are old
   * enough. To be called about once an hour.
   */
  expire(retentionMs: number, signal: AbortSignal): Promise<void>;
  /** Forgets an event id in the ledger, so that nothing keeps it. */
  forgetId(tx: Tx, organizationId: string, eventId: string): Promise<void>;
  /** The size of the ledger. */
  measureLedger(): Promise<readonly GenerationSize[]>;
  /** Makes what the first `append` needs. Cheap where it is there. */
  prepare(): Promise<void>;
  /** What has to be done for the log from time to time, apart from `expire`. */
  readonly upkeep: readonly ElectedChore[];
};

/** A block of the log whose bytes are damaged: a person must look at it. */
export class UnreadableBlockError extends Error {
  override readonly name = 'UnreadableBlockError';
  readonly sequence: number;

  constructor(sequence: number, cause: unknown) {
    super(`block ${sequence} of the event log cannot be read`, { cause });
    this.sequence = sequence;
  }
}

/** The log can't be used right now, apart from the database: the same call may succeed later. */
export class EventLogUnavailableError extends Error {
  override readonly name = 'EventLogUnavailableError';

  constructor(message: string, cause: unknown) {
    super(message, { cause });
  }
}
