/** Reading the log in pages: see position.ts for the order. */
import type { Db } from '../../database/database.ts';
import { decodeBlock } from '../block-codec.ts';
import {
  UnreadableBlockError,
  type LogBlock,
  type LogPage,
  type LogPosition,
  type ReadLimits,
  type StoredBlock,
} from '../event-log.ts';
import type { RecentBlocks } from '../recent-blocks.ts';
import { selectBlocks, startPlace, type BlockRow } from './block-queries.ts';
import {
  betweenSteps,
  isBehind,
  parsePosition,
  type Place,
  type PostgresPosition,
} from './position.ts';

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

export async function scanLog<Event>(
  db: Db,
  from: LogPosition,
  limits: ReadLimits,
  recent?: RecentBlocks<Event>,
): Promise<LogPage<StoredBlock<Event>>> {
  const { rows, next, isLast } = await readRows(db, from, limits, recent?.sequences() ?? []);
  return { blocks: rows.flatMap((row) => toStoredBlocks(row, recent)), next, isLast };
}

type RowPage = {
  readonly rows: readonly BlockRow[];
  readonly next: PostgresPosition;
  readonly isLast: boolean;
};

/** Reads the next page of the log in its stored form. `next.target` is null when it ends a step. */
export async function readRows(
  db: Db,
  from: LogPosition,
  { limitBlocks, limitEvents, organizationId, until, receivedBefore }: ReadLimits,
  known: readonly number[],
): Promise<RowPage> {
  const position = parsePosition(from);
  const bound = until === undefined ? null : parsePosition(until).base;
  const isBounded = bound !== null && position.target === null;
  // Never backwards: a bound that does not see all that the reader has had is already passed.
  if (isBounded && !isBehind(position.base, bound))
    return { rows: [], next: position, isLast: true };
  const range = isBounded ? { ...position, target: bound } : position;
  const page = await selectBlocks(
    db,
    { ...range, receivedBeforeMs: receivedBefore ?? null },
    { limitBlocks, limitEvents, known, ...(organizationId !== undefined && { organizationId }) },
  );
  const { rows, target, nowMs, isEndOfRange } = page;
  const last = rows.at(-1);
  const next =
    isEndOfRange || last === undefined
      ? betweenSteps(target, nowMs)
      : { ...range, target, after: placeOf(last, range.after) };
  // A step that began earlier ends before what has come since.
  const isLast = isEndOfRange && (bound === null ? position.target === null : target === bound);
  return { rows, next, isLast };
}

/** Behind a block, for a reader that came from `before`. */
function placeOf({ writtenBy, sequence, members }: BlockRow, before: Place | null): Place {
  if (members === null) return { writtenBy, sequence };
  const { membersAfter = before ?? startPlace } = before ?? {};
  return {
    writtenBy,
    sequence,
    membersAfter: { writtenBy: membersAfter.writtenBy, sequence: membersAfter.sequence },
  };
}

/** The blocks of a row: of a joined one, its members as they were appended. */
function toStoredBlocks<Event>(
  row: BlockRow,
  recent: RecentBlocks<Event> | undefined,
): StoredBlock<Event>[] {
  const { sequence, organizationId, receivedAtMs: receivedAt, eventCount, members } = row;
  if (members === null) {
    const decode = () =>
      row.events === null ? (recent?.find(sequence) ?? null) : decodeRow<Event>(row);
    return [{ sequence, organizationId, receivedAt, eventCount, decode }];
  }
  let all: readonly Event[] | null = null;
  let from = 0;
  const blocks: StoredBlock<Event>[] = [];
  for (const member of members) {
    const start = from;
    const end = (from += member.eventCount);
    // Rewriting may have taken everything out of it.
    if (!member.isUnread || member.eventCount === 0) continue;
    blocks.push({
      sequence: member.sequence,
      organizationId,
      receivedAt: member.receivedAtMs,
      eventCount: member.eventCount,
      decode: () => (all ??= decodeRow<Event>(row)).slice(start, end),
    });
  }
  return blocks;
}

/** @throws UnreadableBlockError */
export function decodeRow<Event>({ events, duplicates, sequence }: BlockRow): Event[] {
  try {
    return decodeBlock<Event>(events ?? Buffer.alloc(0), duplicates);
  } catch (error) {
    throw new UnreadableBlockError(sequence, error);
  }
}
