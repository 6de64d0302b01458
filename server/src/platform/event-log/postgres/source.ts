/** The sources of the log: the database, the memory of this process, and a stream. */
import type { Db } from '../../database/database.ts';
import type { BlockStream, StreamPlace } from '../block-stream.ts';
import { EventLogUnavailableError } from '../event-log.ts';
import type { RecentBlocks } from '../recent-blocks.ts';

export type LogSource<Event> = {
  readonly db: Db;
  /** Blocks that this process has appended, which it need not fetch. */
  readonly recent: RecentBlocks<Event> | null;
  /** Holds the bytes of blocks; null if the database holds them. */
  readonly stream: BlockStream | null;
};

/** The bytes of a block: null if the caller already has them, empty if a stream holds them. */
type WithBytes = { events: Buffer | null; readonly place: StreamPlace | null };

/**
 * Fills in the bytes that a stream holds. They stay empty if the stream has lost them.
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
