/**
 * Writes log lines to a file descriptor. It never throws, never waits and takes bounded memory,
 * whatever becomes of the log: a slow reader, a full disk (ENOSPC), a broken disk (EIO) or a reader
 * that is gone (EPIPE) must not end the service. Lines wait until they can be written, in their order
 * and whole; those that find no room are dropped and counted.
 */
import { write, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const maxWaitingBytes = 8 * 1024 * 1024;
const maxWrittenBytes = 64 * 1024;
const retryWhenFullMs = 50;
const retryAfterErrorMs = 500;
/** Upper limit for how long the end of the process waits for a reader. */
const lastLinesMs = 1_000;

/** What happened until the log could be written again. `code` is that of the error, if any. */
export type LogGap = { readonly lines: number; readonly code: string | null };

export class LogOutput {
  readonly #fd: number;
  #waiting: string[] = [];
  #waitingBytes = 0;
  /** Taken from those that wait; what a failed write has left of it comes first. */
  #batch: Buffer = Buffer.alloc(0);
  #state: 'idle' | 'writing' | 'retrying' = 'idle';
  #code: string | null = null;
  #untold = 0;
  #dropped = 0;

  /** Called once everything is written after lines were dropped or writes have failed. */
  onWritable: (gap: LogGap) => void = () => undefined;

  constructor(fd: number) {
    this.#fd = fd;
    process.once('exit', () => this.#writeLast());
  }

  /** Lines that were dropped since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  write(line: string): void {
    const sizeBytes = Buffer.byteLength(line);
    if (this.#waitingBytes + sizeBytes > maxWaitingBytes) {
      this.#dropped += 1;
      this.#untold += 1;
      return;
    }
    this.#waiting.push(line);
    this.#waitingBytes += sizeBytes;
    if (this.#state === 'idle') this.#writeNext();
  }

  /** Resolves once everything is written, or after `timeoutMs`. */
  async flush(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (this.#state !== 'idle' && performance.now() < deadline) await delay(10);
  }

  #writeNext(): void {
    if (this.#batch.length === 0) this.#takeBatch();
    if (this.#batch.length === 0) {
      this.#state = 'idle';
      this.#tellGap();
      return;
    }
    this.#state = 'writing';
    write(this.#fd, this.#batch, (error, writtenBytes) => {
      if (error === null) {
        this.#batch = this.#batch.subarray(writtenBytes);
        this.#writeNext();
        return;
      }
      const isFull = error.code === 'EAGAIN';
      if (!isFull) this.#code = error.code ?? error.message;
      this.#state = 'retrying';
      const retryMs = isFull ? retryWhenFullMs : retryAfterErrorMs;
      setTimeout(() => this.#writeNext(), retryMs).unref();
    });
  }

  #takeBatch(): void {
    let sizeBytes = 0;
    let count = 0;
    for (const line of this.#waiting) {
      if (sizeBytes > 0 && sizeBytes + Buffer.byteLength(line) > maxWrittenBytes) break;
      sizeBytes += Buffer.byteLength(line);
      count += 1;
    }
    this.#batch = Buffer.from(this.#waiting.splice(0, count).join(''));
    this.#waitingBytes -= sizeBytes;
  }

  /** @returns false if nothing has happened since it was told last */
  #tellGap(): boolean {
    if (this.#untold === 0 && this.#code === null) return false;
    const gap = { lines: this.#untold, code: this.#code };
    this.#untold = 0;
    this.#code = null;
    this.onWritable(gap);
    return true;
  }

  /** A write that is under way at the end may be stuck, so nothing waits for it. */
  #writeLast(): void {
    if (this.#state === 'writing') return;
    this.#state = 'retrying';
    const deadline = performance.now() + lastLinesMs;
    while (performance.now() < deadline) {
      if (this.#batch.length === 0) this.#takeBatch();
      if (this.#batch.length === 0 && !this.#tellGap()) return;
      try {
        this.#batch = this.#batch.subarray(writeSync(this.#fd, this.#batch));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
      }
    }
  }
}
