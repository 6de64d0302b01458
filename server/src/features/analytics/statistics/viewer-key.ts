/**
 * 64-bit hashes of viewers, views and sessions for the tables of statistics, so that a state is
 * found by 16 bytes and no personal id is stored there. With ten million viewers in one
 * organization, the probability that any two share a hash is three in a million.
 *
 * Viewers are hashed by SHA-256 with a secret of their organization. The views and sessions of one
 * viewer are hashed by two 32-bit lanes of MurmurHash3 (Austin Appleby, public domain), mixed at
 * the end, for speed: every event needs one. Forging collisions there gains nothing over sending
 * equal ids.
 */
import type { LoggedEvent } from '../../events/events.ts';
import type { ViewerSecrets } from '../../organizations/organizations.ts';

/** Eight bytes as a string of eight characters with codes up to 255, usable as `Map` key. */
export type Hash = string;

/**
 * The key that distributes events among the partitions of projections whose rows belong to one
 * viewer each or are sums over viewers.
 */
export function partitionKeyOf(event: LoggedEvent): string {
  return viewerOf(event) ?? '';
}

/** The viewer that an event belongs to, prefixed with the kind of id, or null if it names none. */
export function viewerOf({ userId, deviceId, sessionId }: ViewerIds): string | null {
  if (userId !== undefined) return `u:${userId}`;
  if (deviceId !== undefined) return `d:${deviceId}`;
  return sessionId === undefined ? null : `s:${sessionId}`;
}

/**
 * The owner of an event's session, in the format of `viewerOf`. A session stays on one device,
 * regardless of who logs in during it.
 */
export function sessionOwnerOf(ids: ViewerIds): string | null {
  return ids.deviceId === undefined ? viewerOf(ids) : `d:${ids.deviceId}`;
}

export type ViewerIds = Pick<LoggedEvent, 'userId' | 'deviceId' | 'sessionId'>;

/** The hash of a viewer, keyed with the organization's secret, which must be loaded. */
export function hashViewer(secrets: ViewerSecrets, organizationId: string, viewer: string): Hash {
  return secrets.hash(organizationId, viewer).slice(0, 8);
}

/** The 53 bits that identify a viewer in `viewer-set.ts`. */
export function memberOf(viewer: Hash): number {
  const upper = ((byte(viewer, 0) & 0x1f) << 16) | (byte(viewer, 1) << 8) | byte(viewer, 2);
  const lower = (byte(viewer, 3) << 24) | (byte(viewer, 4) << 16) | (byte(viewer, 5) << 8);
  return upper * 2 ** 32 + ((lower | byte(viewer, 6)) >>> 0);
}

function byte(hash: Hash, index: number): number {
  return hash.charCodeAt(index);
}

// Signed integers, which V8 multiplies without converting to floating point.
const firstSeed = 0x9747b28c | 0;
const firstOne = 0xcc9e2d51 | 0;
const firstOther = 0x1b873593 | 0;
const secondSeed = 0x3c6ef372 | 0;
const secondOne = 0x239b961b | 0;
const secondOther = 0xab0e9789 | 0;
const increment = 0xe6546b64 | 0;
const finishOne = 0x85ebca6b | 0;
const finishOther = 0xc2b2ae35 | 0;

export function hashText(text: string): Hash {
  let first = firstSeed;
  let second = secondSeed;
  const { length } = text;
  for (let at = 0; at < length; at += 2) {
    const next = at + 1 < length ? text.charCodeAt(at + 1) : 0;
    const pair = text.charCodeAt(at) | (next << 16);
    first = step(first, pair, firstOne, firstOther);
    second = step(second, pair, secondOne, secondOther);
  }
  first ^= length;
  second ^= length;
  first = (first + second) | 0;
  second = (second + first) | 0;
  first = finish(first);
  second = finish(second);
  first = (first + second) | 0;
  second = (second + first) | 0;
  return String.fromCharCode(
    first >>> 24,
    (first >>> 16) & 255,
    (first >>> 8) & 255,
    first & 255,
    second >>> 24,
    (second >>> 16) & 255,
    (second >>> 8) & 255,
    second & 255,
  );
}

function step(state: number, value: number, one: number, other: number): number {
  let mixed = Math.imul(value, one);
  mixed = Math.imul((mixed << 15) | (mixed >>> 17), other);
  const turned = state ^ mixed;
  return (Math.imul((turned << 13) | (turned >>> 19), 5) + increment) | 0;
}

function finish(state: number): number {
  let mixed = Math.imul(state ^ (state >>> 16), finishOne);
  mixed = Math.imul(mixed ^ (mixed >>> 13), finishOther);
  return mixed ^ (mixed >>> 16);
}
