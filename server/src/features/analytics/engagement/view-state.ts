/**
 * What is known of one view: what one viewer does with one item in one session. It is a function of
 * the set of its events. Each field is a count, a sum, a least or a greatest over distinct events
 * (the log holds each once), so states merge: in any order, and however the log is cut into passes.
 *
 * What a view adds to the counters is a pure function of its state (`contribution.ts`), so a pass
 * adds f(new state) − f(old state), and the counters are a function of the set of events as well:
 *
 * 1. merge(a, b) = merge(b, a), merge(merge(a, b), c) = merge(a, merge(b, c));
 * 2. Σ over passes of (f(new) − f(old)) = f(final), whatever the passes.
 *
 * Cumulative values (position, watch time) are greatest values, never sums: a client repeats them.
 * The watch time is the greatest of watchProgress.currentTime, watchProgress.watchTime,
 * completion.watchTime and, for the item that a swipe leaves, its watchTimeOnFrom.
 */
import type { EventDevice, LoggedEvent } from '../../events/events.ts';

export type ViewState = {
  /** Milliseconds of the Unix epoch. */
  firstAt: number;
  impressions: number;
  plays: number;
  progressReports: number;
  completions: number;
  errors: number;
  stalls: number;
  stallMs: number;
  watchMs: number;
  positionMs: number;
  durationMs: number;
  /** Hours of the Unix epoch with a playStart, a watchProgress or a completion; 0: none yet. */
  firstWatchHour: number;
  lastWatchHour: number;
  device: Earliest;
  country: Earliest;
};

/** The value of the first event that had one; of two at one moment, the smaller. '' is none. */
export type Earliest = { readonly value: string; readonly at: number };

export const hourMs = 3_600_000;
const longestMs = 24 * hourMs;
const none: Earliest = { value: '', at: 0 };

export function emptyView(): ViewState {
  return {
    firstAt: Infinity,
    impressions: 0,
    plays: 0,
    progressReports: 0,
    completions: 0,
    errors: 0,
    stalls: 0,
    stallMs: 0,
    watchMs: 0,
    positionMs: 0,
    durationMs: 0,
    firstWatchHour: 0,
    lastWatchHour: 0,
    device: none,
    country: none,
  };
}

/** Adds an event of the view; of a swipe, that is the view of the item which it leaves. */
export function addToView(view: ViewState, event: LoggedEvent): void {
  const { at, data, device, country } = event;
  if (at < view.firstAt) view.firstAt = at;
  if (device !== undefined) view.device = earlierOf(view.device, device, at);
  if (country !== undefined) view.country = earlierOf(view.country, country, at);
  switch (event.event) {
    case 'impression':
      view.impressions += 1;
      break;
    case 'playStart':
      view.plays += 1;
      addWatchHour(view, at);
      break;
    case 'watchProgress':
      view.progressReports += 1;
      addWatchHour(view, at);
      view.positionMs = Math.max(view.positionMs, millisecondsOf(data['currentTime']));
      view.durationMs = Math.max(view.durationMs, millisecondsOf(data['duration']));
      addWatchTime(view, data['currentTime']);
      addWatchTime(view, data['watchTime']);
      break;
    case 'completion':
      view.completions += 1;
      addWatchHour(view, at);
      addWatchTime(view, data['watchTime']);
      break;
    case 'swipe':
      addWatchTime(view, data['watchTimeOnFrom'] ?? data['watchTime']);
      break;
    case 'rebuffer':
      view.stalls += 1;
      view.stallMs = Math.min(view.stallMs + wholeMilliseconds(data['duration']), mostStallMs);
      break;
    case 'error':
      view.errors += 1;
      break;
    case 'like':
    case 'share':
    case 'save':
    case 'qualityChange':
      break;
    default:
      event.event satisfies never;
  }
}

/** Stalls add up, so that this is capped after the sum: still a function of the set. */
const mostStallMs = 2 ** 32 - 1;

