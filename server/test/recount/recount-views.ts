/** Builds views and visits from all of their events at once, for the recount. */
import type { LoggedEvent } from '../../src/features/events/events.ts';
import { by, total } from './recount-numbers.ts';

export type View = {
  contentId: string;
  firstAt: number;
  plays: number;
  isWatched: boolean;
  completions: number;
  completedPlays: number;
  watchMs: number;
  lastAt: number;
  swipes: number;
  replays: number;
  reachedMs: number;
  durationMs: number;
  stalls: number;
  stallMs: number;
  errors: number;
  impressions: number;
  likes: number;
  shares: number;
  saves: number;
  unlikes: number;
  /** From its first playStart, in milliseconds. */
  startup: number | null;
  viewer: string | null;
  rendition: string | null;
  codec: string | null;
  errorCode: string | null;
  errorMessage: string | null;
  feedId: string | null;
  sharePlatform: string | null;
  position: string | null;
} & Told;
export type Visit = {
  firstAt: number;
  lastAt: number;
  viewer: string | null;
  plays: number;
} & Told;

/** Values from the first event that had them. */
export type Told = {
  device: string | null;
  country: string | null;
  entryPoint: string | null;
  appVersion: string | null;
};

/** Each viewer's activity with each item in one session; a login starts a new view. */
export function toViews(events: readonly LoggedEvent[]): View[] {
  const byView = Map.groupBy(events, (event) =>
    JSON.stringify([
      viewerOf(event),
      event.sessionId ?? null,
      subjectOf(event),
      event.data['viewId'] ?? null,
    ]),
  );
  return [...byView.values()].flatMap(cutByPauses).map(toView);
}

export function toVisits(events: readonly LoggedEvent[]): Visit[] {
  const byVisit = Map.groupBy(events, (event) =>
    JSON.stringify([event.deviceId ?? viewerOf(event), event.sessionId ?? null]),
  );
  return [...byVisit.values()].flatMap(cutByPauses).map((own) => ({
    firstAt: Math.min(...own.map(({ at }) => at)),
    lastAt: Math.max(...own.map(({ at }) => at)),
    viewer: visitorOf(own),
    plays: own.filter(({ event }) => event === 'playStart').length,
    ...toldBy(own),
  }));
}

/** The first user that is named, otherwise the viewer. */
function visitorOf(events: readonly LoggedEvent[]): string | null {
  const sorted = events.toSorted((a, b) => a.at - b.at);
  const named = sorted.find(({ userId }) => userId !== undefined) ?? sorted[0];
  return viewerOf(named as LoggedEvent);
}

const timeoutMs = 30 * 60_000;

/** The first event after half an hour of silence starts something new. */
function cutByPauses(events: readonly LoggedEvent[]): LoggedEvent[][] {
  const pieces: LoggedEvent[][] = [];
  let lastAt = -Infinity;
  for (const event of events.toSorted((a, b) => a.at - b.at)) {
    if (event.at - lastAt >= timeoutMs) pieces.push([]);
    pieces.at(-1)?.push(event);
    lastAt = event.at;
  }
  return pieces;
}

function toView(events: readonly LoggedEvent[]): View {
  const of = (kind: string) => events.filter(({ event }) => event === kind);
  const most = (kind: string, field: string) =>
    Math.max(0, ...of(kind).map(({ data }) => Math.round(((data[field] as number) ?? 0) * 1_000)));
  const plays = of('playStart').length;
  const durationMs = most('watchProgress', 'duration');
  const isCompleted = of('completion').length > 0;
  const told = events.flatMap(({ data }) => {
    const seconds = data['watchTimeOnFrom'] ?? data['watchTime'];
    return typeof seconds === 'number' ? [Math.round(seconds * 1_000)] : [];
  });
  return {
    contentId: subjectOf(events[0] as LoggedEvent),
    firstAt: Math.min(...events.map(({ at }) => at)),
    plays,
    isWatched: plays > 0 || of('watchProgress').length > 0,
    completions: of('completion').length,
    completedPlays: Math.min(of('completion').length, plays),
    watchMs: told.length > 0 ? Math.max(...told) : most('watchProgress', 'currentTime'),
    lastAt: Math.max(...events.map(({ at }) => at)),
    swipes: of('swipe').length,
    replays: Math.max(
      0,
      of('completion').length - 1,
      of('completion').filter(({ data }) => data['looped'] === true).length,
      ...of('completion').map(({ data }) => (data['loopCount'] as number | undefined) ?? 0),
    ),
    reachedMs: Math.max(most('watchProgress', 'currentTime'), isCompleted ? durationMs : 0),
    durationMs,
    stalls: of('rebuffer').length,
    stallMs: total(of('rebuffer').map(durationOf)),
    errors: of('error').length,
    impressions: of('impression').length,
    likes: of('like').length,
    shares: of('share').length,
    saves: of('save').length,
    unlikes: of('unlike').length,
    startup:
      (of('playStart').toSorted((a, b) => a.at - b.at)[0]?.data['startupTime'] as
        | number
        | undefined) ?? null,
    viewer: viewerOf(events[0] as LoggedEvent),
    rendition: firstOf(events, 'playStart', 'rendition'),
    codec: firstOf(events, 'playStart', 'codec'),
    errorCode: firstOf(events, 'error', 'errorCode'),
    errorMessage: firstOf(events, 'error', 'errorMessage'),
    feedId: firstOf(events, 'impression', 'feedId'),
    sharePlatform: firstOf(events, 'share', 'platform'),
    position: firstOf(events, 'impression', 'position'),
    ...toldBy(events),
  };
}

