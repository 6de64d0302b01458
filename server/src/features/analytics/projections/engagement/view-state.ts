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
import type { CustomKind, LoggedEvent } from '../../../events/events.ts';
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
import type { Segment } from './segments.ts';

export type ViewState = Segment &
  ViewLabels & {
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
    likes: number;
    shares: number;
    saves: number;
    unlikes: number;
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
    /** Hashes of the label (`label.ts`) that an event tells. */
    entryPoint: Earliest;
    appVersion: Earliest;
    /** The start-up time of the first playStart, in milliseconds; −1: none yet. */
    startupMs: number;
    startupAt: number;
    /** By how many quarters of an hour its clock was ahead of UTC when it was counted. */
    quartersAhead: number;
  };

const longestMs = 24 * hourMs;
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
    likes: 0,
    shares: 0,
    saves: 0,
    unlikes: 0,
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
  addLabels(view, event, at);
  addViewLabels(view, event);
  switch (event.event) {
    case 'impression':
      view.impressions += 1;
      view.visibleMs = Math.max(view.visibleMs, millisecondsOf(data['visibleSeconds']));
      break;
    case 'playStart':
      view.plays += 1;
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
      view.likes += 1;
      break;
    case 'share':
      view.shares += 1;
      break;
    case 'save':
      view.saves += 1;
      break;
    case 'unlike':
      view.unlikes += 1;
      break;
    case 'unsave':
    case 'notInterested':
    case 'report':
    case 'qualityChange':
      break;
    default:
      event.event satisfies CustomKind;
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
  const startup = isEarlierStart(a, b.startupMs, b.startupAt) ? b : a;
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
    likes: a.likes + b.likes,
    shares: a.shares + b.shares,
    saves: a.saves + b.saves,
    unlikes: a.unlikes + b.unlikes,
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

/** Whether a start is before the one that is known; of two at one moment, the faster. */
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

/** Seconds of an event as milliseconds, at most a day; 0 for what is not a time. */
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
