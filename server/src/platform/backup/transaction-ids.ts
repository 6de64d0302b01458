/**
 * Rows of some tables contain the id of the transaction that wrote them, and readers store
 * snapshots, so that nothing is read twice or missed (decision 0002). A restored database starts
 * counting transactions from the beginning, so a backup shifts all ids down by the same amount: the
 * oldest id that any reader still distinguishes becomes the one after the first that PostgreSQL
 * assigns. A restore then only has to consume the ids in use, a few thousand under load, to move
 * all of them into the past.
 */
import type { Client } from 'pg';

/** PostgreSQL reserves the ids below this one. Rows that every reader has seen get this id. */
const firstId = 3n;
/**
 * The id given to members of joined blocks that every reader has seen. It is greater than the id of
 * any such row, because a reader that starts over compares both: see `event-log/postgres/join.ts`.
 */
const firstMemberId = firstId + 1n;
const snapshotForm = /^\d+:\d+:[\d,]*$/;

export type PositionEntry = { name: string; partition?: number; position: unknown };

export type IdShift = {
  /** The SQL expression that reads a column of type xid8 with shifted ids. */
  moveColumn: (column: string) => string;
  /** The same for a column of type xid8[]. */
  moveArray: (column: string) => string;
  /** The projections' positions in the event log, shifted. */
  positions: PositionEntry[];
  /** The first id that is greater than all shifted values. */
  next: bigint;
};

/** Determines how far to shift the ids, in the snapshot of the backup's transaction. */
export async function measureShift(client: Client): Promise<IdShift> {
  const { rows } = await client.query<{ next: string; oldest: string }>(
    `select pg_snapshot_xmax(pg_current_snapshot())::text as next,
       pg_snapshot_xmin(pg_current_snapshot())::text as oldest`,
  );
  const { rows: positions } = await client.query<PositionEntry>(
    'select name, partition, position from projection where position is not null',
  );
  const oldest = positions
    .flatMap(({ position }) => oldestIdsOf(position))
    // Only positions that have not read anything yet are at or below it.
    .filter((id) => id > firstId)
    .reduce((least, id) => (id < least ? id : least), BigInt(rows[0]?.oldest ?? 3));
  const shift = oldest - firstMemberId - 1n;
  const move = (id: bigint) => (id - shift > firstId ? id - shift : firstId);
  return {
    next: move(BigInt(rows[0]?.next ?? 3)),
    positions: positions.map((entry) => ({ ...entry, position: moveIn(entry.position, move) })),
    moveColumn: (column) =>
      `greatest(${column}::text::numeric - ${shift}, ${firstId})::text::xid8 as ${column}`,
    moveArray: (column) =>
      `(select array_agg(greatest(id::text::numeric - ${shift}, ${firstMemberId})::text::xid8
         order by place) from unnest(${column}) with ordinality as given (id, place)) as ${column}`,
  };
}

function oldestIdsOf(value: unknown): bigint[] {
  if (typeof value === 'string') {
    return snapshotForm.test(value) ? [BigInt(value.split(':')[0] ?? 0)] : [];
  }
  return typeof value === 'object' && value !== null
    ? Object.values(value).flatMap(oldestIdsOf)
    : [];
}

/** A position of the log holds snapshots (`10:20:10,14`) and a transaction id. */
function moveIn(value: unknown, move: (id: bigint) => bigint, name = ''): unknown {
  if (typeof value === 'string') {
    if (snapshotForm.test(value)) return value.replaceAll(/\d+/g, (id) => `${move(BigInt(id))}`);
    return name === 'writtenBy' && /^\d+$/.test(value) ? `${move(BigInt(value))}` : value;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, moveIn(inner, move, key)]),
  );
}

/**
 * A statement that consumes ids until the next one is at least `next`. Must not run in a
 * transaction.
 */
export const useUpIds = (next: string): string => `
  do $$ begin
    while pg_current_xact_id()::text::numeric < ${BigInt(next)} loop
      commit;
    end loop;
  end $$`;
