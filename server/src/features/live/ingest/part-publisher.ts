/**
 * Hands the parts of the open segment to every process, as soon as each is complete. They are rows for
 * some seconds: a segment of low latency is in the storage only once it is whole.
 */
import type { Logger } from 'pino';
import type { Db } from '../../../platform/database/database.ts';
import { insertPart } from './part-queries.ts';
import type { Claim } from './publisher-queries.ts';
import type { OpenSegment } from './segmenter.ts';

/** The longest part of a stream of low latency, in milliseconds (EXT-X-PART-INF). */
export const partTargetMs = 500;

/** Parts are listed for three target durations; a process may have read the playlist a while ago. */
export function partsKeptSeconds(targetDurationSeconds: number): number {
  return 4 * targetDurationSeconds + 10;
}

export type OpenPlace = {
  /** The number that the segment will have. */
  readonly segment: number;
  readonly format: number;
  readonly isDiscontinuity: boolean;
};

export class PartPublisher {
  readonly #db: Db;
  readonly #claim: Claim;
  readonly #log: Logger;
  readonly #onAdded: () => void;
  #segment = -1;
  /** Parts of this segment that are published. */
  #published = 0;
  /** Parts that this connection has published. */
  #count = 0;

  constructor(of: { db: Db; claim: Claim; log: Logger; onAdded: () => void }) {
    this.#db = of.db;
    this.#claim = of.claim;
    this.#log = of.log;
    this.#onAdded = of.onAdded;
  }

  /** Publishes the parts that are not published yet. Those that fail only come later, in their segment. */
  async publish({ parts, startedAt }: OpenSegment, place: OpenPlace): Promise<void> {
    if (place.segment !== this.#segment) {
      this.#segment = place.segment;
      this.#published = 0;
    }
    for (const part of parts.slice(this.#published)) {
      const fileName = `part-${this.#claim.publisher.slice(0, 8)}-${this.#count}.m4s`;
      const number = this.#published;
      try {
        const row = { ...part, ...place, number, fileName, segmentStartedAt: startedAt };
        if (!(await insertPart(this.#db, this.#claim, row))) return;
      } catch (error) {
        this.#log.warn({ err: error }, 'live stream: could not publish a part');
        // Without this part, the parts after it could not be decoded.
        this.#published = Infinity;
        return;
      }
      this.#published += 1;
      this.#count += 1;
      this.#onAdded();
    }
  }
}
