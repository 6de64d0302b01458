/**
 * The log of accepted events: appending, and reading on from a position.
 *
 * Blocks are numbered in another order than their transactions commit, so "everything behind number
 * n" would lose blocks. A position therefore is a pair of snapshots of PostgreSQL: a reader gets
 * the blocks that the first does not see and the second does, in pages; then the second becomes the
 * first. Every block is seen by exactly one such step: nothing is missed, nothing repeated, and no
 * long transaction holds a reader up.
 */
import { filledUuidArray } from '../../platform/database/binary-arrays.ts';
import type { Db } from '../../platform/database/database.ts';
import { decodeBlock, encodeBlock, withoutPlaces } from './block-codec.ts';
import { keyScope, writeEventKey } from './event-key.ts';
import {
  currentSnapshot,
  insertBlocks,
  selectBlocks,
  type AddedBlock,
  type BlockPageOptions,
  type BlockRow,
} from './log-queries.ts';
import type { EventBlock, LoggedEvent } from './logged-event.ts';
import type { RecentBlocks } from './recent-blocks.ts';

/** Where a reader of the log is. It is plain JSON, so that it can be stored. */
export type LogPosition = {
  /** What the reader has had: everything that this snapshot sees. */
  readonly base: string;
  /** What it is reading up to; null between two steps. */
  readonly target: string | null;
  /** The last block of this step that it has had. */
  readonly after: { readonly writtenBy: string; readonly sequence: number } | null;
  /** What is still to come was received after this moment, in milliseconds of the Unix epoch. */
  readonly receivedFromMs: number;
};

/** Before the first block. */
export const startOfLog: LogPosition = {
  base: '1:1:',
  target: null,
  after: null,
  receivedFromMs: 0,
};

/**
 * A block carries the moment at which its transaction began, and transactions of this service end
 * within minutes, or PostgreSQL ends them. This is far more, and costs nothing: it decides no more
 * than which days are looked at.
 */
const longestTransactionMs = 2 * 24 * 3_600_000;

/** Behind everything that is in the log now. */
export async function endOfLog(db: Db): Promise<LogPosition> {
  const { snapshot, nowMs } = await currentSnapshot(db);
  return betweenSteps(snapshot, nowMs);
}

function betweenSteps(base: string, nowMs: number): LogPosition {
  return { base, target: null, after: null, receivedFromMs: nowMs - longestTransactionMs };
}

/** The same way through the log, but no farther than what is in it at the moment of `end`. */
export function upTo(start: LogPosition, end: LogPosition): LogPosition {
  return { ...start, target: end.base };
}

export type ReadLimits = {
  /** Most blocks of a page. */
  readonly limitBlocks: number;
  /** The block with which this many events are reached is the last one of the page. */
  readonly limitEvents: number;
  /** Blocks that are in memory and need not be fetched. */
  readonly recent?: RecentBlocks;
};

export type LogPage = {
  readonly blocks: EventBlock[];
  readonly next: LogPosition;
  /** Whether the log had nothing more than this page when it was read. */
  readonly isLast: boolean;
};

/** The next page of the log. It may be empty, and `next` still be farther on. */
export async function readLog(
  db: Db,
  position: LogPosition,
  { limitBlocks, limitEvents, recent }: ReadLimits,
): Promise<LogPage> {
  const known = recent?.sequences() ?? [];
  const { rows, next, isLast } = await readRows(db, position, { limitBlocks, limitEvents, known });
  const blocks: EventBlock[] = [];
  for (const row of rows) {
    const events = row.events === null ? recent?.find(row.sequence) : readEvents(row);
    // Blocks may leave the memory while the statement runs.
    if (events === null || events === undefined) {
      return readLog(db, position, { limitBlocks, limitEvents });
    }
    blocks.push({
      sequence: row.sequence,
      organizationId: row.organizationId,
      receivedAt: row.receivedAtMs,
      events,
    });
  }
  return { blocks, next, isLast };
}

export type RowPage = {
  readonly rows: readonly BlockRow[];
  readonly next: LogPosition;
  readonly isLast: boolean;
};

/** The next page of the log as it is stored. `next.target` is null when it ends a step. */
export async function readRows(
  db: Db,
  position: LogPosition,
  options: BlockPageOptions,
): Promise<RowPage> {
  const { rows, target, nowMs, isEndOfRange } = await selectBlocks(db, position, options);
  const last = rows.at(-1);
  const next =
    isEndOfRange || last === undefined
      ? betweenSteps(target, nowMs)
      : { ...position, target, after: { writtenBy: last.writtenBy, sequence: last.sequence } };
  // A step that began earlier ends before what has come since.
  return { rows, next, isLast: isEndOfRange && position.target === null };
}

function readEvents({ events, duplicates, sequence }: BlockRow): LoggedEvent[] {
  try {
    return decodeBlock(events ?? Buffer.alloc(0), duplicates);
  } catch (error) {
    throw new UnreadableBlockError(sequence, error);
  }
}

/** A block of the log whose bytes are damaged: a person must look at it. */
export class UnreadableBlockError extends Error {
  override readonly name = 'UnreadableBlockError';
  readonly sequence: number;

  constructor(sequence: number, cause: unknown) {
    super(`block ${sequence} of the event log cannot be read`, { cause });
    this.sequence = sequence;
  }
}

/** Events of one organization that are to become a block. */
export type BlockDraft = { readonly organizationId: string; readonly events: LoggedEvent[] };

/**
 * Adds events to the log, each organization's as one block, unless their ids are in the ledger
 * already: those are left out. All or nothing; when it resolves, the events are durable.
 *
 * @returns what became of each block, in the order of `drafts`
 */
export async function appendToLog(
  db: Db,
  drafts: readonly BlockDraft[],
  recent?: RecentBlocks,
): Promise<AddedBlock[]> {
  const encoded = await Promise.all(drafts.map(({ events }) => encodeBlock(events)));
  const blocks = drafts.map(({ organizationId, events }, index) => ({
    organizationId,
    eventCount: events.length,
    bytes: encoded[index] ?? Buffer.alloc(0),
  }));
  const added = await insertBlocks(db, blocks, keysOf(drafts));
  for (const [index, { sequence, leftOut }] of added.entries()) {
    const events = drafts[index]?.events;
    if (sequence !== null && events !== undefined) {
      recent?.add(sequence, withoutPlaces(events, leftOut));
    }
  }
  return added;
}

function keysOf(drafts: readonly BlockDraft[]): Buffer {
  const count = drafts.reduce((sum, { events }) => sum + events.length, 0);
  return filledUuidArray(count, (bytes, offsetOf) => {
    let index = 0;
    for (const { organizationId, events } of drafts) {
      const scope = keyScope(organizationId);
      for (const { eventId } of events) {
        writeEventKey(scope, eventId, bytes, offsetOf(index));
        index += 1;
      }
    }
  });
}
