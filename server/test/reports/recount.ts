/**
 * The numbers of docs/analytics.md and docs/metrics.md, computed from plain events without any
 * product code: every view and visit is built from all its events at once, and every group from all
 * views.
 */
import type { LoggedEvent } from '../../src/features/events/events.ts';
import type { TrafficItem } from './traffic.ts';

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
const textOf = (value: unknown): string =>
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

const ratio = (part: number, whole: number) => (whole === 0 ? null : part / whole);
const sum = <One>(all: readonly One[], of: (one: One) => number) =>
  all.reduce((total, one) => total + of(one), 0);
const people = (of: readonly { readonly person: string | null }[]) =>
  new Set(of.map(({ person }) => person).filter((person) => person !== null)).size;
const of = (view: View, kind: string) => view.count[kind] ?? 0;

/** Number of events of a kind; by default, from the events of the views. */
export type Happened = (kind: string) => number;
const toldBy =
  (views: readonly View[]): Happened =>
  (kind) =>
    sum(views, (view) => of(view, kind));

export function counts(views: readonly View[], happened: Happened = toldBy(views)) {
  const watched = views.filter(({ isWatched }) => isWatched);
  const share = (is: (view: View) => boolean) => ratio(watched.filter(is).length, watched.length);
  const plays = happened('playStart');
  const reactions = happened('like') + happened('share') + happened('save');
  const completed = sum(views, (view) => Math.min(of(view, 'completion'), of(view, 'playStart')));
  const timed = views.filter(({ durationMs }) => durationMs > 0);
  const totalWatchTime = sum(views, ({ watchedMs }) => watchedMs) / 1_000;
  const uniqueViewers = people(
    views.filter((view) => view.isWatched || of(view, 'completion') > 0),
  );
  const reactingViewers = people(
    views.filter((view) => of(view, 'like') + of(view, 'share') + of(view, 'save') > 0),
  );
  return {
    impressions: happened('impression'),
    plays,
    completions: happened('completion'),
    totalWatchTime,
    averageWatchTime: ratio(totalWatchTime, plays),
    completionRate: ratio(Math.min(completed, plays), plays),
    engagementRate: ratio(Math.min(reactingViewers, uniqueViewers), uniqueViewers),
    reactionsPerImpression: ratio(reactions, happened('impression')),
    likes: happened('like'),
    shares: happened('share'),
    saves: happened('save'),
    views: watched.length,
    engagedViews: watched.filter((view) => view.watchedMs >= 10_000 || of(view, 'completion') > 0)
      .length,
    hookRate: share(({ watchedMs }) => watchedMs >= 3_000),
    swipeAwayRate: share((view) => of(view, 'swipe') > 0 && view.watchedMs < 3_000),
    loopRate: ratio(views.filter(({ replays }) => replays > 0).length, watched.length),
    replays: sum(views, ({ replays }) => replays),
    averagePercentWatched: ratio(
      sum(timed, (view) => Math.round((view.watchedMs / view.durationMs) * 1e7)) / 1e7,
      timed.length,
    ),
    uniqueViewers,
    reactingViewers,
  };
}

export function overview({ views, visits }: Part, hasVisits: boolean, happened?: Happened) {
  return { ...counts(views, happened), sessions: hasVisits ? visits.length : null };
}

export function ofItem({ views }: Part, happened: Happened = toldBy(views)) {
  return { ...counts(views, happened), swipesAway: happened('swipe') };
}

export function ofVisits({ views, visits }: Part, hasVisits: boolean) {
  const each = (total: number) => (hasVisits ? ratio(total, visits.length) : null);
  return {
    sessions: hasVisits ? visits.length : null,
    averageSessionLength: each(sum(visits, ({ begin, end }) => end - begin) / 1_000),
    averageVideosPerSession: each(views.filter(({ isWatched }) => isWatched).length),
    averageWatchTimePerSession: each(sum(views, ({ watchedMs }) => watchedMs) / 1_000),
  };
}

export function engagement(part: Part, hasVisits: boolean) {
  return { ...ofVisits(part, hasVisits), ...counts(part.views) };
}

const isAttempted = (view: View) => of(view, 'playStart') + of(view, 'error') > 0;

export function playback(
  { views }: Part,
  startups: readonly number[] = views.flatMap(({ startupMs }) => startupMs ?? []),
) {
  const sorted = startups.toSorted((a, b) => a - b);
  const percentile = (part: number) =>
    sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? null;
  const watchedMs = sum(views, (view) => view.watchedMs);
  const stalledMs = sum(views, (view) => view.stalledMs);
  const attempted = views.filter(isAttempted);
  const offered = views.filter((view) => of(view, 'impression') + of(view, 'playStart') > 0);
  const left = offered.filter(
    (view) =>
      !view.isWatched &&
      of(view, 'error') === 0 &&
      Math.max(view.end - view.begin, view.watchedMs) >= 1_000,
  );
  return {
    startupTime: {
      average: ratio(
        sum(sorted, (one) => one),
        sorted.length,
      ),
      p50: percentile(0.5),
      p75: percentile(0.75),
      p95: percentile(0.95),
      p99: percentile(0.99),
    },
    rebufferRatio: ratio(stalledMs, watchedMs + stalledMs),
    rebuffersPerHour: ratio(
      sum(views, (view) => of(view, 'rebuffer')),
      watchedMs / 3_600_000,
    ),
    errorRate: ratio(attempted.filter((view) => of(view, 'error') > 0).length, attempted.length),
    failuresBeforeStart: ratio(
      attempted.filter(({ isWatched }) => !isWatched).length,
      attempted.length,
    ),
    exitsBeforeStart: ratio(left.length, offered.length),
  };
}

