/**
 * The numbers that stand for viewers, views and sessions in the tables of statistics: 64-bit hashes,
 * so that a state is found by 16 bytes and no id of a person is written there. Ten million viewers
 * of one organization share a hash with a probability of three in a million.
 *
 * Viewers are hashed by SHA-256 with a secret of their organization. What tells the views and sessions
 * of one viewer apart is hashed by two lanes of MurmurHash3 with 32 bits each (Austin Appleby, public
 * domain), mixed at the end, which is made for speed: every event needs one. Events that collide on
 * purpose could as well be sent with equal ids.
 */
import type { LoggedEvent } from '../../events/events.ts';
import type { ViewerSecrets } from '../../organizations/organizations.ts';

/** Eight bytes as a string of eight characters with codes up to 255: a key for a `Map`. */
export type Hash = string;

/**
 * Divides events among the partitions of projections whose rows are of one viewer each, or sums over
 * viewers.
 */
export function partitionKeyOf(event: LoggedEvent): string {
  return viewerOf(event) ?? '';
}

/** Whom an event belongs to, as text that says which kind of id it is; null for nobody. */
export function viewerOf({ userId, deviceId, sessionId }: ViewerIds): string | null {
  if (userId !== undefined) return `u:${userId}`;
  if (deviceId !== undefined) return `d:${deviceId}`;
  return sessionId === undefined ? null : `s:${sessionId}`;
}

/**
 * Whose session an event belongs to, in the form of `viewerOf`. A visit happens on one device, whoever
 * logs in meanwhile.
 */
export function sessionOwnerOf(ids: ViewerIds): string | null {
  return ids.deviceId === undefined ? viewerOf(ids) : `d:${ids.deviceId}`;
}

export type ViewerIds = Pick<LoggedEvent, 'userId' | 'deviceId' | 'sessionId'>;

/**
 * The hash of a viewer of an organization, keyed with the organization's secret, which must be loaded.
 */
export function hashViewer(secrets: ViewerSecrets, organizationId: string, viewer: string): Hash {
  return secrets.hash(organizationId, viewer).slice(0, 8);
}

/** The 53 bits by which `viewer-set.ts` knows a viewer. */
export function memberOf(viewer: Hash): number {
  const upper = ((byte(viewer, 0) & 0x1f) << 16) | (byte(viewer, 1) << 8) | byte(viewer, 2);
  const lower = (byte(viewer, 3) << 24) | (byte(viewer, 4) << 16) | (byte(viewer, 5) << 8);
  return upper * 2 ** 32 + ((lower | byte(viewer, 6)) >>> 0);
}

function byte(hash: Hash, index: number): number {
  return hash.charCodeAt(index);
}

// As signed integers, which the engine multiplies without going through floating point.
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
