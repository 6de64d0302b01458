/** What the conformance suite of the event log is made of. */
import { randomUUID } from 'node:crypto';
import type { BlockDraft, EventLog, LogPosition, ReadLimits } from './event-log.ts';

/** An event that only the suite knows: a log must not care what events hold. */
export type SampleEvent = {
  readonly eventId: string;
  readonly who: string;
  readonly text: string;
};

export type LogUnderTest = {
  /** A log as a process opens it. Several calls give several views of the same log. */
  readonly open: (options?: { readonly remembers: boolean }) => EventLog<SampleEvent>;
  /** Appends blocks as if they had been received at this moment. The suite goes forward in time. */
  readonly appendAt: (
    drafts: readonly BlockDraft<SampleEvent>[],
    receivedAtMs: number,
  ) => Promise<void>;
  /** How many pages of storage `work` reads from the log, wherever they are cached. */
  readonly pagesRead: (work: (log: EventLog<SampleEvent>) => Promise<unknown>) => Promise<number>;
  /** Has the log arrange what it holds as it does with old blocks; resolves when all is arranged. */
  readonly arrange: () => Promise<void>;
};

export const limits = { limitBlocks: 100, limitEvents: 100_000 };

export function sample(eventId: string = randomUUID(), who = 'ada'): SampleEvent {
  return { eventId, who, text: 'Zürich \u{1F3AC}' };
}

/** Reads on until the log has nothing more. */
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
