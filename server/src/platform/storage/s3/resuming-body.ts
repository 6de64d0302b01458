/** Reads an object to its end even if connections break. */
import { Readable } from 'node:stream';

/** Reopens the object from `offsetBytes` on. It must be the same version. */
export type Reopen = (offsetBytes: number) => Promise<Readable>;

/** Consecutive attempts that yield no byte. The client also retries each request itself. */
const maxFruitlessResumes = 3;

/**
 * The bytes of an object from `startBytes` up to `endBytes` (exclusive). If a connection breaks
 * before the end, or S3 closes it while the reader pauses, reading resumes on a new connection.
 */
export class ResumingBody extends Readable {
  #body: Readable;
  #at: number;
  readonly #endBytes: number;
  readonly #reopen: Reopen;
  #fruitless = 0;

  constructor(body: Readable, startBytes: number, endBytes: number, reopen: Reopen) {
    super();
    this.#body = body;
    this.#at = startBytes;
    this.#endBytes = endBytes;
    this.#reopen = reopen;
    this.#follow(body);
  }

  override _read(): void {
    this.#body.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#body.destroy();
    done(error);
  }

  #follow(body: Readable): Readable {
    body.pause();
    body.on('data', (chunk: Buffer) => {
      this.#at += chunk.length;
      this.#fruitless = 0;
      if (!this.push(chunk)) body.pause();
    });
    let isOver = false;
    const onOver = (error?: Error): void => {
      if (isOver || body !== this.#body || this.destroyed) return;
      isOver = true;
      if (this.#at >= this.#endBytes) this.push(null);
      else void this.#resumeAfter(error ?? new Error('S3 ended the object prematurely'));
    };
    return body.on('end', onOver).on('error', onOver).on('close', onOver);
  }

  async #resumeAfter(failure: Error): Promise<void> {
    this.#fruitless += 1;
    if (this.#fruitless > maxFruitlessResumes) {
      this.destroy(failure);
      return;
    }
    try {
      const body = await this.#reopen(this.#at);
      this.#body = body;
      if (this.destroyed) body.destroy();
      else this.#follow(body).resume();
    } catch (error) {
      this.destroy(error as Error);
    }
  }
}