export function viewerOf({ userId, deviceId, sessionId }: LoggedEvent): string | null {
  if (userId !== undefined) return `user ${userId}`;
  if (deviceId !== undefined) return `device ${deviceId}`;
  return sessionId === undefined ? null : `session ${sessionId}`;
}

/** A swipe is about the item it leaves. */
export function subjectOf({ event, contentId, data }: LoggedEvent): string {
  return event === 'swipe' ? (data['fromContentId'] as string) : contentId;
}

/** A feed page implies the feed. */
export function cameBy({ data }: LoggedEvent): unknown {
  return data['entryPoint'] ?? (data['feedId'] === undefined ? undefined : 'feed');
}

function toldBy(events: readonly LoggedEvent[]): Told {
  const sorted = events.toSorted((a, b) => a.at - b.at);
  const first = (of: (event: LoggedEvent) => unknown) =>
    (sorted.map(of).find((value) => value !== undefined) as string | undefined) ?? null;
  return {
    device: first(({ device }) => device),
    country: first(({ country }) => country),
    entryPoint: first(cameBy),
    appVersion: first(({ appVersion }) => appVersion),
  };
}

function firstOf(events: readonly LoggedEvent[], kind: string, field: string): string | null {
  const told = events
    .filter(({ event, data }) => event === kind && data[field] !== undefined)
    .toSorted((a, b) => a.at - b.at);
  return told[0] === undefined ? null : String(told[0].data[field]);
}

export function messagesOf(failed: readonly View[]) {
  return [...Map.groupBy(failed, ({ errorMessage }) => errorMessage)]
    .map(([message, same]) => ({ message, views: same.length }))
    .toSorted(by('views', 'message'))
    .slice(0, 5);
}

export function durationOf({ data }: LoggedEvent): number {
  return data['duration'] as number;
}

export function dropoff(views: readonly View[]): { second: number; retained: number }[] {
  const steps = views.map(({ reachedMs }) => stepOf(Math.floor(reachedMs / 1_000)));
  const seconds = Array.from({ length: Math.max(-1, ...steps) + 1 }, (_, second) => second);
  return seconds
    .filter((second) => stepOf(second) === second)
    .map((second) => ({
      second,
      retained: steps.filter((step) => step >= second).length / steps.length,
    }));
}

/** Number of times each second was watched, divided by views; a looping clip counts repeatedly. */
export function watchedCurve(views: readonly View[]): { second: number; watched: number }[] {
  const runs = views.flatMap((view) => {
    const ends = [view.reachedMs];
    const length = view.durationMs;
    if (view.replays === 0 || length === 0) return ends;
    for (let run = 1; run < view.replays; run += 1) ends.push(length);
    const rest = view.watchMs - view.replays * length;
    const last = view.completions > view.replays ? length : Math.min(length, Math.max(0, rest));
    return [...ends, last];
  });
  const steps = runs.map((end) => stepOf(Math.floor(end / 1_000)));
  const last = Math.max(-1, ...steps);
  const points = [];
  for (let second = 0; second <= last; second += 1) {
    if (stepOf(second) !== second) continue;
    const watched = steps.filter((step) => step >= second).length / views.length;
    points.push({ second, watched });
  }
  return points;
}

function stepOf(second: number): number {
  const step = second < 60 ? 1 : second < 600 ? 10 : 60;
  return Math.floor(second / step) * step;
}
