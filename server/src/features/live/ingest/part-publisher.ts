/**
 * Publishes each part of the open segment to all processes as soon as it is complete. Parts are
 * stored as rows for a few seconds, because a low-latency segment reaches the storage only once it
 * is complete.
 */
import type { Logger } from 'pino';
import type { Db } from '../../../platform/database/database.ts';
import { insertPart } from './part-queries.ts';
import type { StreamClaim } from './publisher-queries.ts';
import type { OpenSegment } from './segmenter.ts';

/** Maximum part duration of a low-latency stream, in milliseconds (EXT-X-PART-INF). */
export const partTargetMs = 500;

/**
 * Parts are listed for three target durations, and a process may have read the playlist earlier.
 */
export function partsKeptSeconds(targetDurationSeconds: number): number {
  return 4 * targetDurationSeconds + 10;
}

export type OpenPlace = {
  readonly segment: number;
  readonly format: number;
  readonly isDiscontinuity: boolean;
};

export class PartPublisher {
  readonly #db: Db;
  readonly #claim: StreamClaim;
  readonly #log: Logger;
  readonly #onAdded: () => void;
  #segment = -1;
  /** Number of published parts of this segment. */
  #published = 0;
  /** Number of parts published by this connection. */
  #count = 0;

  constructor(of: { db: Db; claim: StreamClaim; log: Logger; onAdded: () => void }) {
    this.#db = of.db;
    this.#claim = of.claim;
    this.#log = of.log;
    this.#onAdded = of.onAdded;
  }

  /** Publishes parts not yet published. Parts that fail reach viewers later, in their segment. */
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
        // Later parts could not be decoded without this one.
        this.#published = Infinity;
        return;
      }
      this.#published += 1;
      this.#count += 1;
      this.#onAdded();
    }
  }
}
