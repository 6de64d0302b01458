/**
 * Measures how far projections are behind the log. If a projection's partitions differ, the one
 * furthest behind counts.
 */
import type { Db } from '../database/database.ts';
import type { Backlog, EventLog, LogEntry } from '../event-log/event-log.ts';
import { readProjections } from './queries.ts';

export type BacklogParts = {
  readonly db: Db;
  readonly eventLog: Pick<EventLog<LogEntry>, 'start' | 'backlog'>;
};

/** @param only the name of one projection; default: all */
export async function readBacklogs(
  { db, eventLog }: BacklogParts,
  only?: string,
): Promise<Map<string, Backlog>> {
  const backlogs = new Map<string, Backlog>();
  for (const { name, position } of await readProjections(db, only)) {
    const { blocks, ageMs } = await eventLog.backlog(position ?? eventLog.start);
    const known = backlogs.get(name) ?? { blocks: 0, ageMs: 0 };
    backlogs.set(name, {
      blocks: Math.max(known.blocks, blocks),
      ageMs: Math.max(known.ageMs, ageMs),
    });
  }
  return backlogs;
}

/** The part of the log that one projection has not written yet. */
export async function readBacklog(parts: BacklogParts, projection: string): Promise<Backlog> {
  const backlogs = await readBacklogs(parts, projection);
  return backlogs.get(projection) ?? parts.eventLog.backlog(parts.eventLog.start);
}