/** A state that holds the events of both, which must be different ones. */
export function mergeViews(a: ViewState, b: ViewState): ViewState {
  return {
    firstAt: Math.min(a.firstAt, b.firstAt),
    impressions: a.impressions + b.impressions,
    plays: a.plays + b.plays,
    progressReports: a.progressReports + b.progressReports,
    completions: a.completions + b.completions,
    errors: a.errors + b.errors,
    stalls: a.stalls + b.stalls,
    stallMs: Math.min(a.stallMs + b.stallMs, mostStallMs),
    watchMs: Math.max(a.watchMs, b.watchMs),
    positionMs: Math.max(a.positionMs, b.positionMs),
    durationMs: Math.max(a.durationMs, b.durationMs),
    firstWatchHour: earlierHour(a.firstWatchHour, b.firstWatchHour),
    lastWatchHour: Math.max(a.lastWatchHour, b.lastWatchHour),
    device: earlierOf(a.device, b.device.value, b.device.at),
    country: earlierOf(a.country, b.country.value, b.country.at),
  };
}

export function earlierOf(found: Earliest, value: string, at: number): Earliest {
  if (value === '') return found;
  const isEarlier = found.value === '' || at < found.at || (at === found.at && value < found.value);
  return isEarlier ? { value, at } : found;
}

function addWatchHour(view: ViewState, at: number): void {
  const hour = Math.floor(at / hourMs);
  view.firstWatchHour = earlierHour(view.firstWatchHour, hour);
  if (hour > view.lastWatchHour) view.lastWatchHour = hour;
}

function earlierHour(a: number, b: number): number {
  return a === 0 ? b : b === 0 ? a : Math.min(a, b);
}

function addWatchTime(view: ViewState, seconds: unknown): void {
  const ms = millisecondsOf(seconds);
  if (ms > view.watchMs) view.watchMs = ms;
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

// How a state is stored: 76 bytes, numbers little-endian.
export const viewBytes = 76;
const devices = ['', 'ios', 'android', 'web'] as const satisfies readonly (EventDevice | '')[];

export function writeView(view: ViewState, bytes: Buffer, at: number): void {
  bytes.writeDoubleLE(view.firstAt, at);
  bytes.writeUInt32LE(view.impressions, at + 8);
  bytes.writeUInt32LE(view.plays, at + 12);
  bytes.writeUInt32LE(view.progressReports, at + 16);
  bytes.writeUInt32LE(view.completions, at + 20);
  bytes.writeUInt32LE(view.errors, at + 24);
  bytes.writeUInt32LE(view.stalls, at + 28);
  bytes.writeUInt32LE(view.stallMs, at + 32);
  bytes.writeUInt32LE(view.watchMs, at + 36);
  bytes.writeUInt32LE(view.positionMs, at + 40);
  bytes.writeUInt32LE(view.durationMs, at + 44);
  bytes.writeUInt32LE(view.firstWatchHour, at + 48);
  bytes.writeUInt32LE(view.lastWatchHour, at + 52);
  writeEarliest(view.device, view.country, bytes, at + 56);
}

export function readView(bytes: Buffer, at: number): ViewState {
  return {
    firstAt: bytes.readDoubleLE(at),
    impressions: bytes.readUInt32LE(at + 8),
    plays: bytes.readUInt32LE(at + 12),
    progressReports: bytes.readUInt32LE(at + 16),
    completions: bytes.readUInt32LE(at + 20),
    errors: bytes.readUInt32LE(at + 24),
    stalls: bytes.readUInt32LE(at + 28),
    stallMs: bytes.readUInt32LE(at + 32),
    watchMs: bytes.readUInt32LE(at + 36),
    positionMs: bytes.readUInt32LE(at + 40),
    durationMs: bytes.readUInt32LE(at + 44),
    firstWatchHour: bytes.readUInt32LE(at + 48),
    lastWatchHour: bytes.readUInt32LE(at + 52),
    ...readEarliest(bytes, at + 56),
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
