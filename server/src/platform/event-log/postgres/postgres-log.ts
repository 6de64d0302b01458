/** The event log in PostgreSQL: a table of blocks, partitioned by day. See position.ts for reading. */
import { filledUuidArray } from '../../database/binary-arrays.ts';
import { inTransaction, type Db, type Tx } from '../../database/database.ts';
import { currentSnapshot } from '../../database/snapshots.ts';
import { blockText, decodeBlock, encodeBlock, withoutPlaces } from '../block-codec.ts';
import {
  UnreadableBlockError,
  type AddedBlock,
  type BlockDraft,
  type BlockEditor,
  type EventLog,
  type LogBlock,
  type LogEntry,
  type LogPage,
  type LogPosition,
  type ReadLimits,
  type RewrittenPage,
  type StoredBlock,
} from '../event-log.ts';
import type { RecentBlocks } from '../recent-blocks.ts';
import { countEvents, measureBacklog, readFirstDay } from './backlog.ts';
import { keyScope, writeEventKey } from './event-key.ts';
import {
  betweenSteps,
  comparePositions,
  isBehind,
  parsePosition,
  startOfLog,
  type PostgresPosition,
} from './position.ts';
import { insertBlocks, selectBlocks, type BlockRow } from './queries.ts';
import { lockForRewriting, removeBlock, replaceBlock } from './rewrite-queries.ts';

export type PostgresLogOptions<Event> = {
  readonly db: Db;
  /** Blocks that this process has appended, which need not be fetched. */
  readonly recent?: RecentBlocks<Event>;
};

export function createPostgresLog<Event extends LogEntry>({
  db,
  recent,
}: PostgresLogOptions<Event>): EventLog<Event> {
  return {
    start: startOfLog,
    end: () => endOfLog(db),
    compare: (one, other) => comparePositions(parsePosition(one), parsePosition(other)),
    append: (drafts) => appendToLog(db, drafts, recent),
    read: (from, limits) => readLog(db, from, limits, recent),
    scan: (from, limits) => scanLog(db, from, limits, recent),
    backlog: (position) => measureBacklog(db, parsePosition(position)),
    countEvents: () => countEvents(db),
    firstDay: () => readFirstDay(db),
    rewrite: (from, limits, edit) =>
      inTransaction(db, (tx) => rewritePage<Event>(tx, from, limits, edit)),
  };
}

/** Behind everything that is in the log now. */
export async function endOfLog(db: Db): Promise<PostgresPosition> {
  const { snapshot, nowMs } = await currentSnapshot(db);
  return betweenSteps(snapshot, nowMs);
}

/** The next page of the log, decoded. */
export async function readLog<Event>(
  db: Db,
  from: LogPosition,
  limits: ReadLimits,
  recent?: RecentBlocks<Event>,
): Promise<LogPage<LogBlock<Event>>> {
  const page = await scanLog<Event>(db, from, limits, recent);
  const blocks: LogBlock<Event>[] = [];
  for (const { sequence, organizationId, receivedAt, decode } of page.blocks) {
    const events = decode();
    // Blocks may leave the memory while the statement runs.
    if (events === null) return readLog(db, from, limits);
    blocks.push({ sequence, organizationId, receivedAt, events });
  }
  return { ...page, blocks };
}

async function scanLog<Event>(
  db: Db,
  from: LogPosition,
  limits: ReadLimits,
  recent?: RecentBlocks<Event>,
): Promise<LogPage<StoredBlock<Event>>> {
  const { rows, next, isLast } = await readRows(db, from, limits, recent?.sequences() ?? []);
  const blocks = rows.map((row) => ({
    sequence: row.sequence,
    organizationId: row.organizationId,
    receivedAt: row.receivedAtMs,
    eventCount: row.eventCount,
    decode: () =>
      row.events === null ? (recent?.find(row.sequence) ?? null) : decodeRow<Event>(row),
  }));
  return { blocks, next, isLast };
}

type RowPage = {
  readonly rows: readonly BlockRow[];
  readonly next: PostgresPosition;
  readonly isLast: boolean;
};

/** Reads the next page of the log in its stored form. `next.target` is null when it ends a step. */
async function readRows(
  db: Db,
  from: LogPosition,
  { limitBlocks, limitEvents, organizationId, until }: ReadLimits,
  known: readonly number[],
): Promise<RowPage> {
  const position = parsePosition(from);
  const bound = until === undefined ? null : parsePosition(until).base;
  const isBounded = bound !== null && position.target === null;
  // Never backwards: a bound that does not see all that the reader has had is already passed.
  if (isBounded && !isBehind(position.base, bound))
    return { rows: [], next: position, isLast: true };
  const range = isBounded ? { ...position, target: bound } : position;
  const page = await selectBlocks(db, range, {
    limitBlocks,
    limitEvents,
    known,
    ...(organizationId !== undefined && { organizationId }),
  });
  const { rows, target, nowMs, isEndOfRange } = page;
  const last = rows.at(-1);
  const next =
    isEndOfRange || last === undefined
      ? betweenSteps(target, nowMs)
      : { ...range, target, after: { writtenBy: last.writtenBy, sequence: last.sequence } };
  // A step that began earlier ends before what has come since.
  const isLast = isEndOfRange && (bound === null ? position.target === null : target === bound);
  return { rows, next, isLast };
}

function decodeRow<Event>({ events, duplicates, sequence }: BlockRow): Event[] {
  try {
    return decodeBlock<Event>(events ?? Buffer.alloc(0), duplicates);
  } catch (error) {
    throw new UnreadableBlockError(sequence, error);
  }
}

/**
 * Adds events to the log in one statement, unless their ids are in the ledger already.
 *
 * @returns what became of each block, in the order of `drafts`
 */
export async function appendToLog<Event extends LogEntry>(
  db: Db,
  drafts: readonly BlockDraft<Event>[],
  recent?: RecentBlocks<Event>,
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

function keysOf(drafts: readonly BlockDraft<LogEntry>[]): Buffer {
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

async function rewritePage<Event>(
  tx: Tx,
  from: LogPosition,
  limits: ReadLimits & { readonly organizationId: string },
  edit: BlockEditor<Event>,
): Promise<RewrittenPage> {
  await lockForRewriting(tx, limits.organizationId);
  const { rows, next, isLast } = await readRows(tx, from, limits, []);
  let eventsRemoved = 0;
  for (const row of rows) {
    const kept = edit({
      text: () => blockText(row.events ?? Buffer.alloc(0)),
      events: () => decodeRow<Event>(row),
    });
    if (kept === null) continue;
    // Duplicates, which readers leave out, go for good.
    if (kept.length === 0) await removeBlock(tx, row);
    else await replaceBlock(tx, row, { bytes: await encodeBlock(kept), eventCount: kept.length });
    eventsRemoved += row.eventCount - kept.length;
  }
  return { next, isLast, blocksRead: rows.length, eventsRemoved };
}
