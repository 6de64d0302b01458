/** A progress line on a terminal. Prints nothing if the output is a file or a pipe. */
const width = 28;
const drawEveryMs = 100;

type Progress = { doneBytes: number; totalBytes: number; done: number; total: number };

export class ProgressBar implements Disposable {
  readonly #output: NodeJS.WriteStream;
  #drawnAt = 0;

  constructor(output: NodeJS.WriteStream) {
    this.#output = output;
  }

  draw({ doneBytes, totalBytes, done, total }: Progress): void {
    if (!this.#output.isTTY || performance.now() - this.#drawnAt < drawEveryMs) return;
    this.#drawnAt = performance.now();
    const share = totalBytes > 0 ? doneBytes / totalBytes : done / Math.max(1, total);
    const full = Math.min(width, Math.round(share * width));
    const bar = '█'.repeat(full) + '░'.repeat(width - full);
    const bytes = totalBytes > 0 ? `, ${megabytes(doneBytes)} of ${megabytes(totalBytes)} MB` : '';
    this.#output.write(`\r\x1b[K${bar} ${done} of ${total}${bytes}`);
  }

  /** Writes a line above the bar. */
  say(line: string): void {
    this[Symbol.dispose]();
    this.#output.write(`${line}\n`);
  }

  [Symbol.dispose](): void {
    if (this.#output.isTTY) this.#output.write('\r\x1b[K');
    this.#drawnAt = 0;
  }
}

const megabytes = (bytes: number) => Math.round(bytes / 1e6);
