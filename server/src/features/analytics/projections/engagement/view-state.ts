/**
 * What is known of one view: what one viewer does with one item in one session, until they have not
 * touched it for a while (`segments.ts`). It is a function of the set of its events. Each field is a
 * count, a sum, a minimum or a maximum over distinct events (the log holds each once), so states
 * merge: in any order, and however the log is cut into passes.
 *
 * What a view adds to the counters is a pure function of its state (`contribution.ts`), so a pass
 * adds f(new state) − f(old state), and the counters are a function of the set of events as well:
 *
 * 1. merge(a, b) = merge(b, a), merge(merge(a, b), c) = merge(a, merge(b, c));
 * 2. Σ over passes of (f(new) − f(old)) = f(final), whatever the passes.
 *
 * Cumulative values (position, watch time) are maxima, never sums: a client repeats them. The watch
 * time is the maximum of what any event of the view tells: watchProgress.watchTime,
 * completion.watchTime and, for the item that a swipe leaves, its watchTimeOnFrom. Only where no event
 * tells a watch time, the position (watchProgress.currentTime) stands for it: moving the seek bar is
 * not watching.
 */
import { hourMs } from '../../../../platform/time.ts';
import type { EventDevice, LoggedEvent } from '../../../events/events.ts';
import type { Segment } from './segments.ts';

export type ViewState = Segment & {
  /** The latest generation in which it was touched: see state-store.ts. */
  generation: number;
  impressions: number;
  plays: number;
  progressReports: number;
  completions: number;
  errors: number;
  stalls: number;
  stallMs: number;
  swipes: number;
  /** The greatest watch time that an event tells; −1: none tells one. */
  toldWatchMs: number;
  positionMs: number;
  durationMs: number;
  /** The greatest number of loops that a completion tells, and completions that are marked as loops. */
  loopCount: number;
  loopedCompletions: number;
  /** The greatest time for which an impression says that the item was visible. */
  visibleMs: number;
  /** Hours of the organization's clock, counted from the Unix epoch, with a playStart, a watchProgress or a completion; 0: none yet. */
  firstWatchHour: number;
  lastWatchHour: number;
  device: Earliest;
  country: Earliest;
  /** By how many quarters of an hour its clock was ahead of UTC when it was counted. */
  quartersAhead: number;
};

/** The value of the first event that had one; of two at one moment, the smaller. '' is none. */
export type Earliest = { readonly value: string; readonly at: number };

const longestMs = 24 * hourMs;
const none: Earliest = { value: '', at: 0 };

export function emptyView(generation = 0): ViewState {
  return {
    firstAt: Infinity,
    lastAt: -Infinity,
    generation,
    impressions: 0,
    plays: 0,
    progressReports: 0,
    completions: 0,
    errors: 0,
    stalls: 0,
    stallMs: 0,
    swipes: 0,
    toldWatchMs: -1,
    positionMs: 0,
    durationMs: 0,
    loopCount: 0,
    loopedCompletions: 0,
    visibleMs: 0,
    firstWatchHour: 0,
    lastWatchHour: 0,
    device: none,
    country: none,
    quartersAhead: 0,
  };
}

/**
 * Adds an event of the view; of a swipe, that is the view of the item which it leaves.
 *
 * @param hour of the event by the organization's clock, counted from the Unix epoch
 */
export function addToView(view: ViewState, event: LoggedEvent, hour: number): void {
  const { at, data, device, country } = event;
  if (at < view.firstAt) view.firstAt = at;
  if (at > view.lastAt) view.lastAt = at;
  if (device !== undefined) view.device = earlierOf(view.device, device, at);
  if (country !== undefined) view.country = earlierOf(view.country, country, at);
  switch (event.event) {
    case 'impression':
      view.impressions += 1;
      view.visibleMs = Math.max(view.visibleMs, millisecondsOf(data['visibleSeconds']));
      break;
    case 'playStart':
      view.plays += 1;
      addWatchHour(view, hour);
      break;
    case 'watchProgress':
      view.progressReports += 1;
      addWatchHour(view, hour);
      view.positionMs = Math.max(view.positionMs, millisecondsOf(data['currentTime']));
      view.durationMs = Math.max(view.durationMs, millisecondsOf(data['duration']));
      addWatchTime(view, data['watchTime']);
      break;
    case 'completion':
      view.completions += 1;
      if (data['looped'] === true) view.loopedCompletions += 1;
      view.loopCount = Math.max(view.loopCount, wholeNumber(data['loopCount']));
      addWatchHour(view, hour);
      addWatchTime(view, data['watchTime']);
      break;
    case 'swipe':
      view.swipes += 1;
      addWatchTime(view, data['watchTimeOnFrom'] ?? data['watchTime']);
      break;
    case 'rebuffer':
      view.stalls += 1;
      view.stallMs = Math.min(view.stallMs + wholeMilliseconds(data['duration']), maxStallMs);
      break;
    case 'error':
      view.errors += 1;
      break;
    case 'like':
    case 'share':
    case 'save':
    case 'unlike':
    case 'unsave':
    case 'qualityChange':
      break;
    default:
      event.event satisfies never;
  }
}

