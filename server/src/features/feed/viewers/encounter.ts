/**
 * The activity of one viewer with one item. Every field is a maximum or a union over the viewer's
 * events, so an encounter is a function of the set of its events: merging is commutative,
 * associative and idempotent (see docs/decisions/0007 and 0014).
 */
import type { LoggedEvent } from '../../events/events.ts';

export type Encounter = {
  /** Time of the latest activity, in seconds since the Unix epoch. */
  second: number;
  /** When the viewer last played the item or had it in view for over a second; 0 if never. */
  seenSecond: number;
  /** A union of the flags below. */
  flags: number;
  /** Twice the time of the latest like or unlike in milliseconds, plus 1 if it is a like. */
  likeMark: number;
  saveMark: number;
  /** The viewer's rejections: marks in the same format, odd while the rejection holds. */
  refused: Refused;
  /** The viewer's country at `second`, as two letters; '' if unknown. */
  country: string;
};

/**
 * Rejections of the item itself (by `notInterested` or `report`), of its author, and of its tags.
 */
export type Refused = { item: number; author: number; tag: number };

const notRefused: Refused = { item: 0, author: 0, tag: 0 };

const half = 1;
const completed = 2;
const shared = 4;
const leftAtOnce = 8;
const left = 16;

/** Leaving an item sooner counts as a dislike. */
const quickSwipeSeconds = 2;
/** Having an item in view for longer counts as having seen it. */
const visibleEnoughSeconds = 1;
/** Limits of the binary format. */
const maxSecond = 2 ** 32 - 1;
const maxMarkedMs = 2 ** 47 - 1;

export function emptyEncounter(): Encounter {
  return {
    second: 0,
    seenSecond: 0,
    flags: 0,
    likeMark: 0,
    saveMark: 0,
    refused: notRefused,
    country: '',
  };
}

/** Adds an event about the item. A swipe is about the item that was left. */
export function addEvent(encounter: Encounter, event: LoggedEvent): void {
  const second = Math.min(Math.max(Math.floor(event.at / 1_000), 0), maxSecond);
  addMoment(encounter, second, event.country ?? '');
  const { data } = event;
  // Kinds that reveal nothing about liking only update the time.
  const kind: string = event.event;
  switch (kind) {
    case 'impression':
      if (numberOf(data['visibleSeconds']) > visibleEnoughSeconds) addSeen(encounter, second);
      break;
    case 'playStart':
      addSeen(encounter, second);
      break;
    case 'watchProgress':
      addSeen(encounter, second);
      if (isHalfWatched(data)) encounter.flags |= half;
      break;
    case 'completion':
      addSeen(encounter, second);
      encounter.flags |= completed;
      break;
    case 'swipe':
      encounter.flags |= isQuick(data) ? left | leftAtOnce : left;
      break;
    case 'like':
    case 'unlike':
      encounter.likeMark = Math.max(encounter.likeMark, markOf(event.at, kind === 'like'));
      break;
    case 'save':
    case 'unsave':
      encounter.saveMark = Math.max(encounter.saveMark, markOf(event.at, kind === 'save'));
      break;
    case 'share':
      encounter.flags |= shared;
      break;
    case 'notInterested':
    case 'report':
      refuse(encounter, event);
      break;
    default:
  }
}

/** The later of a rejection and its reversal wins; on a tie, the rejection. */
function refuse(encounter: Encounter, { event, at, data }: LoggedEvent): void {
  const scope = event === 'report' ? 'item' : data['scope'];
  if (scope !== 'item' && scope !== 'author' && scope !== 'tag') return;
  const mark = markOf(at, data['undo'] !== true);
  encounter.refused = mergeRefused(encounter.refused, { ...notRefused, [scope]: mark });
}

function mergeRefused(one: Refused, other: Refused): Refused {
  if (other === notRefused) return one;
  return {
    item: Math.max(one.item, other.item),
    author: Math.max(one.author, other.author),
    tag: Math.max(one.tag, other.tag),
  };
}

/** Whether a rejection holds. */
export function isSet(mark: number): boolean {
  return mark % 2 === 1;
}

export function isRefusal({ item, author, tag }: Refused): boolean {
  return isSet(item) || isSet(author) || isSet(tag);
}

/** Merges another encounter with the same item. */
export function mergeEncounter(into: Encounter, other: Encounter): void {
  addMoment(into, other.second, other.country);
  into.seenSecond = Math.max(into.seenSecond, other.seenSecond);
  into.flags |= other.flags;
  into.likeMark = Math.max(into.likeMark, other.likeMark);
  into.saveMark = Math.max(into.saveMark, other.saveMark);
  into.refused = mergeRefused(into.refused, other.refused);
}

/**
 * The viewer's rating of the item: positive for liked, negative for disliked, 0 for neither.
 * Watching to the end counts 1 and half of it 0.5, a like or a save 2, a share 3. Without any
 * positive sign, leaving it at once counts −0.7, and leaving it later but before half of it −0.4. A
 * rejected item counts −1, whatever else happened.
 */
export function likingOf({ flags, likeMark, saveMark, refused }: Encounter): number {
  if (refused !== notRefused && isRefusal(refused)) return -1;
  const watched = (flags & completed) !== 0 ? 1 : (flags & half) !== 0 ? 0.5 : 0;
  const liking =
    watched +
    (likeMark % 2 === 1 ? 2 : 0) +
    (saveMark % 2 === 1 ? 2 : 0) +
    ((flags & shared) !== 0 ? 3 : 0);
  if (liking > 0 || (flags & left) === 0) return liking;
  return (flags & leftAtOnce) !== 0 ? -0.7 : -0.4;
}

