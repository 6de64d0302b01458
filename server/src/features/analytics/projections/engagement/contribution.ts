/** Contributions of views and sessions to the counters, as pure functions of their state. */
import { countedColumns } from './counted-kinds.ts';
import type { SessionState } from './session-state.ts';
import { countOf, hasStarted, watchMsOf, type ViewState } from './view-state.ts';

/** Columns derived from views, each in the period in which the view began. */
const viewColumns = [
  'views',
  'completed_plays',
  'watch_ms',
  'stalls',
  'stall_ms',
  'attempted_views',
  'errored_views',
  'startable_views',
  'exits_before_start',
  'failures_before_start',
  'measured_views',
  'watched_share',
  'hooked_views',
  'engaged_views',
  'swiped_views',
  'replayed_views',
  'replays',
] as const;

/**
 * The columns of content_counter, in the order of a row of counts. Columns of event kinds count
 * distinct events, each in the period of the event.
 */
export const contentColumns = [...countedColumns, ...viewColumns] as const;
/** audience_counter has two more columns. */
export const audienceColumns = [...contentColumns, 'sessions', 'session_ms'] as const;

type AudienceColumn = (typeof audienceColumns)[number];
type ViewCounts = Record<(typeof viewColumns)[number], number>;

/** A row of counts, indexed by `columnIndex`. Dense, because passes add up millions of them. */
export type Counts = Float64Array;

export const columnIndex = Object.freeze(
  Object.fromEntries(audienceColumns.map((column, index) => [column, index])),
) as Readonly<Record<AudienceColumn, number>>;

const viewColumnIndexes = viewColumns.map((column) => [column, columnIndex[column]] as const);

export function emptyContentCounts(): Counts {
  return new Float64Array(contentColumns.length);
}

export function emptyAudienceCounts(): Counts {
  return new Float64Array(audienceColumns.length);
}

/** A viewer who has watched this long has stayed past the opening. */
export const hookMs = 3_000;
export const engagedMs = 10_000;
/** Leaving within this time before playback starts counts as swiping past. */
export const shortExitMs = 1_000;
/** Caps short clips that loop for hours, which would otherwise outweigh all other views. */
const maxWatchedShare = 100;

function countView(view: ViewState): ViewCounts {
  const isWatched = hasStarted(view);
  const hasError = view.errors > 0;
  const plays = countOf(view, 'plays');
  const completions = countOf(view, 'completions');
  const isStartable = countOf(view, 'impressions') > 0 || plays > 0;
  const isMeasured = view.durationMs > 0;
  const watchMs = watchMsOf(view);
  const replays = replaysOf(view);
  const leftBeforeStart = isStartable && !isWatched && !hasError;
  return {
    views: count(isWatched),
    completed_plays: Math.min(completions, plays),
    watch_ms: watchMs,
    stalls: view.stalls,
    stall_ms: view.stallMs,
    attempted_views: count(plays > 0 || hasError),
    errored_views: count(hasError),
    startable_views: count(isStartable),
    exits_before_start: count(leftBeforeStart && dwellMsOf(view) >= shortExitMs),
    failures_before_start: count(hasError && !isWatched),
    measured_views: count(isMeasured),
    watched_share: isMeasured ? watchedShare(watchMs, view.durationMs) : 0,
    hooked_views: count(isWatched && watchMs >= hookMs),
    engaged_views: count(isWatched && (watchMs >= engagedMs || completions > 0)),
    swiped_views: count(isWatched && countOf(view, 'swipes_away') > 0 && watchMs < hookMs),
    replayed_views: count(replays > 0),
    replays,
  };
}

function count(is: boolean): number {
  return is ? 1 : 0;
}

/** Number of replays: clients report loops by number, by a flag, or by repeated completions. */
function replaysOf(view: ViewState): number {
  const { loopCount, loopedCompletions } = view;
  return Math.max(loopCount, loopedCompletions, countOf(view, 'completions') - 1, 0);
}

/** Time the item was on the screen, from the best available evidence. */
function dwellMsOf(view: ViewState): number {
  return Math.max(view.lastAt - view.firstAt, view.visibleMs, watchMsOf(view));
}

export type ViewWatch = {
  readonly plays: number;
  readonly completedPlays: number;
  readonly watchMs: number;
};

export function watchOf(view: ViewState): ViewWatch {
  const plays = countOf(view, 'plays');
  const completedPlays = Math.min(countOf(view, 'completions'), plays);
  return { plays, completedPlays, watchMs: watchMsOf(view) };
}

/**
 * The furthest position of a view. After the last progress event, only a completion shows how far
 * playback got, so a completed view has reached its reported duration.
 */
export function reachedMs(view: ViewState): number {
  const { positionMs, durationMs } = view;
  return countOf(view, 'completions') > 0 ? Math.max(positionMs, durationMs) : positionMs;
}

/**
 * End positions of a view's replays: all but the last reached the end, and the last lasted for the
 * remaining watch time. Empty for views without replays or without a reported duration.
 */
export function rerunsOf(view: ViewState): number[] {
  const { durationMs } = view;
  const completions = countOf(view, 'completions');
  const replays = replaysOf(view);
  if (replays === 0 || durationMs === 0) return [];
  const leftMs = Math.min(Math.max(watchMsOf(view) - replays * durationMs, 0), durationMs);
  const lastMs = completions > replays ? durationMs : leftMs;
  const fullRuns = Math.min(replays, maxReruns) - 1;
  return [...Array.from({ length: fullRuns }, () => durationMs), lastMs];
}

/** Otherwise a view that loops for hours would outweigh all others. */
const maxReruns = 100;

/** Adds a view's contribution, multiplied by `times`, to rows of counts. */
export function addViewCounts(rows: readonly Counts[], view: ViewState, times: 1 | -1): void {
  const counts = countView(view);
  for (const row of rows) {
    for (const [column, index] of viewColumnIndexes) {
      row[index] = (row[index] ?? 0) + counts[column] * times;
    }
  }
}

export function addViewEvents(counts: Counts, view: ViewState): void {
  for (const column of countedColumns) addTo(counts, column, countOf(view, column));
}

/**
 * `watched_share` is in units of one ten-millionth: integers make sums exact in any order, the
 * rounding is invisible, and values fit in four bytes.
 */
export const watchedShareUnits = 10_000_000;

/** Watch time divided by duration. Exceeds 1 for loops. */
function watchedShare(watchMs: number, durationMs: number): number {
  const share = Math.min(watchMs / durationMs, maxWatchedShare);
  return Math.round(share * watchedShareUnits);
}

export function addSessionCounts(counts: Counts, session: SessionState, times: 1 | -1): void {
  addTo(counts, 'sessions', times);
  addTo(counts, 'session_ms', (session.lastAt - session.firstAt) * times);
}

export function addTo(counts: Counts, column: AudienceColumn, value: number): void {
  const index = columnIndex[column];
  counts[index] = (counts[index] ?? 0) + value;
}

export function addCounts(into: Counts, from: Counts): void {
  for (let index = 0; index < from.length; index += 1) {
    into[index] = (into[index] ?? 0) + (from[index] ?? 0);
  }
}

export function isZero(counts: Counts): boolean {
  return counts.every((value) => value === 0);
}
