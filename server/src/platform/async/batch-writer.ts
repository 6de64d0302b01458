/**
 * Writes entries of many callers in batches: while one batch is being written, the next one fills,
 * because a statement costs more than its rows.
 *
 *   add → waiting → in a batch → written
 *            ▲          │
 *            └──────────┴▶ dropped        (the write failed)
 *
 * 1. A batch starts when entries of size `enough` are waiting, when the first has waited for
 *    `lingerMs` or, with `startsIdle`, at the end of the turn if no batch is in flight.
 * 2. At most `maxUnderWay` batches are written concurrently. Entries are taken in order.
 * 3. A rejected write is followed by a pause, which grows up to four seconds. Its entries are
 *    either put back and retried, or dropped; the log says which.
 * 4. The writer accepts every entry: callers use `waitingSize` to limit the backlog.
 * 5. Disposing of it writes the waiting entries, unless the writes fail.
 */
import type { Logger } from 'pino';

export type BatchWriterOptions<Entry> = {
  /** The name in the log. */
  readonly name: string;
  readonly log: Logger;
  /** What happens to the entries of a rejected write. */
  readonly onFailure: 'retry' | 'drop';
  /** Called in the same turn in which the batch is taken from the waiting entries. */
  readonly write: (batch: readonly Entry[]) => Promise<void>;
  readonly lingerMs: number;
  /** A batch is full once it reaches this size, so it may exceed it by one entry. */
  readonly maxBatch: number;
  /** Default: `maxBatch`. */
  readonly enough?: number;
  /** Default: 1 for each entry. */
  readonly sizeOf?: (entry: Entry) => number;
  /** Default: 1. */
  readonly maxUnderWay?: number;
  readonly startsIdle?: boolean;
};

const firstPauseMs = 100;
const longestPauseMs = 4_000;
/** A brief failure should not trigger an alert. */
const alarmingFailures = 5;

export class BatchWriter<Entry> implements AsyncDisposable {
  readonly #options: BatchWriterOptions<Entry>;
  readonly #sizeOf: (entry: Entry) => number;
  readonly #enough: number;
  readonly #maxUnderWay: number;
  #waiting: Entry[] = [];
  /** When each entry of `#waiting` was added. */
  #addedAt: number[] = [];
  #waitingSize = 0;
  #underWay = 0;
  #startsThisTurn = false;
  #timer: NodeJS.Timeout | null = null;
  #isPaused = false;
  /** Consecutive failed writes. */
  #failures = 0;
  /** Callers waiting for all entries to be written. */
  #flushers: Pick<PromiseWithResolvers<void>, 'resolve' | 'reject'>[] = [];

  constructor(options: BatchWriterOptions<Entry>) {
    this.#options = options;
    this.#sizeOf = options.sizeOf ?? (() => 1);
    this.#enough = options.enough ?? options.maxBatch;
    this.#maxUnderWay = options.maxUnderWay ?? 1;
  }

  get waitingSize(): number {
    return this.#waitingSize;
  }

  get underWay(): number {
    return this.#underWay;
  }

  add(entry: Entry): void {
    this.#waiting.push(entry);
    this.#addedAt.push(performance.now());
    this.#waitingSize += this.#sizeOf(entry);
    // A running timer suffices unless a batch may start earlier.
    if (this.#startsThisTurn || (this.#timer !== null && this.#waitingSize < this.#enough)) return;
    // Entries added in the same turn of the event loop share a batch.
    this.#startsThisTurn = true;
    setImmediate(() => {
      this.#startsThisTurn = false;
      this.#start();
    });
  }

  /** Removes those of the given entries that are not in a batch yet, and returns them. */
  remove(entries: ReadonlySet<Entry>): Entry[] {
    const removed = this.#waiting.filter((entry) => entries.has(entry));
    this.#addedAt = this.#addedAt.filter((_, index) => {
      const entry = this.#waiting[index];
      return entry !== undefined && !entries.has(entry);
    });
    this.#waiting = this.#waiting.filter((entry) => !entries.has(entry));
    this.#waitingSize -= this.#totalOf(removed);
    this.#start();
    return removed;
  }

  /** Resolves when everything added before the call is written; rejects when a write fails. */
  async flush(): Promise<void> {
    if (this.#waiting.length === 0 && this.#underWay === 0) return;
    await new Promise<void>((resolve, reject) => {
      this.#flushers.push({ resolve, reject });
      this.#start();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.flush().catch(() => undefined);
    this.#stopTimer();
  }

  #start(): void {
    while (this.#underWay < this.#maxUnderWay && this.#waiting.length > 0) {
      const leftMs = this.#msToWait();
      if (leftMs > 0) {
        this.#startIn(leftMs);
        break;
      }
      void this.#write(this.#take());
    }
    if (this.#waiting.length > 0) return;
    this.#stopTimer();
    if (this.#underWay > 0) return;
    for (const { resolve } of this.#flushers.splice(0)) resolve();
  }

  #msToWait(): number {
    if (this.#flushers.length > 0) return 0;
    if (this.#isPaused) return Math.min(firstPauseMs * 2 ** (this.#failures - 1), longestPauseMs);
    if (this.#waitingSize >= this.#enough) return 0;
    if (this.#options.startsIdle === true && this.#underWay === 0) return 0;
    return this.#options.lingerMs - (performance.now() - (this.#addedAt[0] ?? 0));
  }

  #startIn(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#isPaused = false;
      this.#start();
    }, ms);
  }

  #totalOf(entries: readonly Entry[]): number {
    return entries.reduce((sum, entry) => sum + this.#sizeOf(entry), 0);
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #take(): Entry[] {
    let size = 0;
    let count = 0;
    for (const entry of this.#waiting) {
      if (size >= this.#options.maxBatch) break;
      size += this.#sizeOf(entry);
      count += 1;
    }
    this.#waitingSize -= size;
    const taken = this.#waiting.slice(0, count);
    this.#waiting = this.#waiting.slice(count);
    this.#addedAt = this.#addedAt.slice(count);
    return taken;
  }

  /** Never rejects. */
  async #write(batch: readonly Entry[]): Promise<void> {
    this.#underWay += 1;
    try {
      await this.#options.write(batch);
      this.#failures = 0;
      this.#isPaused = false;
    } catch (error) {
      this.#failed(batch, error);
    } finally {
      this.#underWay -= 1;
      this.#start();
    }
  }

  #failed(batch: readonly Entry[], error: unknown): void {
    const { name, log, onFailure } = this.#options;
    if (onFailure === 'retry') {
      this.#waiting = [...batch, ...this.#waiting];
      this.#addedAt = [...batch.map(() => performance.now()), ...this.#addedAt];
      this.#waitingSize += this.#totalOf(batch);
    }
    this.#failures += 1;
    this.#isPaused = true;
    this.#stopTimer();
    const level = this.#failures < alarmingFailures ? 'info' : 'warn';
    const writer = { err: error, writer: name, entries: batch.length, onFailure };
    log[level](writer, 'could not write a batch');
    for (const { reject } of this.#flushers.splice(0)) reject(error);
  }
}
