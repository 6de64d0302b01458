/**
 * The live tail shows incoming events: accepted events are read from the end of the log, rejected
 * ones from a small table, so a tail shows those of every process. Nothing runs if there are no
 * readers.
 *
 * Under load it is a sample: each round examines and sends a bounded number of events, and counts
 * the rest. A reader that is too slow gets counts instead of events.
 */
import type { Logger } from 'pino';
import type { Db } from '../../../platform/database/database.ts';
import { currentSnapshot } from '../../../platform/database/snapshots.ts';
import { background, sleep } from '../../../platform/async/lifecycle.ts';
import type { LogPosition, StoredBlock } from '../../../platform/event-log/event-log.ts';
import type { EngagementLog } from '../engagement-log.ts';
import type { LoggedEvent } from '../logged-event.ts';
import { selectRejections } from './rejection-queries.ts';
import type { Rejection } from './rejections.ts';

export type TailFilter = {
  readonly status?: 'accepted' | 'rejected';
  readonly event?: string;
  readonly contentId?: string;
  readonly userId?: string;
};

export type TailReader = {
  readonly organizationId: string;
  readonly filter: TailFilter;
  /** Sends one event as JSON; returns false if the reader is too slow. */
  readonly show: (json: string) => boolean;
  /** Called in each round that skipped events, with their number. */
  readonly skipped: (count: number) => void;
};

/** An accepted event as a tail shows it. */
type Acceptance = {
  readonly status: 'accepted';
  readonly receivedAt: string;
  readonly eventId: string;
  readonly event: LoggedEvent['event'];
  readonly contentId: string;
  readonly timestamp: string;
  readonly userId: string | null;
  readonly deviceId: string | null;
  readonly sessionId: string | null;
  readonly country: string | null;
  readonly device: string | null;
  readonly appVersion: string | null;
  /** Sent by a known bot, and excluded from statistics unless configured otherwise. */
  readonly bot: boolean;
  readonly data: unknown;
};

const roundMs = 250;
/**
 * Limits per round: blocks and events read from the database, events examined, and events shown to
 * one reader.
 */
const maxBlocks = 500;
const maxRead = 100_000;
const maxLookedAt = 5_000;
const maxShown = 100;
const maxRejections = 500;

export type LiveTailOptions = {
  readonly db: Db;
  readonly log: Logger;
  readonly eventLog: EngagementLog;
};

export class LiveTail implements AsyncDisposable {
  readonly #options: LiveTailOptions;
  readonly #readers = new Set<TailReader>();
  #loop: AsyncDisposable | null = null;

  constructor(options: LiveTailOptions) {
    this.#options = options;
  }

  count(organizationId: string): { own: number; all: number } {
    const own = [...this.#readers].filter((one) => one.organizationId === organizationId).length;
    return { own, all: this.#readers.size };
  }

  /**
   * Shows new events to a reader.
   *
   * @returns a function that removes the reader
   */
  add(reader: TailReader): () => void {
    this.#readers.add(reader);
    this.#loop ??= background('live tail', (signal) => this.#run(signal), this.#options.log);
    return () => {
      this.#readers.delete(reader);
      if (this.#readers.size === 0) void this.#stop();
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#readers.clear();
    await this.#stop();
  }

  async #stop(): Promise<void> {
    const loop = this.#loop;
    this.#loop = null;
    await loop?.[Symbol.asyncDispose]();
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { db, eventLog } = this.#options;
    let position = await eventLog.end();
    let { snapshot } = await currentSnapshot(db);
    while (!signal.aborted) {
      const shown = new Map<TailReader, number>();
      const skipped = new Map<TailReader, number>();
      const round = { shown, skipped };
      position = await this.#showAccepted(position, round);
      snapshot = await this.#showRejected(snapshot, round);
      for (const [reader, count] of skipped) reader.skipped(count);
      await sleep(roundMs, signal);
    }
  }

  async #showAccepted(position: LogPosition, round: Round): Promise<LogPosition> {
    const { blocks, next } = await this.#options.eventLog.scan(position, {
      limitBlocks: maxBlocks,
      limitEvents: maxRead,
    });
    let lookedAt = 0;
    for (const block of blocks) {
      const readers = this.#readersOf(block.organizationId, 'accepted');
      if (readers.length === 0) continue;
      // A block that has just been evicted from memory counts as not examined.
      const events = lookedAt < maxLookedAt ? block.decode() : null;
      if (events === null) {
        for (const reader of readers) add(round.skipped, reader, block.eventCount);
        continue;
      }
      lookedAt += events.length;
      for (const event of events) {
        for (const reader of readers) {
          if (matches(reader.filter, event)) {
            show(reader, round, () => JSON.stringify(describe(block, event)));
          }
        }
      }
    }
    return next;
  }

  async #showRejected(snapshot: string, round: Round): Promise<string> {
    const found = await selectRejections(this.#options.db, snapshot, maxRejections);
    for (const { organizationId, rejection, skipped } of found.rows) {
      for (const reader of this.#readersOf(organizationId, 'rejected')) {
        if (skipped > 0) add(round.skipped, reader, skipped);
        if (matches(reader.filter, JSON.parse(rejection) as Rejection)) {
          show(reader, round, () => rejection);
        }
      }
    }
    return found.snapshot;
  }

  #readersOf(organizationId: string, status: 'accepted' | 'rejected'): TailReader[] {
    return [...this.#readers].filter(
      (one) => one.organizationId === organizationId && (one.filter.status ?? status) === status,
    );
  }
}

type Round = { shown: Map<TailReader, number>; skipped: Map<TailReader, number> };

function show(reader: TailReader, { shown, skipped }: Round, json: () => string): void {
  const isShown = (shown.get(reader) ?? 0) < maxShown && reader.show(json());
  add(isShown ? shown : skipped, reader, 1);
}

function add(counts: Map<TailReader, number>, reader: TailReader, count: number): void {
  counts.set(reader, (counts.get(reader) ?? 0) + count);
}

type Matchable = {
  readonly event: string | null;
  readonly contentId: string | null;
  readonly userId?: string | null;
};

function matches({ event, contentId, userId }: TailFilter, one: Matchable): boolean {
  return (
    (event === undefined || one.event === event) &&
    (contentId === undefined || one.contentId?.toLowerCase() === contentId.toLowerCase()) &&
    (userId === undefined || one.userId === userId)
  );
}

function describe({ receivedAt }: StoredBlock<LoggedEvent>, event: LoggedEvent): Acceptance {
  return {
    status: 'accepted',
    receivedAt: new Date(receivedAt).toISOString(),
    eventId: event.eventId,
    event: event.event,
    contentId: event.contentId,
    timestamp: new Date(event.at).toISOString(),
    userId: event.userId ?? null,
    deviceId: event.deviceId ?? null,
    sessionId: event.sessionId ?? null,
    country: event.country ?? null,
    device: event.device ?? null,
    appVersion: event.appVersion ?? null,
    bot: event.bot === true,
    data: event.data,
  };
}