export function quality(part: Part) {
  return {
    views: part.views.filter(({ isWatched }) => isWatched).length,
    attemptedViews: part.views.filter(isAttempted).length,
    erroredViews: part.views.filter((view) => of(view, 'error') > 0).length,
    ...playback(part),
  };
}

export function source({ views, visits }: Part, hasVisits: boolean) {
  const all = counts(views);
  return {
    impressions: all.impressions,
    views: all.views,
    plays: all.plays,
    totalWatchTime: all.totalWatchTime,
    averageWatchTime: all.averageWatchTime,
    hookRate: all.hookRate,
    uniqueViewers: all.uniqueViewers,
    followOnPlays: hasVisits ? sum(visits, ({ plays }) => Math.max(0, plays - 1)) : null,
  };
}

const reports = {
  overview,
  engagement,
  quality,
  sources: source,
  content: (part: Part) => ofItem(part),
} as const satisfies Record<string, (part: Part, hasVisits: boolean) => unknown>;
export type ReportName = keyof typeof reports;

const dimensions = [
  ...['device', 'country', 'entryPoint', 'position', 'appVersion', 'feedId', 'sharePlatform'],
  ...['rendition', 'codec', 'errorCode', 'author', 'section', 'contentType', 'language', 'tag'],
  'experimentVariant',
];
const ofEveryVisit = ['device', 'country', 'entryPoint', 'appVersion', 'experimentVariant'];

/** All single dimensions and pairs. */
export function splits(withVariants: boolean): string[][] {
  const names = dimensions.filter((name) => withVariants || name !== 'experimentVariant');
  const pairs = names.flatMap((one, index) => names.slice(index + 1).map((other) => [one, other]));
  return [...names.map((name) => [name]), ...pairs];
}

type Group = { names: string[]; views: View[]; visits: Visit[] };
export type Broken = {
  readonly by: readonly string[];
  readonly part: Part;
  readonly hasVisits: boolean;
  readonly groups: readonly Group[];
};

/** Assigns every view and visit to the group of its values; an item is in one group per tag. */
export function breakDown(
  part: Part,
  by: readonly string[],
  items: ReadonlyMap<string, TrafficItem>,
  variantOf: (person: string | null) => string,
): Broken {
  const hasVisits = by.every((name) => ofEveryVisit.includes(name));
  const visits = hasVisits ? part.visits : [];
  const groups = new Map<string, Group>();
  const valuesOf = (name: string, one: View | Visit): readonly string[] => {
    if (name === 'experimentVariant') return [variantOf(one.person)];
    const item = 'contentId' in one ? items.get(one.contentId) : undefined;
    if (name === 'tag') return item === undefined || item.tags.length === 0 ? [''] : item.tags;
    if (['author', 'section', 'contentType', 'language'].includes(name)) {
      return [String(item?.[name as 'author'] ?? '')];
    }
    return [textOf((one as Record<string, unknown>)[name])];
  };
  const groupsOf = (one: View | Visit): Group[] => {
    const [first = '', second] = by;
    return valuesOf(first, one).flatMap((value) =>
      (second === undefined ? [[value]] : valuesOf(second, one).map((other) => [value, other])).map(
        (names) => {
          const key = JSON.stringify(names);
          const group = groups.get(key) ?? { names, views: [], visits: [] };
          groups.set(key, group);
          return group;
        },
      ),
    );
  };
  for (const view of part.views) for (const group of groupsOf(view)) group.views.push(view);
  for (const visit of visits) for (const group of groupsOf(visit)) group.visits.push(visit);
  return { by, part: { views: part.views, visits }, hasVisits, groups: [...groups.values()] };
}

const rowKinds = ['impression', 'playStart', 'completion', 'error', 'like', 'share', 'save'];
const countedKinds = [...rowKinds, 'swipe', 'rebuffer'];

/** The response's `breakdown`: the largest groups, the rest, and the total. */
export function presentBroken(report: ReportName, broken: Broken, top: number) {
  const { by, part, hasVisits, groups } = broken;
  const present = (one: Part): unknown => reports[report](one, hasVisits);
  const sizeOf = ({ views }: Group) =>
    report === 'quality'
      ? views.filter(isAttempted).length
      : sum(views, (view) => of(view, 'playStart'));
  const shown = groups
    .filter(
      ({ views, visits }) =>
        visits.length > 0 ||
        views.some((view) => view.isWatched || rowKinds.some((kind) => of(view, kind) > 0)),
    )
    .map((group) => ({ group, size: sizeOf(group), name: group.names.join('\n') }))
    .toSorted((a, b) => b.size - a.size || (a.name < b.name ? -1 : 1))
    .slice(0, top)
    .map(({ group }) => group);
  const inRows = new Set<View | Visit>(shown.flatMap(({ views, visits }) => [...views, ...visits]));
  const rest = {
    views: part.views.filter((view) => !inRows.has(view)),
    visits: part.visits.filter((visit) => !inRows.has(visit)),
  };
  const isRest =
    rest.visits.length > 0 ||
    rest.views.some(
      (view) =>
        view.isWatched || view.watchedMs > 0 || countedKinds.some((kind) => of(view, kind) > 0),
    );
  return {
    dimensions: by,
    rows: shown.map((group) => ({
      values: Object.fromEntries(by.map((name, index) => [name, group.names[index] || null])),
      metrics: present(group),
    })),
    other: isRest ? present(rest) : null,
    total: present(part),
  };
}

export function within({ views, visits }: Part, from: number, to: number): Part {
  const begins = ({ begin }: { readonly begin: number }) => begin >= from && begin < to;
  return { views: views.filter(begins), visits: visits.filter(begins) };
}
