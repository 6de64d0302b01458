/**
 * Group commit: the events of many requests share one transaction, and each request is answered
 * once its transaction has committed.
 *
 *   waiting → in flush → stored
 *      ▲         │
 *      └─────────┤ (retried after a conflict with another transaction)
 *                └▶ rejected (the database is down) | poison (the event itself cannot be stored)
 *
 * 1. A request's promise resolves only after the commit of a transaction that contains its events.
 * 2. The queue is bounded by events and by bytes; anything beyond is rejected immediately.
 * 3. At most `maxFlushes` run at a time. If none is running, a flush starts immediately; otherwise,
 *    it starts when it would be full or its first events have waited for `lingerMs`.
 * 4. If an event makes its transaction fail, only that event fails: the others are stored without
 *    it.
 * 5. A request is rejected after waiting for `maxWaitMs`, no matter what its flush is waiting for.
 *    Its events may still be stored; the ledger makes it safe to send them again.
 * 6. Disposing of it stores everything accepted before.
 */
import type { Logger } from 'pino';
import {
  isContention,
  isDatabaseAway,
  sqlState,
} from '../../../platform/database/database-errors.ts';
import { BatchWriter } from '../../../platform/async/batch-writer.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import type { AddedBlock } from '../../../platform/event-log/event-log.ts';
import type { EventDraft } from '../engagement-log.ts';
import type { LoggedEvent } from '../logged-event.ts';
import { WaitingRequests, type Waiting } from './patience.ts';

export type FlushReport = {
  readonly drafts: readonly EventDraft[];
  /** The outcome of each draft, or null if the flush failed. */
  readonly added: readonly AddedBlock[] | null;
  readonly durationMs: number;
};

export type GroupCommitOptions = {
  readonly log: Logger;
  readonly append: (drafts: readonly EventDraft[]) => Promise<AddedBlock[]>;
  readonly onFlush: (report: FlushReport) => void;
  /**
   * Reports an event that cannot be stored. This indicates a bug in the service, because every
   * event was validated.
   */
  readonly onPoison: (error: unknown, event: LoggedEvent) => void;
  readonly limits?: Partial<GroupCommitLimits>;
};

export type GroupCommitLimits = {
  readonly maxWaitingEvents: number;
  readonly maxWaitingBytes: number;
  /** Requests are not split between flushes, so a flush may exceed this by one request. */
  readonly flushEvents: number;
  readonly maxFlushes: number;
  readonly lingerMs: number;
  /** The longest wait of a request. */
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
  readonly #patience: WaitingRequests<Submission>;
  #waitingBytes = 0;
  #isEnding = false;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    this.#limits = { ...defaults, ...options.limits };
    this.#patience = new WaitingRequests(this.#limits.maxWaitMs, (late) => this.#giveUp(late));
    const { flushEvents, maxFlushes, lingerMs } = this.#limits;
    this.#flushes = new BatchWriter({
      name: 'events',
      log: options.log,
      // A flush settles its requests itself, no matter how it ends.
      onFailure: 'drop',
      lingerMs,
      maxBatch: flushEvents,
      sizeOf: ({ events }) => events.length,
      maxUnderWay: maxFlushes,
      startsIdle: true,
      write: (submissions) => this.#flush(submissions),
    });
  }

  depth(): { events: number; bytes: number; flushes: number } {
    const { waitingSize: events, underWay: flushes } = this.#flushes;
    return { events, bytes: this.#waitingBytes, flushes };
  }

  /**
   * Resolves once the events are durable, with those that could not be stored.
   *
   * @param bytes approximate memory of the events
   * @throws ApiError UNAVAILABLE if too much is waiting or the database is down
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

  /** Rejects requests that have waited too long. Those in flight may still be stored. */
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

  /** Stores the events of one request when one of them makes the transaction fail. */
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
        // The ledger makes it safe to send the same events again, no matter what happened to the
        // first attempt.
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

/**
 * PostgreSQL data exceptions, constraint violations and program limits, and values that JSON or an
 * array cannot represent.
 */
function isFaultOfData(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== null) return /^(21|22|23|54)/.test(state);
  return error instanceof RangeError || error instanceof TypeError;
}

export function overloaded(): ApiError {
  return new ApiError('UNAVAILABLE', {
    message: 'Too many events are waiting to be stored. Try again later.',
    headers: { 'retry-after': '1' },
  });
}

function away(cause?: unknown): ApiError {
  return new ApiError('UNAVAILABLE', { headers: { 'retry-after': '2' }, cause });
}
