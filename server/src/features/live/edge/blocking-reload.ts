/** The delivery directives of a playlist request (RFC 8216bis, section 6.2.5). */
import { fieldError } from '../../../platform/http/errors.ts';
import { partTargetMs } from '../ingest/part-publisher.ts';

export type Directives = {
  /** The segment that the response must include, or null for the current playlist. */
  readonly segment: number | null;
  /** The part of that segment, or null for all of it. */
  readonly part: number | null;
  readonly isDelta: boolean;
};

/** The end of a playlist. */
export type Edge = {
  readonly openSegment: number;
  readonly openParts: number;
  /** Number of parts of the previous segment; 0 if it has none. */
  readonly lastParts: number;
};

/** Maximum number of parts beyond the next one that a player may request. */
const advancePartLimit = Math.ceil(3_000 / partTargetMs);

/** @throws {ApiError} VALIDATION_ERROR */
export function readDirectives(query: Readonly<Record<string, unknown>>): Directives {
  const segment = readNumber(query, '_HLS_msn');
  const part = readNumber(query, '_HLS_part');
  if (part !== null && segment === null) {
    throw fieldError('query._HLS_part', 'requires _HLS_msn');
  }
  const skip = query['_HLS_skip'];
  return { segment, part, isDelta: skip === 'YES' || skip === 'v2' };
}

function readNumber(query: Readonly<Record<string, unknown>>, name: string): number | null {
  const value = query[name];
  if (value === undefined) return null;
  if (typeof value !== 'string' || !/^\d{1,9}$/.test(value)) {
    throw fieldError(`query.${name}`, 'must be a whole number of at most nine digits');
  }
  return Number(value);
}

/**
 * Whether a playlist with this edge satisfies the directives. A part after the last one of a
 * segment means the first one of the next.
 */
export function isReached({ segment, part }: Directives, edge: Edge): boolean {
  const { openSegment, openParts, lastParts } = edge;
  if (segment === null || segment < openSegment - 1) return true;
  if (segment === openSegment) return part !== null && part < openParts;
  const isBehindLast = part !== null && lastParts > 0 && part >= lastParts;
  return segment < openSegment && (!isBehindLast || openParts > 0);
}

/**
 * @throws {ApiError} VALIDATION_ERROR if the request is so far ahead that the player must be wrong
 */
export function refuseFarAhead({ segment, part }: Directives, edge: Edge): void {
  if (segment === null) return;
  const { openSegment, openParts } = edge;
  if (segment > openSegment + 1) {
    throw fieldError('query._HLS_msn', `is too far ahead: the last segment is ${openSegment - 1}`);
  }
  const limit = (segment === openSegment ? openParts : 0) + advancePartLimit;
  if (segment >= openSegment && part !== null && part > limit) {
    throw fieldError('query._HLS_part', `is too far ahead: the maximum is ${limit}`);
  }
}
