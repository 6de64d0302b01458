/**
 * Group commit: the events of many requests share one transaction, and each request is answered
 * when its own has committed.
 *
 *   waiting → in flush → stored
 *      ▲         │
 *      └─────────┤ (tried again after losing against another transaction)
 *                └▶ refused (the database is away) | poison (the event itself cannot be stored)
 *
 * 1. A request's promise resolves only after the commit of a transaction that holds its events.
 * 2. What waits is bounded, by events and by bytes; what comes beyond is refused at once.
 * 3. At most `maxFlushes` are under way. With none, a flush starts at once; beside one, when it
 *    would be full or its first events have waited for `lingerMs`.
 * 4. An event that makes its transaction fail fails alone: the others are stored without it.
 * 5. A request is refused when it has waited for `maxWaitMs`, whatever its flush is waiting for. Its
 *    events may be stored all the same; the ledger makes it safe to send them again.
 * 6. Disposing stores all that was taken in before.
 */
import type { Logger } from 'pino';
import {
  isContention,
  isDatabaseAway,
  sqlState,
} from '../../../platform/database/database-errors.ts';
import { BatchWriter } from '../../../platform/batch-writer.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import type { AddedBlock } from '../../../platform/event-log/event-log.ts';
import type { EventDraft } from '../engagement-log.ts';
import type { LoggedEvent } from '../logged-event.ts';
import { Patience, type Waiting } from './patience.ts';

export type FlushReport = {
  readonly drafts: readonly EventDraft[];
  /** The outcome of each draft; null when the flush failed. */
  readonly added: readonly AddedBlock[] | null;
  readonly durationMs: number;
};

export type GroupCommitOptions = {
  readonly log: Logger;
  readonly append: (drafts: readonly EventDraft[]) => Promise<AddedBlock[]>;
  readonly onFlush: (report: FlushReport) => void;
  /** An event that cannot be stored: our fault, since every event was validated. */
  readonly onPoison: (error: unknown, event: LoggedEvent) => void;
  readonly limits?: Partial<GroupCommitLimits>;
};

export type GroupCommitLimits = {
  readonly maxWaitingEvents: number;
  readonly maxWaitingBytes: number;
  /** Requests go to a flush whole, so it can be larger by one request. */
  readonly flushEvents: number;
  readonly maxFlushes: number;
  readonly lingerMs: number;
  /** Longest wait of a request. */
  readonly maxWaitMs: number;
};

const defaults: GroupCommitLimits = {
  maxWaitingEvents: 40_000,
  maxWaitingBytes: 32 * 1024 * 1024,
  flushEvents: 4_000,
  maxFlushes: 2,
  lingerMs: 5,
  maxWaitMs: 15_000,
};

/** The events of one request. */
type Submission = Waiting & {
  readonly organizationId: string;
  readonly events: LoggedEvent[];
  readonly bytes: number;
  readonly stored: (poison: ReadonlySet<LoggedEvent>) => void;
  readonly refused: (error: unknown) => void;
};

const noPoison: ReadonlySet<LoggedEvent> = new Set();
const maxTries = 4;

