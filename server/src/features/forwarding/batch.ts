/**
 * Batches of events. A batch is stored as a reference to a range of the event log, which is read
 * for each delivery attempt, so there is no copy of events that an erasure or purge could miss.
 *
 * A range with many events is split into several batches. An event's batch is determined only by
 * its id, so erasing events does not move others to another batch.
 */
import { createHash } from 'node:crypto';
import type { Db } from '../../platform/database/database.ts';
import type { LogPosition } from '../../platform/event-log/event-log.ts';
import {
  isCustomKind,
  openEventLog,
  type EngagementLog,
  type LoggedEvent,
} from '../events/events.ts';

export type BatchReference = {
  readonly forwardingId: string;
  /** The forwarded kinds; `*` means all, `custom.*` all custom ones. */
  readonly kinds: readonly string[];
  readonly from: LogPosition;
  /**
   * The end of the step that contains the range. The order of blocks from `from` to it never
   * changes.
   */
  readonly stepEnd: LogPosition;
  /** The range: this number of blocks, up to the one with this sequence. */
  readonly blocks: number;
  readonly last: number;
  /** Index of this batch among the range's `parts`. */
  readonly part: number;
  readonly parts: number;
};

const readLimits = { limitBlocks: 200, limitEvents: 500 };
const maxEvents = 500;
const maxBytes = 512 * 1_024;

type Start = Pick<BatchReference, 'kinds' | 'from' | 'stepEnd'> & {
  readonly organizationId: string;
};
type Range = Pick<BatchReference, 'blocks' | 'last' | 'parts'> & {
  readonly next: LogPosition;
  /** Whether the step ends with it. */
  readonly isLast: boolean;
};

/** The next range of a step, and the number of batches for its events. */
export async function measureRange(
  eventLog: EngagementLog,
  { organizationId, kinds, from, stepEnd }: Start,
): Promise<Range> {
  const limits = { ...readLimits, organizationId, until: stepEnd };
  const { blocks, next, isLast } = await eventLog.read(from, limits);
  let count = 0;
  let bytes = 0;
  for (const { events, receivedAt } of blocks) {
    for (const event of events) {
      if (!isWanted(kinds, event)) continue;
      count += 1;
      bytes += JSON.stringify(toForwarded(event, receivedAt)).length;
    }
  }
  const parts = Math.max(Math.ceil(count / maxEvents), Math.ceil(bytes / maxBytes));
  return { next, blocks: blocks.length, last: blocks.at(-1)?.sequence ?? 0, parts, isLast };
}

/**
 * Resolves a reference to the data to send, or returns null for example data, which is sent
 * unchanged. If blocks of the range have been emptied, an equal number of subsequent blocks may be
 * read, too: nothing is missed, but some events may be repeated.
 */
export async function readBatch(db: Db, organizationId: string, stored: unknown) {
  if (!isReference(stored)) return null;
  const { forwardingId, kinds, part, parts } = stored;
  const events = [];
  for await (const block of blocksOf(openEventLog(db), organizationId, stored)) {
    for (const event of block.events) {
      if (!isWanted(kinds, event) || partOf(event, parts) !== part) continue;
      events.push(toForwarded(event, block.receivedAt));
    }
  }
  return { forwardingId, events };
}

async function* blocksOf(
  eventLog: EngagementLog,
  organizationId: string,
  { from, stepEnd, blocks, last }: BatchReference,
) {
  let left = blocks;
  for (let position = from; ;) {
    const limits = { ...readLimits, organizationId, until: stepEnd };
    const page = await eventLog.read(position, limits);
    for (const block of page.blocks) {
      yield block;
      left -= 1;
      if (left === 0 || block.sequence === last) return;
    }
    if (page.isLast) return;
    position = page.next;
  }
}

function isReference(stored: unknown): stored is BatchReference {
  return typeof stored === 'object' && stored !== null && 'stepEnd' in stored;
}

function isWanted(kinds: readonly string[], { event }: LoggedEvent): boolean {
  if (kinds.includes('*') || kinds.includes(event)) return true;
  return isCustomKind(event) && kinds.includes('custom.*');
}

function partOf({ eventId }: LoggedEvent, parts: number): number {
  if (parts === 1) return 0;
  return createHash('sha256').update(eventId).digest().readUInt32BE() % parts;
}

/** The forwarded fields of an event; all others are internal. */
const forwardedNames = [
  'eventId',
  'event',
  'contentId',
  'userId',
  'deviceId',
  'sessionId',
  'country',
  'device',
  'appVersion',
  'bot',
  'data',
] as const;

function toForwarded(event: LoggedEvent, receivedAt: number) {
  const members = forwardedNames.filter((name) => event[name] !== undefined);
  return {
    ...Object.fromEntries(members.map((name) => [name, event[name]])),
    timestamp: new Date(event.at).toISOString(),
    receivedAt: new Date(receivedAt).toISOString(),
  };
}
