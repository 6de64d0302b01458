/** The content of a service's event log, read as projections read it. */
import { openEventLog, type LoggedEvent } from '../src/features/events/events.ts';
import { openDatabase } from '../src/platform/database/database.ts';
import type { BlockStream } from '../src/platform/event-log/block-stream.ts';
import type { LogPosition } from '../src/platform/event-log/event-log.ts';
import { atEnd, silentLog } from './database.ts';
import type { TestService } from './service.ts';

export type StoredEvents = {
  /** The events stored since the last call, or since opening. */
  fresh(): Promise<LoggedEvent[]>;
  /** All events, from the first. */
  all(): Promise<LoggedEvent[]>;
};

/** @param stream storage of the event bytes, if not the database */
export async function openStoredEvents(
  { connection }: Pick<TestService, 'connection'>,
  stream: BlockStream | null = null,
): Promise<StoredEvents> {
  const database = openDatabase({ connection, poolSize: 2, log: silentLog });
  atEnd(() => database[Symbol.asyncDispose]());
  const eventLog = openEventLog(database.db, { stream });
  let position = await eventLog.end();
  const read = async (from: LogPosition) => {
    const events: LoggedEvent[] = [];
    for (let at = from; ;) {
      const page = await eventLog.read(at, { limitBlocks: 500, limitEvents: 50_000 });
      for (const block of page.blocks) events.push(...block.events);
      at = page.next;
      if (page.isLast) return { events, next: at };
    }
  };
  return {
    async fresh() {
      const { events, next } = await read(position);
      position = next;
      return events;
    },
    all: async () => (await read(eventLog.start)).events,
  };
}
