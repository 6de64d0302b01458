/**
 * Positions in a log that PostgreSQL keeps.
 *
 * Block numbers are not assigned in the order in which transactions commit, so "everything after
 * number n" would lose blocks. A position is therefore a pair of snapshots. A reader gets, in
 * pages, the blocks that are visible to the second but not to the first; then the second becomes
 * the first. Every block is in exactly one such step, so nothing is missed or repeated, and no long
 * transaction delays a reader.
 */
import type { LogOrder, LogPosition } from '../event-log.ts';

export type BlockKey = { readonly writtenBy: string; readonly sequence: number };

/**
 * A reader's place within a step: it has read the blocks up to this key. After a joined block,
 * `membersAfter` is the reader's place when it reached the joined range: it read the members up to
 * there before they were joined. See join.ts.
 */
export type Place = BlockKey & { readonly membersAfter?: BlockKey };

export type PostgresPosition = {
  /** The reader has read everything that is visible to this snapshot. */
  readonly base: string;
  /** The snapshot that the reader is reading up to; null between two steps. */
  readonly target: string | null;
  /** The last block of this step that the reader has read. */
  readonly after: Place | null;
  /** Skips blocks received before this time, in milliseconds since the Unix epoch. */
  readonly receivedFromMs: number;
};

/** Before the first block. */
export const startOfLog: PostgresPosition = {
  base: '1:1:',
  target: null,
  after: null,
  receivedFromMs: 0,
};

/** The position before the first block received at or after `timeMs`. */
export function startAt(timeMs: number): PostgresPosition {
  return { ...startOfLog, receivedFromMs: timeMs };
}

/**
 * A block's timestamp is the start of its transaction, and transactions of this service last
 * minutes at most, because PostgreSQL ends longer ones. Two days is far more and costs nothing: it
 * only determines which partitions are read.
 */
const maxTransactionMs = 2 * 24 * 3_600_000;

export function betweenSteps(base: string, nowMs: number): PostgresPosition {
  return { base, target: null, after: null, receivedFromMs: nowMs - maxTransactionMs };
}

/** @throws Error if the position was created by a different kind of log */
export function parsePosition(position: LogPosition): PostgresPosition {
  const { base, target, after, receivedFromMs } = position;
  if (
    typeof base !== 'string' ||
    (target !== null && typeof target !== 'string') ||
    typeof receivedFromMs !== 'number' ||
    !isPlace(after)
  ) {
    throw new Error(
      'This position is not one of a log in PostgreSQL. After changing where the event log is ' +
        'kept, run `reelfeed rebuild all`.',
    );
  }
  return { base, target, after, receivedFromMs };
}

function isPlace(value: unknown): value is PostgresPosition['after'] {
  if (value === null) return true;
  return isKey(value) && (!('membersAfter' in value) || isKey(value.membersAfter));
}

function isKey(value: unknown): value is BlockKey {
  if (typeof value !== 'object' || value === null) return false;
  const { writtenBy, sequence } = value as Partial<Record<keyof BlockKey, unknown>>;
  return typeof writtenBy === 'string' && typeof sequence === 'number';
}

export function comparePositions(one: PostgresPosition, other: PostgresPosition): LogOrder {
  if (one.base === other.base) {
    if (one.target === other.target) {
      const isAtTime = one.base === startOfLog.base && one.after === null && other.after === null;
      if (!isAtTime) return comparePlaces(one.after, other.after);
      return orderOf(one.receivedFromMs - other.receivedFromMs);
    }
    // Inside a step that extends beyond what the other reader has read. A reader between steps is
    // behind.
    if (one.target === null) return 'before';
    return other.target === null ? 'after' : 'apart';
  }
  if (isSnapshotBehind(one.base, other.base)) return 'before';
  return isSnapshotBehind(other.base, one.base) ? 'after' : 'apart';
}

function comparePlaces(one: PostgresPosition['after'], other: PostgresPosition['after']): LogOrder {
  if (one === null || other === null) {
    if (one === other) return 'same';
    return one === null ? 'before' : 'after';
  }
  const order = compareKeys(one, other);
  if (one.writtenBy !== other.writtenBy) return order;
  // The two readers may have read different members of the joined blocks.
  const [part, otherPart] = [one.membersAfter, other.membersAfter];
  if (part === undefined || otherPart === undefined) return part === otherPart ? order : 'apart';
  return compareKeys(part, otherPart) === 'same' ? order : 'apart';
}

function compareKeys(one: BlockKey, other: BlockKey): LogOrder {
  const difference = Number(BigInt(one.writtenBy) - BigInt(other.writtenBy));
  return orderOf(difference || one.sequence - other.sequence);
}

function orderOf(difference: number): LogOrder {
  if (difference === 0) return 'same';
  return difference < 0 ? 'before' : 'after';
}

/** The oldest transaction that may be invisible to a snapshot, given as text. */
export function oldestUnseen(snapshot: string): string {
  return snapshot.split(':')[0] ?? '0';
}

/**
 * Whether one snapshot sees strictly less than another of the same server, both given as text. A
 * reader must not read up to a snapshot that does not include everything it has already read,
 * because that would go backwards.
 */
export function isSnapshotBehind(snapshot: string, other: string): boolean {
  if (snapshot === other) return false;
  const [one, later] = [parseSnapshot(snapshot), parseSnapshot(other)];
  if (later.end < one.end) return false;
  for (const transaction of later.open) {
    if (transaction < one.end && !one.open.has(transaction)) return false;
  }
  return later.end > one.end || later.open.size < one.open.size;
}

/** `end`: transactions from this one on are invisible. `open`: so are these. */
function parseSnapshot(snapshot: string): { end: number; open: ReadonlySet<number> } {
  const [, end = '0', open = ''] = snapshot.split(':');
  return { end: Number(end), open: new Set(open === '' ? [] : open.split(',').map(Number)) };
}
