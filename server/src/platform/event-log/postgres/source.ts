/** Where the log is read from: the database, what this process remembers, and a stream. */
import type { Db } from '../../database/database.ts';
import type { BlockStream, StreamPlace } from '../block-stream.ts';
import { EventLogUnavailableError } from '../event-log.ts';
import type { RecentBlocks } from '../recent-blocks.ts';

export type LogSource<Event> = {
  readonly db: Db;
  /** Blocks that this process has appended, which need not be fetched. */
  readonly recent: RecentBlocks<Event> | null;
  /** What holds the bytes of blocks; null when the database does. */
  readonly stream: BlockStream | null;
};

/** The bytes of a block: null when the caller has them already, empty when a stream holds them. */
type WithBytes = { events: Buffer | null; readonly place: StreamPlace | null };

/**
 * Fills in the bytes that a stream holds. They stay empty where it has lost them.
 *
 * @throws EventLogUnavailableError
 */
export async function fetchBytes(
  stream: BlockStream | null,
  rows: readonly WithBytes[],
): Promise<void> {
  const away = rows.filter(({ place, events }) => place !== null && events !== null);
  if (away.length === 0) return;
  if (stream === null) {
    throw new EventLogUnavailableError(
      'The log has blocks in a stream: set REELFEED_EVENT_LOG as it was when they were stored',
      null,
    );
  }
  const bytes = await stream.fetch(away.flatMap(({ place }) => place ?? []));
  for (const [index, row] of away.entries()) row.events = bytes[index] ?? Buffer.alloc(0);
}
