import { randomUUID } from 'node:crypto';
import type { BlockDraft, EventLog, LogPosition, ReadLimits } from './event-log.ts';

/** An event that only the suite knows: a log must not depend on the contents of events. */
export type SampleEvent = {
  readonly eventId: string;
  readonly who: string;
  readonly text: string;
};

export type LogUnderTest = {
  /** Opens the log as a process does. Several calls return several views of the same log. */
  readonly open: (options?: { readonly remembers: boolean }) => EventLog<SampleEvent>;
  /**
   * Appends blocks as if they had been received at this time. The suite only moves forward in time.
   */
  readonly appendAt: (
    drafts: readonly BlockDraft<SampleEvent>[],
    receivedAtMs: number,
  ) => Promise<void>;
  /** The number of storage pages, cached or not, that `work` reads from the log. */
  readonly pagesRead: (work: (log: EventLog<SampleEvent>) => Promise<unknown>) => Promise<number>;
  /** Makes the log reorganize its contents as it does with old blocks; resolves when it is done. */
  readonly arrange: () => Promise<void>;
};

export const limits = { limitBlocks: 100, limitEvents: 100_000 };

export function sample(eventId: string = randomUUID(), who = 'ada'): SampleEvent {
  return { eventId, who, text: 'Zürich \u{1F3AC}' };
}

/** Reads until the log has no more blocks. */
export async function drain(
  log: EventLog<SampleEvent>,
  from: LogPosition,
  pageLimits: ReadLimits = limits,
) {
  const events: SampleEvent[] = [];
  let position = from;
  for (;;) {
    const page = await log.read(position, pageLimits);
    for (const block of page.blocks) events.push(...block.events);
    position = page.next;
    if (page.isLast) return { events, position };
  }
}

export const idsOf = (events: readonly SampleEvent[]): string[] =>
  events.map(({ eventId }) => eventId).toSorted();
