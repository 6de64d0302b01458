/**
 * The state of one view: what one viewer does with one item in one session, until a pause
 * (`segments.ts`). It is a function of the set of its events. Each field is a count, a sum, a
 * minimum or a maximum over distinct events (the log holds each once), so states can be merged in
 * any order, however the log is split into passes.
 *
 * A view's contribution to the counters is a pure function of its state (`contribution.ts`), so a
 * pass adds f(new state) − f(old state), and the counters are a function of the set of events as
 * well:
 *
 * 1. merge(a, b) = merge(b, a), merge(merge(a, b), c) = merge(a, merge(b, c));
 * 2. Σ over passes of (f(new) − f(old)) = f(final), whatever the passes.
 *
 * Cumulative values (position, watch time) are maxima, never sums, because clients repeat them. The
 * watch time is the largest that any event of the view reports: watchProgress.watchTime,
 * completion.watchTime and, for the item that a swipe leaves, its watchTimeOnFrom. The position
 * (watchProgress.currentTime) is used only if no event reports a watch time, because seeking is not
 * watching.
 */
import { hourMs } from '../../../../platform/values/time.ts';
import type { LoggedEvent } from '../../../events/events.ts';
import {
  countedColumnOf,
  countedColumns,
  countedIndex,
  type CountedColumn,
} from './counted-kinds.ts';
import {
  addLabels,
  addViewLabels,
  earlierOf,
  mergeViewLabels,
  noViewLabels,
  noValue as none,
  type Earliest,
  type ViewLabels,
} from './earliest.ts';
import type { ActivitySegment } from './segments.ts';

export type ViewState = ActivitySegment &
  ViewLabels & {
    /** The latest generation in which it was touched; see state-store.ts. */
    generation: number;
    /** Number of events of each counted kind, by `countedIndex`; see `countOf`. */
    counts: number[];
    progressReports: number;
    errors: number;
    stalls: number;
    stallMs: number;
    /** The largest watch time reported by an event; −1 if none. */
    toldWatchMs: number;
    positionMs: number;
    durationMs: number;
    loopCount: number;
    loopedCompletions: number;
    /** The longest visible time reported by an impression. */
    visibleMs: number;
    /**
     * Local hours of the organization since the Unix epoch with a playStart, watchProgress or
     * completion; 0 if none yet.
     */
    firstWatchHour: number;
    lastWatchHour: number;
    device: Earliest;
    country: Earliest;
    /** Hashes of reported labels (`label.ts`). */
    entryPoint: Earliest;
    appVersion: Earliest;
    /** Start-up time of the first playStart in milliseconds; −1 if none yet. */
    startupMs: number;
    startupAt: number;
    /** UTC offset of its clock when it was counted, in quarter hours. */
    quartersAhead: number;
  };

const longestMs = 24 * hourMs;
export function emptyView(generation = 0): ViewState {
  return {
    firstAt: Infinity,
    lastAt: -Infinity,
    generation,
    counts: countedColumns.map(() => 0),
    progressReports: 0,
    errors: 0,
    stalls: 0,
    stallMs: 0,
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
    entryPoint: none,
    appVersion: none,
    ...noViewLabels,
    startupMs: -1,
    startupAt: 0,
    quartersAhead: 0,
  };
}

/**
 * Adds an event of the view. A swipe belongs to the view of the item it leaves.
 *
 * @param hour local hour of the event, counted from the Unix epoch
 */
