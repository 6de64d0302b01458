/**
 * The feed's cursor carries the whole session: the items chosen for the next page, in order, and
 * those already served. A cursor therefore always gives the same page, on any process and after any
 * restart, whatever changes, and reading the feed writes nothing.
 *
 * Bytes: version, signature, feed id, then numbers as varints: how many items the next page was
 * planned for, the order as signed differences, the places in it that are explorations, and the
 * sorted served items as gaps. A session of a few pages takes about 150 bytes. Servers and proxies
 * accept request lines of 8 KB, so a session of several thousand items continues as a sweep (see
 * `page.ts`).
 */
import { ApiError } from '../../platform/http/errors.ts';
import type { FeedId, OrganizationId } from '../../platform/values/ids.ts';
import type { OrderPlace } from './items/feed-entry.ts';
import type { Signer } from '../../platform/secrets/signing-keys.ts';

export type FeedSession = {
  feedId: FeedId;
  /** The page limit for which `order` was made; 0 at the start of a session. */
  planned: number;
  /** Serial numbers of the items for the next page. */
  order: readonly number[];
  /** Places in `order` that hold explorations. */
  explorations: readonly number[];
  served: ReadonlySet<number>;
  /**
   * A long session continues newest first: everything before this place has been served. Null until
   * then.
   */
  sweptTo: OrderPlace | null;
};

export type FeedScope = { organizationId: OrganizationId; filter: unknown };

export type FeedCursors = {
  encode(scope: FeedScope, session: FeedSession): string;
  /** @throws ApiError INVALID_CURSOR */
  decode(scope: FeedScope, cursor: string): FeedSession;
};

const version = 2;
/** Version of cursors that start with the place of a sweep. */
const sweepVersion = 3;
const signatureBytes = 12;
const feedIdCharacters = 30;
export function createFeedCursors(signer: Signer): FeedCursors {
  const signed = (scope: FeedScope, kind: number, body: Buffer) => {
    const bound = JSON.stringify(['feed', kind, scope.organizationId, scope.filter]);
    return Buffer.concat([Buffer.from(bound), body]);
  };
  return {
    encode(scope, session) {
      const body = encodeSession(session);
      const kind = session.sweptTo === null ? version : sweepVersion;
      const signature = signer.sign(signed(scope, kind, body), signatureBytes);
      return Buffer.concat([Buffer.of(kind), signature, body]).toString('base64url');
    },
    decode(scope, cursor) {
      const bytes = Buffer.from(cursor, 'base64url');
      const signature = bytes.subarray(1, 1 + signatureBytes);
      const body = bytes.subarray(1 + signatureBytes);
      const kind = bytes[0];
      const intact =
        (kind === version || kind === sweepVersion) &&
        signature.length === signatureBytes &&
        signer.verify(signed(scope, kind, body), signature);
      if (!intact) throw new ApiError('INVALID_CURSOR');
      return decodeSession(body, kind === sweepVersion);
    },
  };
}

function encodeSession(session: FeedSession): Buffer {
  const { feedId, planned, order, explorations, served, sweptTo } = session;
  const numbers: number[] =
    sweptTo === null ? [] : [Math.max(0, sweptTo.freshSinceMs), sweptTo.serialNumber];
  numbers.push(planned, order.length);
  let previous = 0;
  for (const serial of order) {
    const difference = serial - previous;
    numbers.push(difference >= 0 ? difference * 2 : -difference * 2 - 1);
    previous = serial;
  }
  numbers.push(explorations.length, ...explorations);
  previous = 0;
  for (const serial of [...served].toSorted((a, b) => a - b)) {
    numbers.push(serial - previous);
    previous = serial;
  }
  return Buffer.concat([Buffer.from(feedId, 'latin1'), toVarints(numbers)]);
}

function decodeSession(body: Buffer, isSweep: boolean): FeedSession {
  const numbers = fromVarints(body.subarray(feedIdCharacters)).values();
  const next = () => numbers.next().value ?? 0;
  const sweptTo = isSweep ? { freshSinceMs: next(), serialNumber: next() } : null;
  const planned = next();
  let serial = 0;
  const order = Array.from({ length: next() }, () => {
    const coded = next();
    serial += coded % 2 === 0 ? coded / 2 : -(coded + 1) / 2;
    return serial;
  });
  const explorations = Array.from({ length: next() }, next);
  const served = new Set<number>();
  serial = 0;
  for (const gap of numbers) {
    serial += gap;
    served.add(serial);
  }
  const feedId = body.toString('latin1', 0, feedIdCharacters) as FeedId;
  return { feedId, planned, order, explorations, served, sweptTo };
}

/**
 * Seven bits per byte, lowest first. Uses division, not shifts, because numbers may exceed 32 bits.
 */
function toVarints(numbers: readonly number[]): Buffer {
  const bytes: number[] = [];
  for (let rest of numbers) {
    while (rest >= 128) {
      bytes.push((rest % 128) + 128);
      rest = Math.floor(rest / 128);
    }
    bytes.push(rest);
  }
  return Buffer.from(bytes);
}

function fromVarints(bytes: Buffer): number[] {
  const numbers: number[] = [];
  let value = 0;
  let scale = 1;
  for (const byte of bytes) {
    value += (byte % 128) * scale;
    scale *= 128;
    if (byte < 128) {
      numbers.push(value);
      value = 0;
      scale = 1;
    }
  }
  return numbers;
}
