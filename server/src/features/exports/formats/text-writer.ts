import { awaitedLater } from '../../../platform/async/awaited-later.ts';
import type { Row } from '../datasets/dataset.ts';
import type { Compressor } from './compressors.ts';
import type { FormatWriter } from './formats.ts';
import type { TextFormat } from './text.ts';

/** Compresses well, and is small compared to a page of events. */
const chunkCharacters = 2 ** 20;
/** Maximum number of chunks compressed while the next rows are read. */
const maxPending = 3;

export class TextWriter implements FormatWriter {
  readonly #format: TextFormat;
  readonly #compressor: Compressor;
  #text: string;
  readonly #pending: Promise<Buffer>[] = [];

  /** @param isFirst whether the file begins here */
  constructor(format: TextFormat, compressor: Compressor, isFirst: boolean) {
    this.#format = format;
    this.#compressor = compressor;
    this.#text = isFirst ? format.header : '';
  }

  async write(rows: readonly Row[]): Promise<Uint8Array[]> {
    this.#text += this.#format.rows(rows);
    if (this.#text.length >= chunkCharacters) this.#compress();
    return this.#take(maxPending);
  }

  async flush(): Promise<Uint8Array[]> {
    if (this.#text !== '') this.#compress();
    return this.#take(0);
  }

  async end(): Promise<Uint8Array[]> {
    return [...(await this.flush()), this.#compressor.end()];
  }

  save(): string {
    return JSON.stringify(this.#compressor.save());
  }

  #compress(): void {
    this.#pending.push(awaitedLater(this.#compressor.compress(Buffer.from(this.#text))));
    this.#text = '';
  }

  async #take(max: number): Promise<Buffer[]> {
    const done: Buffer[] = [];
    while (this.#pending.length > max) done.push(await (this.#pending.shift() as Promise<Buffer>));
    return done;
  }
}
