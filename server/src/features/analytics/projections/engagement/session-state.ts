/**
 * What is known of one session: one viewer's events with one sessionId (or with none), until they have
 * sent nothing for a while (`segments.ts`). As with views, it is a function of the set of its events:
 * see view-state.ts.
 */
import type { LoggedEvent } from '../../../events/events.ts';
import type { Segment } from './segments.ts';
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

export type SessionState = Segment & {
  /** The latest generation in which it was touched: see state-store.ts. */
  generation: number;
  device: Earliest;
  country: Earliest;
  /** As those of views. */
  entryPoint: Earliest;
  appVersion: Earliest;
  /** By how many quarters of an hour its clock was ahead of UTC when it was counted. */
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
    quartersAhead: 0,
  };
}

export function addToSession(session: SessionState, event: LoggedEvent): void {
  const { at, device, country } = event;
  if (at < session.firstAt) session.firstAt = at;
  if (at > session.lastAt) session.lastAt = at;
  if (device !== undefined) session.device = earlierOf(session.device, device, at);
  if (country !== undefined) session.country = earlierOf(session.country, country, at);
  addLabels(session, event, at);
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
    quartersAhead: 0,
  };
}

const earliestAt = 20;
const labelsAt = earliestAt + earliestBytes;
export const sessionBytes = labelsAt + 2 * labelBytes;

export function writeSession(session: SessionState, bytes: Buffer, at: number): void {
  bytes.writeDoubleLE(session.firstAt, at);
  bytes.writeDoubleLE(session.lastAt, at + 8);
  bytes.writeUInt32LE(session.generation, at + 16);
  writeEarliest(session.device, session.country, bytes, at + earliestAt);
  // The last byte of these is free.
  bytes.writeInt8(session.quartersAhead, at + labelsAt - 1);
  writeLabel(session.entryPoint, bytes, at + labelsAt);
  writeLabel(session.appVersion, bytes, at + labelsAt + labelBytes);
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
  };
}