export class GroupCommit implements AsyncDisposable {
  readonly #options: GroupCommitOptions;
  readonly #limits: GroupCommitLimits;
  readonly #flushes: BatchWriter<Submission>;
  readonly #patience: Patience<Submission>;
  #waitingBytes = 0;
  #isEnding = false;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    this.#limits = { ...defaults, ...options.limits };
    this.#patience = new Patience(this.#limits.maxWaitMs, (late) => this.#giveUp(late));
    const { flushEvents, maxFlushes, lingerMs } = this.#limits;
    this.#flushes = new BatchWriter({
      name: 'events',
      log: options.log,
      // A flush answers its requests itself, whatever becomes of it.
      onFailure: 'drop',
      lingerMs,
      maxBatch: flushEvents,
      sizeOf: ({ events }) => events.length,
      maxUnderWay: maxFlushes,
      startsIdle: true,
      write: (submissions) => this.#flush(submissions),
    });
  }

  /** What waits for a flush, and how many flushes are under way. */
  depth(): { events: number; bytes: number; flushes: number } {
    const { waitingSize: events, underWay: flushes } = this.#flushes;
    return { events, bytes: this.#waitingBytes, flushes };
  }

  /**
   * Resolves when the events are durable, with those among them that could not be stored.
   *
   * @param bytes about how much memory the events take
   * @throws ApiError UNAVAILABLE when too much is waiting or the database is away
   */
  submit(
    organizationId: string,
    events: LoggedEvent[],
    bytes: number,
  ): Promise<ReadonlySet<LoggedEvent>> {
    const { maxWaitingEvents, maxWaitingBytes } = this.#limits;
    const isFull =
      this.#flushes.waitingSize + events.length > maxWaitingEvents ||
      this.#waitingBytes + bytes > maxWaitingBytes;
    if (isFull || this.#isEnding) return Promise.reject(overloaded());
    return new Promise((resolve, reject) => {
      const submission: Submission = {
        organizationId,
        events,
        bytes,
        submittedAt: performance.now(),
        place: 0,
        stored: (poison) => {
          this.#patience.delete(submission);
          resolve(poison);
        },
        refused: (error) => {
          this.#patience.delete(submission);
          reject(error);
        },
      };
      this.#patience.add(submission);
      this.#waitingBytes += bytes;
      this.#flushes.add(submission);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true;
    await this.#flushes[Symbol.asyncDispose]();
  }

  /** Refuses what has waited for too long; what of it is in flight may be stored all the same. */
  #giveUp(late: readonly Submission[]): void {
    for (const { refused } of late) refused(away());
    const removed = this.#flushes.remove(new Set(late));
    for (const { bytes } of removed) this.#waitingBytes -= bytes;
  }

  /** Never rejects. */
  async #flush(submissions: readonly Submission[]): Promise<void> {
    for (const { bytes } of submissions) this.#waitingBytes -= bytes;
    await this.#store(submissions);
  }

  async #store(submissions: readonly Submission[]): Promise<void> {
    try {
      await this.#append(toDrafts(submissions));
      for (const { stored } of submissions) stored(noPoison);
    } catch (error) {
      if (!isFaultOfData(error)) {
        for (const { refused } of submissions) refused(isDatabaseAway(error) ? away(error) : error);
        return;
      }
      const [first] = submissions;
      if (submissions.length === 1 && first !== undefined) return this.#storeApart(first);
      const middle = submissions.length >> 1;
      await this.#store(submissions.slice(0, middle));
      await this.#store(submissions.slice(middle));
    }
  }

  /** The events of one request, one of which makes its transaction fail. */
  async #storeApart({ organizationId, events, stored, refused }: Submission): Promise<void> {
    const poison = new Set<LoggedEvent>();
    try {
      for (const event of events) {
        try {
          await this.#append([{ organizationId, events: [event] }]);
        } catch (error) {
          if (!isFaultOfData(error)) throw error;
          this.#options.onPoison(error, event);
          poison.add(event);
        }
      }
      stored(poison);
    } catch (error) {
      refused(isDatabaseAway(error) ? away(error) : error);
    }
  }

  async #append(drafts: readonly EventDraft[]): Promise<void> {
    const { append, onFlush } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      const startedAt = performance.now();
      const report = (added: AddedBlock[] | null) =>
        onFlush({ drafts, added, durationMs: performance.now() - startedAt });
      try {
        report(await append(drafts));
        return;
      } catch (error) {
        report(null);
        // The ledger makes it safe to send the same events again, whatever became of the first.
        if (!isContention(error) || attempt >= maxTries) throw error;
      }
    }
  }
}

function toDrafts(submissions: readonly Submission[]): EventDraft[] {
  const drafts = new Map<string, LoggedEvent[]>();
  for (const { organizationId, events } of submissions) {
    const together = drafts.get(organizationId);
    if (together === undefined) drafts.set(organizationId, events.slice());
    else for (const event of events) together.push(event);
  }
  return Array.from(drafts, ([organizationId, events]) => ({ organizationId, events }));
}

/** Data exceptions, broken rules and limits of PostgreSQL, and what JSON or an array can't hold. */
function isFaultOfData(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== null) return /^(21|22|23|54)/.test(state);
  return error instanceof RangeError || error instanceof TypeError;
}

export function overloaded(): ApiError {
  return new ApiError('UNAVAILABLE', {
    message: 'Too many events are waiting to be stored. Try again.',
    headers: { 'retry-after': '1' },
  });
}

function away(cause?: unknown): ApiError {
  return new ApiError('UNAVAILABLE', { headers: { 'retry-after': '2' }, cause });
}
