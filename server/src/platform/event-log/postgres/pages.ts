/** Reads the log in pages: see position.ts for the order. */
import { decodeBlock } from '../block-codec.ts';
import {
  UnreadableBlockError,
  type LogBlock,
  type LogPage,
  type LogPosition,
  type ReadLimits,
  type StoredBlock,
} from '../event-log.ts';
import { selectBlocks, startPlace, type BlockRow } from './block-queries.ts';
import {
  betweenSteps,
  isSnapshotBehind,
  parsePosition,
  type Place,
  type PostgresPosition,
} from './position.ts';
import { fetchBytes, type LogSource } from './source.ts';

/** The next page of the log, decoded. */
export async function readLog<Event>(
  source: LogSource<Event>,
  from: LogPosition,
  limits: ReadLimits,
): Promise<LogPage<LogBlock<Event>>> {
  const page = await scanLog<Event>(source, from, limits);
  const blocks: LogBlock<Event>[] = [];
  for (const { sequence, organizationId, receivedAt, decode } of page.blocks) {
    const events = decode();
    // Blocks may be evicted from memory while the statement runs.
    if (events === null) return readLog({ ...source, recent: null }, from, limits);
    blocks.push({ sequence, organizationId, receivedAt, events });
  }
  return { ...page, blocks };
}

export async function scanLog<Event>(
  source: LogSource<Event>,
  from: LogPosition,
  limits: ReadLimits,
): Promise<LogPage<StoredBlock<Event>>> {
  const { rows, next, isLast } = await readRows(source, from, limits);
  return { blocks: rows.flatMap((row) => toStoredBlocks(row, source)), next, isLast };
}

type RowPage = {
  readonly rows: readonly BlockRow[];
  readonly next: PostgresPosition;
  readonly isLast: boolean;
};

/**
 * Reads the next page of the log in its stored form. `next.target` is null at the end of a step.
 */
export async function readRows(
  { db, recent, stream }: LogSource<unknown>,
  from: LogPosition,
  { limitBlocks, limitEvents, organizationId, until, receivedBefore }: ReadLimits,
): Promise<RowPage> {
  const known = recent?.sequences() ?? [];
  const position = parsePosition(from);
  const bound = until === undefined ? null : parsePosition(until).base;
  const isBounded = bound !== null && position.target === null;
  // Never go backwards: if the bound does not include all that the reader has read, it is already
  // passed.
  if (isBounded && !isSnapshotBehind(position.base, bound))
    return { rows: [], next: position, isLast: true };
  const range = isBounded ? { ...position, target: bound } : position;
  const page = await selectBlocks(
    db,
    { ...range, receivedBeforeMs: receivedBefore ?? null },
    { limitBlocks, limitEvents, known, ...(organizationId !== undefined && { organizationId }) },
  );
  const { rows, target, nowMs, isEndOfRange } = page;
  await fetchBytes(stream, rows);
  const last = rows.at(-1);
  const next =
    isEndOfRange || last === undefined
      ? betweenSteps(target, nowMs)
      : { ...range, target, after: placeOf(last, range.after) };
  // A step that began earlier ends before newer blocks.
  const isLast = isEndOfRange && (bound === null ? position.target === null : target === bound);
  return { rows, next, isLast };
}

/** The place after a block, for a reader that came from `before`. */
function placeOf({ writtenBy, sequence, members }: BlockRow, before: Place | null): Place {
  if (members === null) return { writtenBy, sequence };
  const { membersAfter = before ?? startPlace } = before ?? {};
  return {
    writtenBy,
    sequence,
    membersAfter: { writtenBy: membersAfter.writtenBy, sequence: membersAfter.sequence },
  };
}

/** The blocks of a row. A joined block yields its members as they were appended. */
function toStoredBlocks<Event>(row: BlockRow, { recent }: LogSource<Event>): StoredBlock<Event>[] {
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
    // Rewriting may have removed all of its events.
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
export function decodeRow<Event>({ events, duplicates, sequence, place }: BlockRow): Event[] {
  try {
    const bytes = events ?? Buffer.alloc(0);
    if (bytes.length === 0 && place !== null) {
      throw new Error(`the message ${place.sequence} is missing from the stream`);
    }
    return decodeBlock<Event>(bytes, duplicates);
  } catch (error) {
    throw new UnreadableBlockError(sequence, error);
  }
}