export function addToView(view: ViewState, event: LoggedEvent, hour: number): void {
  const { at, data, device, country } = event;
  if (at < view.firstAt) view.firstAt = at;
  if (at > view.lastAt) view.lastAt = at;
  if (device !== undefined) view.device = earlierOf(view.device, device, at);
  if (country !== undefined) view.country = earlierOf(view.country, country, at);
  addLabels(view, event, at);
  addViewLabels(view, event);
  const column = countedColumnOf(event.event);
  if (column !== null) view.counts[countedIndex[column]] = countOf(view, column) + 1;
  switch (event.event) {
    case 'impression':
      view.visibleMs = Math.max(view.visibleMs, millisecondsOf(data['visibleSeconds']));
      break;
    case 'playStart':
      addWatchHour(view, hour);
      addStartup(view, wholeMilliseconds(data['startupTime']), at);
      break;
    case 'watchProgress':
      view.progressReports += 1;
      addWatchHour(view, hour);
      view.positionMs = Math.max(view.positionMs, millisecondsOf(data['currentTime']));
      view.durationMs = Math.max(view.durationMs, millisecondsOf(data['duration']));
      addWatchTime(view, data['watchTime']);
      break;
    case 'completion':
      if (data['looped'] === true) view.loopedCompletions += 1;
      view.loopCount = Math.max(view.loopCount, wholeNumber(data['loopCount']));
      addWatchHour(view, hour);
      addWatchTime(view, data['watchTime']);
      break;
    case 'swipe':
      addWatchTime(view, data['watchTimeOnFrom'] ?? data['watchTime']);
      break;
    case 'rebuffer':
      view.stalls += 1;
      view.stallMs = Math.min(view.stallMs + wholeMilliseconds(data['duration']), maxStallMs);
      break;
    case 'error':
      view.errors += 1;
      break;
    // Other kinds change only counts, which are updated above.
    default:
  }
}

/** Stalls are capped after summing, so the result is still a function of the set. */
const maxStallMs = 2 ** 32 - 1;
const maxLoops = 1_000_000;

/** Number of events of a counted kind in the view. */
export function countOf({ counts }: ViewState, column: CountedColumn): number {
  return counts[countedIndex[column]] ?? 0;
}

/** Whether any part of the item was played. */
export function hasStarted(view: ViewState): boolean {
  return countOf(view, 'plays') > 0 || view.progressReports > 0;
}

export function watchMsOf({ toldWatchMs, positionMs }: ViewState): number {
  return toldWatchMs >= 0 ? toldWatchMs : positionMs;
}

/** Merges two states that were built from disjoint sets of events. */
export function mergeViews(a: ViewState, b: ViewState): ViewState {
  const startup = isEarlierStart(a, b.startupMs, b.startupAt) ? b : a;
  return {
    firstAt: Math.min(a.firstAt, b.firstAt),
    lastAt: Math.max(a.lastAt, b.lastAt),
    generation: Math.max(a.generation, b.generation),
    counts: a.counts.map((count, index) => count + (b.counts[index] ?? 0)),
    progressReports: a.progressReports + b.progressReports,
    errors: a.errors + b.errors,
    stalls: a.stalls + b.stalls,
    stallMs: Math.min(a.stallMs + b.stallMs, maxStallMs),
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
    entryPoint: earlierOf(a.entryPoint, b.entryPoint.value, b.entryPoint.at),
    appVersion: earlierOf(a.appVersion, b.appVersion.value, b.appVersion.at),
    ...mergeViewLabels(a, b),
    startupMs: startup.startupMs,
    startupAt: startup.startupAt,
    quartersAhead: 0,
  };
}

function addStartup(view: ViewState, ms: number, at: number): void {
  if (!isEarlierStart(view, ms, at)) return;
  view.startupMs = ms;
  view.startupAt = at;
}

/** Whether a start is earlier than the known one; of two at the same time, the faster wins. */
function isEarlierStart({ startupMs, startupAt }: ViewState, ms: number, at: number): boolean {
  if (ms < 0 || startupMs < 0) return ms >= 0;
  return at < startupAt || (at === startupAt && ms < startupMs);
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

/** Converts seconds of an event to milliseconds, at most a day; 0 for invalid values. */
function millisecondsOf(seconds: unknown): number {
  return typeof seconds === 'number' ? wholeMilliseconds(seconds * 1_000) : 0;
}

export function wholeMilliseconds(ms: unknown): number {
  return typeof ms === 'number' && ms > 0 ? Math.min(Math.round(ms), longestMs) : 0;
}

/** The item whose view an event belongs to. A swipe belongs to the item it leaves. */
export function viewedContentOf(event: LoggedEvent): string | null {
  if (event.event !== 'swipe') return event.contentId;
  const from = event.data['fromContentId'];
  return typeof from === 'string' && uuidForm.test(from) ? from.toLowerCase() : null;
}

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