/** Keeps the latest time and its country; on a tie, the larger country code. */
function addMoment(encounter: Encounter, second: number, country: string): void {
  if (second > encounter.second) {
    encounter.second = second;
    encounter.country = country;
  } else if (second === encounter.second && country > encounter.country) {
    encounter.country = country;
  }
}

function addSeen(encounter: Encounter, second: number): void {
  if (second > encounter.seenSecond) encounter.seenSecond = second;
}

function isHalfWatched(data: LoggedEvent['data']): boolean {
  if (numberOf(data['percentComplete']) >= 50) return true;
  const duration = numberOf(data['duration']);
  return duration > 0 && numberOf(data['currentTime']) >= duration / 2;
}

function isQuick(data: LoggedEvent['data']): boolean {
  const watched = data['watchTimeOnFrom'] ?? data['watchTime'];
  return typeof watched === 'number' && watched < quickSwipeSeconds;
}

function markOf(atMs: number, isPositive: boolean): number {
  return Math.min(Math.max(Math.floor(atMs), 0), maxMarkedMs) * 2 + (isPositive ? 1 : 0);
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

// Binary format: 30 bytes, big-endian. The item is identified by its serial number. Refusals are
// rare, so they have a separate record of the same length with the flag `refusal`.
export const encounterBytes = 30;
const refusal = 2 ** 15;

export function writeEncounter(
  serialNumber: number,
  encounter: Encounter,
  bytes: Buffer,
  at: number,
): void {
  bytes.writeUIntBE(serialNumber, at, 6);
  bytes.writeUInt32BE(encounter.second, at + 6);
  bytes.writeUInt32BE(encounter.seenSecond, at + 10);
  bytes.writeUInt16BE(encounter.flags, at + 14);
  bytes.writeUIntBE(encounter.likeMark, at + 16, 6);
  bytes.writeUIntBE(encounter.saveMark, at + 22, 6);
  const isCountry = encounter.country.length === 2;
  bytes[at + 28] = isCountry ? encounter.country.charCodeAt(0) : 0;
  bytes[at + 29] = isCountry ? encounter.country.charCodeAt(1) : 0;
}

export function readEncounter(bytes: Buffer, at: number): Encounter {
  return {
    second: bytes.readUInt32BE(at + 6),
    seenSecond: bytes.readUInt32BE(at + 10),
    flags: bytes.readUInt16BE(at + 14),
    likeMark: bytes.readUIntBE(at + 16, 6),
    saveMark: bytes.readUIntBE(at + 22, 6),
    refused: notRefused,
    country: bytes[at + 28] === 0 ? '' : bytes.toString('latin1', at + 28, at + 30),
  };
}

function writeRefused(serialNumber: number, refused: Refused): Buffer {
  const bytes = Buffer.alloc(encounterBytes);
  bytes.writeUIntBE(serialNumber, 0, 6);
  bytes.writeUIntBE(refused.tag, 6, 6);
  bytes.writeUInt16BE(refusal, 14);
  bytes.writeUIntBE(refused.item, 16, 6);
  bytes.writeUIntBE(refused.author, 22, 6);
  return bytes;
}

function readRefused(bytes: Buffer, at: number): Encounter {
  const refused = {
    item: bytes.readUIntBE(at + 16, 6),
    author: bytes.readUIntBE(at + 22, 6),
    tag: bytes.readUIntBE(at + 6, 6),
  };
  return { ...emptyEncounter(), refused };
}

export type Encounters = Map<number, Encounter>;

export function writeEncounters(encounters: Iterable<readonly [number, Encounter]>): Buffer {
  const all = [...encounters];
  const bytes = Buffer.allocUnsafe(all.length * encounterBytes);
  for (const [index, [serialNumber, encounter]] of all.entries()) {
    writeEncounter(serialNumber, encounter, bytes, index * encounterBytes);
  }
  const refusals = all.flatMap(([serialNumber, { refused }]) =>
    refused === notRefused ? [] : [writeRefused(serialNumber, refused)],
  );
  return refusals.length === 0 ? bytes : Buffer.concat([bytes, ...refusals]);
}

/** Reads encounters; several with one item are merged. */
export function readEncounters(bytes: Buffer): Encounters {
  const found: Encounters = new Map();
  for (let at = 0; at + encounterBytes <= bytes.length; at += encounterBytes) {
    const serialNumber = bytes.readUIntBE(at, 6);
    const isRefused = (bytes.readUInt16BE(at + 14) & refusal) !== 0;
    const encounter = isRefused ? readRefused(bytes, at) : readEncounter(bytes, at);
    const before = found.get(serialNumber);
    if (before === undefined) found.set(serialNumber, encounter);
    else mergeEncounter(before, encounter);
  }
  return found;
}

/** The number of encounters stored per viewer, plus some for the most recently rejected items. */
export const maxEncounters = 2_000;
const maxRefused = 500;

/**
 * The latest encounters, plus the latest of those with rejected items. Within a second, higher
 * serial numbers count as later.
 */
export function latestEncounters(encounters: Encounters): (readonly [number, Encounter])[] {
  const all = [...encounters].toSorted(
    ([a, one], [b, other]) => other.second - one.second || b - a,
  );
  if (all.length <= maxEncounters) return all;
  const older = all.slice(maxEncounters).filter(([, { refused }]) => isRefusal(refused));
  return [...all.slice(0, maxEncounters), ...older.slice(0, maxRefused)];
}