/** Stalls add up, so this is capped after the sum: still a function of the set. */
const maxStallMs = 2 ** 32 - 1;
const maxLoops = 1_000_000;

/** Whether anything of the item was played. */
export function hasStarted({ plays, progressReports }: ViewState): boolean {
  return plays > 0 || progressReports > 0;
}

export function watchMsOf({ toldWatchMs, positionMs }: ViewState): number {
  return toldWatchMs >= 0 ? toldWatchMs : positionMs;
}

/** A state that holds the events of both, which must be different ones. */
export function mergeViews(a: ViewState, b: ViewState): ViewState {
  return {
    firstAt: Math.min(a.firstAt, b.firstAt),
    lastAt: Math.max(a.lastAt, b.lastAt),
    generation: Math.max(a.generation, b.generation),
    impressions: a.impressions + b.impressions,
    plays: a.plays + b.plays,
    progressReports: a.progressReports + b.progressReports,
    completions: a.completions + b.completions,
    errors: a.errors + b.errors,
    stalls: a.stalls + b.stalls,
    stallMs: Math.min(a.stallMs + b.stallMs, maxStallMs),
    swipes: a.swipes + b.swipes,
    toldWatchMs: Math.max(a.toldWatchMs, b.toldWatchMs),
    positionMs: Math.max(a.positionMs, b.positionMs),
    durationMs: Math.max(a.durationMs, b.durationMs),
    loopCount: Math.max(a.loopCount, b.loopCount),
    loopedCompletions: a.loopedCompletions + b.loopedCompletions,
    visibleMs: Math.max(a.visibleMs, b.visibleMs),
    firstWatchHour: earlierHour(a.firstWatchHour, b.firstWatchHour),
    lastWatchHour: Math.max(a.lastWatchHour, b.lastWatchHour),
    device: earlierOf(a.device, b.device.value, b.device.at),
    country: earlierOf(a.country, b.country.value, b.country.at),
    quartersAhead: 0,
  };
}

export function earlierOf(found: Earliest, value: string, at: number): Earliest {
  if (value === '') return found;
  const isEarlier = found.value === '' || at < found.at || (at === found.at && value < found.value);
  return isEarlier ? { value, at } : found;
}

function addWatchHour(view: ViewState, hour: number): void {
  view.firstWatchHour = earlierHour(view.firstWatchHour, hour);
  if (hour > view.lastWatchHour) view.lastWatchHour = hour;
}

function earlierHour(a: number, b: number): number {
  return a === 0 ? b : b === 0 ? a : Math.min(a, b);
}

function addWatchTime(view: ViewState, seconds: unknown): void {
  if (typeof seconds !== 'number') return;
  const ms = millisecondsOf(seconds);
  if (ms > view.toldWatchMs) view.toldWatchMs = ms;
}

function wholeNumber(value: unknown): number {
  return typeof value === 'number' && value > 0 ? Math.min(Math.floor(value), maxLoops) : 0;
}

/** Seconds of an event as milliseconds, at most a day; 0 for what is no time. */
function millisecondsOf(seconds: unknown): number {
  return typeof seconds === 'number' ? wholeMilliseconds(seconds * 1_000) : 0;
}

export function wholeMilliseconds(ms: unknown): number {
  return typeof ms === 'number' && ms > 0 ? Math.min(Math.round(ms), longestMs) : 0;
}

/** The item whose view an event belongs to: a swipe belongs to the one that it leaves. */
export function viewedContentOf(event: LoggedEvent): string | null {
  if (event.event !== 'swipe') return event.contentId;
  const from = event.data['fromContentId'];
  return typeof from === 'string' && uuidForm.test(from) ? from.toLowerCase() : null;
}

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

