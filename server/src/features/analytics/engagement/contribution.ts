/** What a view or a session adds to the counters: pure functions of its state. */
import type { EventKind } from '../../events/events.ts';
import type { SessionState } from './session-state.ts';
import type { ViewState } from './view-state.ts';

/** The columns of content_counter, in the order of a row of counts. */
export const contentColumns = [
  'impressions',
  'plays',
  'completions',
  'likes',
  'shares',
  'saves',
  'swipes_away',
  'views',
  'completed_plays',
  'watch_ms',
  'stalls',
  'stall_ms',
  'attempted_views',
  'errored_views',
  'startable_views',
  'exits_before_start',
  'measured_views',
  'watched_permille',
] as const;

/** audience_counter has the same and two more. */
export const audienceColumns = [...contentColumns, 'sessions', 'session_ms'] as const;

/** A row of counts: the place of a column is its index among the columns. */
export type Counts = Float64Array;

export function emptyContentCounts(): Counts {
  return new Float64Array(contentColumns.length);
}

export function emptyAudienceCounts(): Counts {
  return new Float64Array(audienceColumns.length);
}

/** The place of a plain count, by the kind of event; null for kinds that views alone tell of. */
export function plainColumnOf(kind: EventKind): number | null {
  switch (kind) {
    case 'impression':
      return 0;
    case 'playStart':
      return 1;
    case 'completion':
      return 2;
    case 'like':
      return 3;
    case 'share':
      return 4;
    case 'save':
      return 5;
    case 'swipe':
      return 6;
    case 'watchProgress':
    case 'rebuffer':
    case 'qualityChange':
    case 'error':
      return null;
    default:
      return kind satisfies never;
  }
}

const firstViewColumn = 7;
const viewColumns = 11;
const sessionColumn = contentColumns.length;

/** What a view counts for: the columns from `views` on. Overwritten by the next call. */
const filled = new Float64Array(viewColumns);

function fillViewCounts(view: ViewState): Float64Array {
  const isWatched = view.plays > 0 || view.progressReports > 0;
  const hasError = view.errors > 0;
  const isStartable = view.impressions > 0 || view.plays > 0;
  const isMeasured = view.durationMs > 0;
  filled[0] = isWatched ? 1 : 0;
  filled[1] = Math.min(view.completions, view.plays);
  filled[2] = view.watchMs;
  filled[3] = view.stalls;
  filled[4] = view.stallMs;
  filled[5] = view.plays > 0 || hasError ? 1 : 0;
  filled[6] = hasError ? 1 : 0;
  filled[7] = isStartable ? 1 : 0;
  filled[8] = isStartable && !isWatched && !hasError ? 1 : 0;
  filled[9] = isMeasured ? 1 : 0;
  filled[10] = isMeasured ? watchedPermille(view) : 0;
  return filled;
}

/**
 * How far a view got. Between the last progress and the end nothing tells of it but the completion,
 * so a completed view has reached the length that it told.
 */
export function reachedMs({ completions, positionMs, durationMs }: ViewState): number {
  return completions > 0 ? Math.max(positionMs, durationMs) : positionMs;
}

/** Adds what a view counts for, `times` 1 or −1, to rows of counts. */
export function addViewCounts(rows: readonly Counts[], view: ViewState, times: 1 | -1): void {
  const counts = fillViewCounts(view);
  for (const row of rows) {
    for (let place = 0; place < viewColumns; place += 1) {
      const column = firstViewColumn + place;
      row[column] = (row[column] ?? 0) + (counts[place] ?? 0) * times;
    }
  }
}

/** How much of the video a view has reached, in thousandths: a whole number, so that sums are exact. */
function watchedPermille(view: ViewState): number {
  const { durationMs } = view;
  return Math.round((1_000 * Math.min(reachedMs(view), durationMs)) / durationMs);
}

export function addSessionCounts(counts: Counts, session: SessionState, times: 1 | -1): void {
  counts[sessionColumn] = (counts[sessionColumn] ?? 0) + times;
  const lengthMs = session.lastAt - session.firstAt;
  counts[sessionColumn + 1] = (counts[sessionColumn + 1] ?? 0) + lengthMs * times;
}

export function addCounts(into: Counts, from: Counts): void {
  for (let column = 0; column < from.length; column += 1) {
    into[column] = (into[column] ?? 0) + (from[column] ?? 0);
  }
}

export function isZero(counts: Counts): boolean {
  return counts.every((count) => count === 0);
}
