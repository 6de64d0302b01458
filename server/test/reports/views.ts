/** Views and visits, each built from all of its events at once. */
import type { LoggedEvent } from '../../src/features/events/events.ts';

export const day = 24 * 3_600_000;
const pause = 30 * 60_000;

type Told = Record<'device' | 'country' | 'entryPoint' | 'appVersion', string>;

export type View = Told & {
  readonly contentId: string;
  readonly begin: number;
  readonly end: number;
  /** Null if the viewer was erased. */
  readonly person: string | null;
  readonly count: Readonly<Record<string, number>>;
  readonly isWatched: boolean;
  readonly watchedMs: number;
  readonly durationMs: number;
  readonly replays: number;
  readonly stalledMs: number;
  readonly startupMs: number | null;
} & Record<'feedId' | 'position' | 'sharePlatform' | 'rendition' | 'codec' | 'errorCode', string>;

export type Visit = Told & {
  readonly begin: number;
  readonly end: number;
  readonly person: string | null;
  readonly plays: number;
};

export type Part = { readonly views: readonly View[]; readonly visits: readonly Visit[] };

/** Values that count under their own name; all others count as `other`. */
const labels = new Set(
  'feed search direct share 2.0.0 2.1.0 3.0.0-beta ios-3.1 360p 720p 1080p avc1 av1 NETWORK 404 manifestLoadError messages copy_link fed_1 fed_7'.split(
    ' ',
  ),
);
const labelOf = (value: unknown): string => {
  const text = textOf(value);
  return text === '' || labels.has(text) ? text : 'other';
};
export const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? `${value}` : '';

/** An event counts once, in its first version. */
export function once(events: readonly LoggedEvent[]): LoggedEvent[] {
  const first = new Map<string, LoggedEvent>();
  for (const event of events) if (!first.has(event.eventId)) first.set(event.eventId, event);
  return [...first.values()].toSorted((a, b) => a.at - b.at);
}

export function nameOf({ userId, deviceId, sessionId }: LoggedEvent): string | null {
  if (userId !== undefined) return `user ${userId}`;
  if (deviceId !== undefined) return `device ${deviceId}`;
  return sessionId === undefined ? null : `session ${sessionId}`;
}

/** A swipe belongs to the item that it leaves. */
export const itemOf = ({ event, contentId, data }: LoggedEvent): string =>
  event === 'swipe' ? String(data['fromContentId']) : contentId;

/** The owner of each device: the first user seen with it. */
export function ownersOf(sorted: readonly LoggedEvent[]): Map<string, string> {
  const owners = new Map<string, string>();
  for (const { deviceId, userId } of sorted) {
    if (deviceId === undefined || userId === undefined || owners.has(`device ${deviceId}`))
      continue;
    owners.set(`device ${deviceId}`, `user ${userId}`);
  }
  return owners;
}

type PersonOf = (name: string) => string | null;

/** @param sorted by time */
export function viewsOf(sorted: readonly LoggedEvent[], personOf: PersonOf): View[] {
  return pieces(sorted, (event, name) =>
    JSON.stringify([name, event.sessionId, itemOf(event), event.data['viewId']]),
  ).map((own) => toView(own, personOf));
}

/** @param sorted by time */
export function visitsOf(sorted: readonly LoggedEvent[], personOf: PersonOf): Visit[] {
  return pieces(sorted, ({ deviceId, sessionId }, name) =>
    JSON.stringify([deviceId === undefined ? name : `device ${deviceId}`, sessionId]),
  ).map((own) => {
    const named = own.find(({ userId }) => userId !== undefined) ?? own[0];
    return {
      begin: own[0]?.at ?? 0,
      end: own.at(-1)?.at ?? 0,
      person: named === undefined ? null : personOf(nameOf(named) ?? ''),
      plays: own.filter(({ event }) => event === 'playStart').length,
      ...tell(own),
    };
  });
}

/** Events with one key, split at half an hour of inactivity. */
function pieces(
  sorted: readonly LoggedEvent[],
  keyOf: (event: LoggedEvent, name: string) => string,
): LoggedEvent[][] {
  const open = new Map<string, LoggedEvent[]>();
  const all: LoggedEvent[][] = [];
  for (const event of sorted) {
    const name = nameOf(event);
    if (name === null) continue;
    const key = keyOf(event, name);
    const known = open.get(key);
    if (known !== undefined && event.at - (known.at(-1)?.at ?? 0) < pause) {
      known.push(event);
      continue;
    }
    const piece = [event];
    open.set(key, piece);
    all.push(piece);
  }
  return all;
}

function tell(own: readonly LoggedEvent[]): Told {
  const first = (of: (event: LoggedEvent) => unknown) =>
    own.map(of).find((value) => value !== undefined);
  const cameBy = ({ data }: LoggedEvent) =>
    data['entryPoint'] ?? (data['feedId'] === undefined ? undefined : 'feed');
  return {
    device: textOf(first(({ device }) => device)),
    country: textOf(first(({ country }) => country)),
    entryPoint: labelOf(first(cameBy)),
    appVersion: labelOf(first(({ appVersion }) => appVersion)),
  };
}

function toView(own: readonly LoggedEvent[], personOf: PersonOf): View {
  const [first] = own;
  if (first === undefined) throw new Error('A view has events.');
  const count: Record<string, number> = {};
  for (const { event } of own) count[event] = (count[event] ?? 0) + 1;
  const firstOf = (kind: string, field: string): unknown =>
    own.find(({ event, data }) => event === kind && data[field] !== undefined)?.data[field];
  const ms = (kinds: readonly string[], field: string): number[] =>
    own
      .filter(({ event, data }) => kinds.includes(event) && typeof data[field] === 'number')
      .map(({ data }) => Math.round(Number(data[field]) * 1_000));
  const told = [
    ...ms(['watchProgress', 'completion'], 'watchTime'),
    ...ms(['swipe'], 'watchTimeOnFrom'),
  ];
  const completions = own.filter(({ event }) => event === 'completion');
  const startup = firstOf('playStart', 'startupTime');
  return {
    ...tell(own),
    contentId: itemOf(first),
    begin: first.at,
    end: own.at(-1)?.at ?? first.at,
    person: personOf(nameOf(first) ?? ''),
    count,
    isWatched: (count['playStart'] ?? 0) + (count['watchProgress'] ?? 0) > 0,
    watchedMs: Math.max(0, ...(told.length > 0 ? told : ms(['watchProgress'], 'currentTime'))),
    durationMs: Math.max(0, ...ms(['watchProgress'], 'duration')),
    replays: Math.max(
      0,
      completions.length - 1,
      completions.filter(({ data }) => data['looped'] === true).length,
      ...completions.map(({ data }) => Number(data['loopCount'] ?? 0)),
    ),
    stalledMs: own
      .filter(({ event }) => event === 'rebuffer')
      .reduce((sum, { data }) => sum + Number(data['duration']), 0),
    startupMs: startup === undefined ? null : Number(startup),
    feedId: labelOf(firstOf('impression', 'feedId')),
    position: textOf(firstOf('impression', 'position')),
    sharePlatform: labelOf(firstOf('share', 'platform')),
    rendition: labelOf(firstOf('playStart', 'rendition')),
    codec: labelOf(firstOf('playStart', 'codec')),
    errorCode: labelOf(firstOf('error', 'errorCode')),
  };
}
