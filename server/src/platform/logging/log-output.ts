/**
 * Writes log lines to a file descriptor. It never throws, never blocks and uses limited memory: a
 * slow reader, a full disk (ENOSPC), a broken disk (EIO) or a closed reader (EPIPE) must not end
 * the service. Lines are queued until they can be written, in order and whole; lines that do not
 * fit are dropped and counted.
 */
import { write, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const maxWaitingBytes = 8 * 1024 * 1024;
const maxWrittenBytes = 64 * 1024;
const retryWhenFullMs = 50;
const retryAfterErrorMs = 500;
/** Maximum time that the process waits for a reader before it ends. */
const lastLinesMs = 1_000;

/**
 * Summary of an interruption, reported once the log is writable again. `code` is the error code, if
 * any.
 */
export type LogGap = { readonly lines: number; readonly code: string | null };

export class LogOutput {
  readonly #fd: number;
  #waiting: string[] = [];
  #waitingBytes = 0;
  /** Lines taken from the queue; the rest of a failed write comes first. */
  #batch: Buffer = Buffer.alloc(0);
  #state: 'idle' | 'writing' | 'retrying' = 'idle';
  #code: string | null = null;
  #untold = 0;
  #dropped = 0;

  /** Called once everything is written after lines were dropped or writes failed. */
  onWritable: (gap: LogGap) => void = () => undefined;

  constructor(fd: number) {
    this.#fd = fd;
    process.once('exit', () => this.#writeLast());
  }

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

  /** @returns false if nothing has happened since the last report */
  #tellGap(): boolean {
    if (this.#untold === 0 && this.#code === null) return false;
    const gap = { lines: this.#untold, code: this.#code };
    this.#untold = 0;
    this.#code = null;
    this.onWritable(gap);
    return true;
  }

  /** A write still in flight at the end may be stuck, so it is not awaited. */
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
