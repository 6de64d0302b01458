/**
 * What one viewer did with items on one UTC day, as counted by ranking: each kind at most once per
 * item. Every field is a minimum, a maximum or a union, so a day is a function of the set of its
 * events (docs/decisions/0007).
 */
import type { LoggedEvent } from '../../events/events.ts';
import { dayMs } from '../../../platform/values/time.ts';

export type DayItem = {
  /** A union of the flags below. */
  flags: number;
  /**
   * Twice the millisecond of the day of the latest like or unlike, plus 1 if it is a like; 0 if
   * none.
   */
  likeMark: number;
  saveMark: number;
};

export type ViewerDay = {
  /** The lowest crowding of the networks the viewer was on; see events/intake/crowds.ts. */
  crowd: number;
  /** Whether an app's server vouched for the viewer. */
  isVouched: boolean;
  /** The viewer's country. If there are several, the largest code; '' means unknown. */
  country: string;
  /** By serial number of the item, or by its id while that is unknown. */
  items: Map<number, DayItem>;
};

export const shown = 1;
export const played = 2;
export const completed = 4;
export const shared = 8;

/**
 * Maximum number of items per viewer and day. Keeps those with the smallest mixed serial numbers,
 * which is a deterministic sample.
 */
export const maxItemsOfDay = 200;

export function emptyDay(): ViewerDay {
  return { crowd: maxCrowd, isVouched: false, country: '', items: new Map() };
}

/** The maximum crowding of a network. */
export const maxCrowd = 15;

export function emptyDayItem(): DayItem {
  return { flags: 0, likeMark: 0, saveMark: 0 };
}

/** The UTC day of a time, in days since 1970. */
export function dayNumberOf(atMs: number): number {
  return Math.floor(atMs / dayMs);
}

/** Whether ranking counts this kind of event. */
export function isCountedKind(kind: string): boolean {
  return countedKinds.has(kind);
}

const countedKinds = new Set([
  'impression',
  'playStart',
  'watchProgress',
  'completion',
  'like',
  'unlike',
  'save',
  'unsave',
  'share',
]);

export function addViewerFacts(day: ViewerDay, event: LoggedEvent): void {
  day.crowd = Math.min(day.crowd, event.crowd ?? 0);
  if (event.vouched === true) day.isVouched = true;
  if (event.country !== undefined && event.country > day.country) day.country = event.country;
}

export function addDayEvent(item: DayItem, event: LoggedEvent): void {
  const kind: string = event.event;
  switch (kind) {
    case 'impression':
      item.flags |= shown;
      break;
    case 'playStart':
    case 'watchProgress':
      item.flags |= played;
      break;
    case 'completion':
      item.flags |= played | completed;
      break;
    case 'share':
      item.flags |= shared;
      break;
    case 'like':
    case 'unlike':
      item.likeMark = Math.max(item.likeMark, markOf(event.at, kind === 'like'));
      break;
    case 'save':
    case 'unsave':
      item.saveMark = Math.max(item.saveMark, markOf(event.at, kind === 'save'));
      break;
    default:
  }
}

/** Merges another record of the same viewer and day. */
export function mergeDay(into: ViewerDay, other: ViewerDay): void {
  into.crowd = Math.min(into.crowd, other.crowd);
  into.isVouched ||= other.isVouched;
  if (other.country > into.country) into.country = other.country;
  for (const [serialNumber, item] of other.items) mergeItem(into.items, serialNumber, item);
  keepSample(into.items);
}

export function mergeItem(items: Map<number, DayItem>, serialNumber: number, other: DayItem): void {
  const item = items.get(serialNumber);
  if (item === undefined) {
    items.set(serialNumber, { ...other });
    return;
  }
  item.flags |= other.flags;
  item.likeMark = Math.max(item.likeMark, other.likeMark);
  item.saveMark = Math.max(item.saveMark, other.saveMark);
}

/** Keeps the items with the smallest mixed numbers, regardless of insertion order. */
export function keepSample(items: Map<number, DayItem>): void {
  if (items.size <= maxItemsOfDay) return;
  const sorted = [...items.keys()].toSorted((a, b) => mix(a) - mix(b) || a - b);
  for (const serialNumber of sorted.slice(maxItemsOfDay)) items.delete(serialNumber);
}

/** Spreads serial numbers over 32 bits: the finalizer of MurmurHash3 (Appleby, public domain). */
function mix(serialNumber: number): number {
  let mixed = serialNumber | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

function markOf(atMs: number, isPositive: boolean): number {
  return (Math.floor(atMs) - dayNumberOf(atMs) * dayMs) * 2 + (isPositive ? 1 : 0);
}

// Storage format of a day's items: 15 bytes each, big-endian, by ascending serial number.
const itemBytes = 15;

export function writeItems(items: ReadonlyMap<number, DayItem>): Buffer {
  const sorted = [...items].toSorted(([a], [b]) => a - b);
  const bytes = Buffer.allocUnsafe(sorted.length * itemBytes);
  for (const [index, [serialNumber, item]] of sorted.entries()) {
    const at = index * itemBytes;
    bytes.writeUIntBE(serialNumber, at, 6);
    bytes[at + 6] = item.flags;
    bytes.writeUInt32BE(item.likeMark, at + 7);
    bytes.writeUInt32BE(item.saveMark, at + 11);
  }
  return bytes;
}

export function readItems(bytes: Buffer): Map<number, DayItem> {
  const items = new Map<number, DayItem>();
  for (let at = 0; at + itemBytes <= bytes.length; at += itemBytes) {
    items.set(bytes.readUIntBE(at, 6), {
      flags: bytes[at + 6] ?? 0,
      likeMark: bytes.readUInt32BE(at + 7),
      saveMark: bytes.readUInt32BE(at + 11),
    });
  }
  return items;
}

/** Whether stored items include one of these. */
export function namesItem(bytes: Buffer, serialNumbers: ReadonlySet<number>): boolean {
  for (let at = 0; at + itemBytes <= bytes.length; at += itemBytes) {
    if (serialNumbers.has(bytes.readUIntBE(at, 6))) return true;
  }
  return false;
}