// How a state is stored: 112 bytes, numbers little-endian.
export const viewBytes = 112;
const devices = ['', 'ios', 'android', 'web'] as const satisfies readonly (EventDevice | '')[];

export function writeView(view: ViewState, bytes: Buffer, at: number): void {
  bytes.writeDoubleLE(view.firstAt, at);
  bytes.writeDoubleLE(view.lastAt, at + 8);
  bytes.writeUInt32LE(view.generation, at + 16);
  bytes.writeUInt32LE(view.impressions, at + 20);
  bytes.writeUInt32LE(view.plays, at + 24);
  bytes.writeUInt32LE(view.progressReports, at + 28);
  bytes.writeUInt32LE(view.completions, at + 32);
  bytes.writeUInt32LE(view.errors, at + 36);
  bytes.writeUInt32LE(view.stalls, at + 40);
  bytes.writeUInt32LE(view.stallMs, at + 44);
  bytes.writeUInt32LE(view.swipes, at + 48);
  bytes.writeInt32LE(view.toldWatchMs, at + 52);
  bytes.writeUInt32LE(view.positionMs, at + 56);
  bytes.writeUInt32LE(view.durationMs, at + 60);
  bytes.writeUInt32LE(view.loopCount, at + 64);
  bytes.writeUInt32LE(view.loopedCompletions, at + 68);
  bytes.writeUInt32LE(view.visibleMs, at + 72);
  bytes.writeUInt32LE(view.firstWatchHour, at + 76);
  bytes.writeUInt32LE(view.lastWatchHour, at + 80);
  writeEarliest(view.device, view.country, bytes, at + 84);
  bytes.writeInt8(view.quartersAhead, at + 104);
  bytes.fill(0, at + 105, at + viewBytes);
}

export function readView(bytes: Buffer, at: number): ViewState {
  return {
    firstAt: bytes.readDoubleLE(at),
    lastAt: bytes.readDoubleLE(at + 8),
    generation: bytes.readUInt32LE(at + 16),
    impressions: bytes.readUInt32LE(at + 20),
    plays: bytes.readUInt32LE(at + 24),
    progressReports: bytes.readUInt32LE(at + 28),
    completions: bytes.readUInt32LE(at + 32),
    errors: bytes.readUInt32LE(at + 36),
    stalls: bytes.readUInt32LE(at + 40),
    stallMs: bytes.readUInt32LE(at + 44),
    swipes: bytes.readUInt32LE(at + 48),
    toldWatchMs: bytes.readInt32LE(at + 52),
    positionMs: bytes.readUInt32LE(at + 56),
    durationMs: bytes.readUInt32LE(at + 60),
    loopCount: bytes.readUInt32LE(at + 64),
    loopedCompletions: bytes.readUInt32LE(at + 68),
    visibleMs: bytes.readUInt32LE(at + 72),
    firstWatchHour: bytes.readUInt32LE(at + 76),
    lastWatchHour: bytes.readUInt32LE(at + 80),
    ...readEarliest(bytes, at + 84),
    quartersAhead: bytes.readInt8(at + 104),
  };
}

export const earliestBytes = 20;

/** A device in a byte, a country in two, and the moment of each. */
export function writeEarliest(
  device: Earliest,
  country: Earliest,
  bytes: Buffer,
  at: number,
): void {
  const isCountry = country.value.length === 2;
  bytes.writeDoubleLE(device.at, at);
  bytes.writeDoubleLE(country.at, at + 8);
  bytes[at + 16] = Math.max(0, devices.indexOf(device.value as EventDevice));
  bytes[at + 17] = isCountry ? country.value.charCodeAt(0) : 0;
  bytes[at + 18] = isCountry ? country.value.charCodeAt(1) : 0;
  bytes[at + 19] = 0;
}

export function readEarliest(bytes: Buffer, at: number): { device: Earliest; country: Earliest } {
  const [first = 0, second = 0] = [bytes[at + 17], bytes[at + 18]];
  return {
    device: { value: devices[bytes[at + 16] ?? 0] ?? '', at: bytes.readDoubleLE(at) },
    country: {
      value: first === 0 ? '' : String.fromCharCode(first, second),
      at: bytes.readDoubleLE(at + 8),
    },
  };
}
