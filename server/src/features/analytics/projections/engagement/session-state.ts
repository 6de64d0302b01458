/**
 * The state of one session: the events of one device with the same sessionId (or none), until a
 * pause (`segments.ts`), regardless of logins. Events without a device are grouped by viewer. The
 * session belongs to the first user that one of its events names. Like a view, it is a function of
 * the set of its events; see view-state.ts.
 */
import type { LoggedEvent } from '../../../events/events.ts';
import type { Hash } from '../../statistics/viewer-key.ts';
import type { ActivitySegment } from './segments.ts';
import {
  addLabels,
  earliestBytes,
  earlierOf,
  labelBytes,
  readEarliest,
  readLabel,
  writeEarliest,
  writeLabel,
  type Earliest,
} from './earliest.ts';

export type SessionState = ActivitySegment & {
  /** The latest generation in which it was touched; see state-store.ts. */
  generation: number;
  device: Earliest;
  country: Earliest;
  /** Same as for views. */
  entryPoint: Earliest;
  appVersion: Earliest;
  plays: number;
  /** The hash of the first user. */
  user: Earliest;
  /** UTC offset of its clock when it was counted, in quarter hours. */
  quartersAhead: number;
};

const none: Earliest = { value: '', at: 0 };

export function emptySession(generation = 0): SessionState {
  return {
    firstAt: Infinity,
    lastAt: -Infinity,
    generation,
    device: none,
    country: none,
    entryPoint: none,
    appVersion: none,
    plays: 0,
    user: none,
    quartersAhead: 0,
  };
}

/** @param user hash of the event's user, or '' if it has none */
export function addToSession(session: SessionState, event: LoggedEvent, user: Hash): void {
  const { at, device, country } = event;
  if (at < session.firstAt) session.firstAt = at;
  if (at > session.lastAt) session.lastAt = at;
  if (device !== undefined) session.device = earlierOf(session.device, device, at);
  if (country !== undefined) session.country = earlierOf(session.country, country, at);
  session.user = earlierOf(session.user, user, at);
  addLabels(session, event, at);
  if (event.event === 'playStart') session.plays += 1;
}

/**
 * The viewer that a session belongs to.
 *
 * @param owner hash of the device, or of the viewer if there is no device
 */
export function viewerOfSession({ user }: SessionState, owner: Hash): Hash {
  return user.value === '' ? owner : user.value;
}

export function mergeSessions(a: SessionState, b: SessionState): SessionState {
  return {
    firstAt: Math.min(a.firstAt, b.firstAt),
    lastAt: Math.max(a.lastAt, b.lastAt),
    generation: Math.max(a.generation, b.generation),
    device: earlierOf(a.device, b.device.value, b.device.at),
    country: earlierOf(a.country, b.country.value, b.country.at),
    entryPoint: earlierOf(a.entryPoint, b.entryPoint.value, b.entryPoint.at),
    appVersion: earlierOf(a.appVersion, b.appVersion.value, b.appVersion.at),
    plays: a.plays + b.plays,
    user: earlierOf(a.user, b.user.value, b.user.at),
    quartersAhead: 0,
  };
}

const earliestAt = 20;
const labelsAt = earliestAt + earliestBytes;
const playsAt = labelsAt + 2 * labelBytes;
const userAt = playsAt + 4;
export const sessionBytes = userAt + labelBytes;

export function writeSession(session: SessionState, bytes: Buffer, at: number): void {
  bytes.writeDoubleLE(session.firstAt, at);
  bytes.writeDoubleLE(session.lastAt, at + 8);
  bytes.writeUInt32LE(session.generation, at + 16);
  writeEarliest(session.device, session.country, bytes, at + earliestAt);
  // The last of these bytes is unused.
  bytes.writeInt8(session.quartersAhead, at + labelsAt - 1);
  writeLabel(session.entryPoint, bytes, at + labelsAt);
  writeLabel(session.appVersion, bytes, at + labelsAt + labelBytes);
  bytes.writeUInt32LE(session.plays, at + playsAt);
  writeLabel(session.user, bytes, at + userAt);
}

export function readSession(bytes: Buffer, at: number): SessionState {
  return {
    firstAt: bytes.readDoubleLE(at),
    lastAt: bytes.readDoubleLE(at + 8),
    generation: bytes.readUInt32LE(at + 16),
    ...readEarliest(bytes, at + earliestAt),
    quartersAhead: bytes.readInt8(at + labelsAt - 1),
    entryPoint: readLabel(bytes, at + labelsAt),
    appVersion: readLabel(bytes, at + labelsAt + labelBytes),
    plays: bytes.readUInt32LE(at + playsAt),
    user: readLabel(bytes, at + userAt),
  };
}
