/** Views and visits, made from all of their events at once, for the recount. */
import type { LoggedEvent } from '../../events/events.ts';
import { total } from './recount-numbers.fixture.ts';

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
  /** Of its first playStart, in milliseconds. */
  startup: number | null;
  viewer: string | null;
} & Told;
export type Visit = { firstAt: number; lastAt: number; viewer: string | null } & Told;

/** What the first event told that told anything. */
export type Told = {
  device: string | null;
  country: string | null;
  entryPoint: string | null;
  appVersion: string | null;
};

/** What each viewer has done with each item in one session. */
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
    JSON.stringify([viewerOf(event), event.sessionId ?? null]),
  );
  return [...byVisit.values()].flatMap(cutByPauses).map((own) => ({
    firstAt: Math.min(...own.map(({ at }) => at)),
    lastAt: Math.max(...own.map(({ at }) => at)),
    viewer: viewerOf(own[0] as LoggedEvent),
    ...toldBy(own),
  }));
}

const timeoutMs = 30 * 60_000;

/** After half an hour without an event, the next one begins something new. */
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
    startup:
      (of('playStart').toSorted((a, b) => a.at - b.at)[0]?.data['startupTime'] as
        | number
        | undefined) ?? null,
    viewer: viewerOf(events[0] as LoggedEvent),
    ...toldBy(events),
  };
}

export function viewerOf({ userId, deviceId, sessionId }: LoggedEvent): string | null {
  if (userId !== undefined) return `user ${userId}`;
  if (deviceId !== undefined) return `device ${deviceId}`;
  return sessionId === undefined ? null : `session ${sessionId}`;
}

/** A swipe is about the item that it leaves. */
export function subjectOf({ event, contentId, data }: LoggedEvent): string {
  return event === 'swipe' ? (data['fromContentId'] as string) : contentId;
}

/** The page of a feed stands for the feed. */
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

function stepOf(second: number): number {
  const step = second < 60 ? 1 : second < 600 ? 10 : 60;
  return Math.floor(second / step) * step;
}
