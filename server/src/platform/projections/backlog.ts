/**
 * Measures how far projections are behind the log. If a projection's partitions differ, the one
 * furthest behind counts.
 */
import type { Db } from '../database/database.ts';
import type { Backlog, EventLog, LogEntry, LogPosition } from '../event-log/event-log.ts';
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
  const backlogAt = oncePerPosition((position) => eventLog.backlog(position));
  for (const { name, position } of await readProjections(db, only)) {
    const { blocks, ageMs } = await backlogAt(position ?? eventLog.start);
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

/**
 * Measures each position once: projections that keep up are all at the same one. Use the returned
 * function for a single round, because the log grows.
 */
export function oncePerPosition<T>(
  measure: (position: LogPosition) => Promise<T>,
): (position: LogPosition) => Promise<T> {
  const measured = new Map<string, Promise<T>>();
  return (position) => {
    const key = JSON.stringify(position);
    const known = measured.get(key) ?? measure(position);
    measured.set(key, known);
    return known;
  };
}
