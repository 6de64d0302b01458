/**
 * Decodes images from requests in media children. All other children are started by the job queue,
 * so this limit and the jobs' concurrency bound the children of a process.
 */
import { ApiError } from '../../platform/http/errors.ts';
import { BusyError, FairTurns } from '../../platform/async/fair-turns.ts';
import { runMediaTask } from './run-task.ts';
import type { ImageResult, ThumbnailFacts } from './tasks.ts';

export type ImageDecoderOptions = {
  /** Maximum images decoded concurrently. */
  readonly concurrency: number;
  readonly niceness: number;
  readonly memoryLimitBytes: number;
};

export type ImageFiles = { readonly sourcePath: string; readonly outputDir: string };

/** The most demanding accepted image, a 12-bit AVIF of 50 megapixels with alpha, took 1.3 GB. */
const maxMemoryBytes = 1_500_000_000;
const maxWaiting = 200;
/** Proxies usually time out after a minute. */
const maxWaitMs = 45_000;
const deadlineMs = 60_000;
const retryAfterSeconds = 10;

export class ImageDecoder {
  readonly #turns: FairTurns;
  readonly #limits: { niceness: number; memoryLimitBytes: number };

  constructor({ concurrency, niceness, memoryLimitBytes }: ImageDecoderOptions) {
    this.#turns = new FairTurns({ places: concurrency, maxWaiting, maxWaitMs });
    this.#limits = { niceness, memoryLimitBytes: Math.min(memoryLimitBytes, maxMemoryBytes) };
  }

  get decoding(): number {
    return this.#turns.held;
  }

  get waiting(): number {
    return this.#turns.waiting;
  }

  /**
   * Call before reading an image's bytes.
   * @throws {ApiError} UNAVAILABLE
   */
  requireRoom(organizationId: string): void {
    try {
      this.#turns.requireRoom(organizationId);
    } catch (error) {
      throw translate(error);
    }
  }

  /** Like {@link decode}, but writes video thumbnails. */
  async decodeThumbnails(
    files: ImageFiles,
    organizationId: string,
    signal: AbortSignal,
  ): Promise<ThumbnailFacts> {
    const { hash, ...size } = await this.#run(
      { ...files, asThumbnails: true },
      organizationId,
      signal,
    );
    if (hash === undefined) throw new Error('The thumbnails have no hash.');
    return { ...size, hash };
  }

  /**
   * Decodes an image when its organization's turn comes, and writes it to `outputDir` in two sizes.
   * @throws {MediaError | ApiError} UNAVAILABLE, or the signal's reason
   */
  decode(files: ImageFiles, organizationId: string, signal: AbortSignal): Promise<ImageResult> {
    return this.#run(files, organizationId, signal);
  }

  async #run(
    files: ImageFiles & { asThumbnails?: boolean },
    organizationId: string,
    signal: AbortSignal,
  ): Promise<ImageResult> {
    using _place = await this.#turns.take(organizationId, signal).catch((error: unknown) => {
      throw translate(error);
    });
    const limits = { ...this.#limits, deadlineMs, stallMs: deadlineMs };
    return await runMediaTask({ type: 'image', ...files }, { ...limits, signal });
  }
}

function translate(error: unknown): unknown {
  if (!(error instanceof BusyError)) return error;
  return new ApiError('UNAVAILABLE', {
    message: 'Too many images are waiting to be decoded. Try again later.',
    headers: { 'retry-after': String(retryAfterSeconds) },
    cause: error,
  });
}
