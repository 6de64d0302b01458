/** Recounts breakdowns: puts every view and session into the groups given by its values. */
import type { RecountedItem } from './recount-counts.ts';
import {
  counted,
  hasCounts,
  itemMetrics,
  noSessions,
  playback,
  sessions,
  viewersOf,
  type Part,
} from './recount-filtered-metrics.ts';
import { total } from './recount-numbers.ts';
import type { View, Visit } from './recount-views.ts';

export type BrokenReport = 'overview' | 'content' | 'engagement' | 'quality' | 'sources';

export type BreakdownAsked = {
  readonly report: BrokenReport;
  readonly dimensions: readonly string[];
  readonly top: number;
  /** The variant of a viewer, or null if it has none. */
  readonly variantOf?: (viewer: string | null) => string | null;
};

type About = { readonly items: readonly RecountedItem[]; readonly isOfItems: boolean };
type Group = { readonly names: string[]; readonly views: View[]; readonly visits: Visit[] };

const ofSessions = ['device', 'country', 'entryPoint', 'appVersion', 'experimentVariant'];

export function recountBreakdown(asked: BreakdownAsked, part: Part, about: About) {
  const hasSessions =
    !about.isOfItems && asked.dimensions.every((name) => ofSessions.includes(name));
  const visits = hasSessions ? part.visits : [];
  const groups = groupsOf(asked, { views: part.views, visits }, about.items);
  const rankOf = ({ views }: Group) =>
    total(asked.report === 'quality' ? views.map(attempts) : views.map(({ plays }) => plays));
  const rows = groups
    .filter(({ views, visits: own }) => own.length > 0 || views.some(isSeen))
    .toSorted((a, b) => rankOf(b) - rankOf(a) || (a.names.join('\n') < b.names.join('\n') ? -1 : 1))
    .slice(0, asked.top);
  const other = {
    views: part.views.filter((view) => !rows.some(({ views }) => views.includes(view))),
    visits: visits.filter((visit) => !rows.some((row) => row.visits.includes(visit))),
  };
  const present = (own: Part) => metricsOf(asked.report, own, hasSessions);
  const isRest = other.visits.length > 0 || hasCounts(other.views);
  return {
    dimensions: asked.dimensions,
    rows: rows.map(({ names, ...own }) => ({
      values: Object.fromEntries(
        asked.dimensions.map((name, index) => [name, names[index] === '' ? null : names[index]]),
      ),
      metrics: present(own),
    })),
    other: isRest ? present(other) : null,
    total: present({ views: part.views, visits }),
  };
}

function attempts({ plays, errors }: View): number {
  return plays > 0 || errors > 0 ? 1 : 0;
}

/** Whether a group with this view qualifies as a row. */
function isSeen(view: View): boolean {
  const { plays, impressions, isWatched, errors, likes, shares, saves } = view;
  return isWatched || plays + impressions + errors + likes + shares + saves > 0;
}

function groupsOf(asked: BreakdownAsked, part: Part, items: readonly RecountedItem[]): Group[] {
  const byId = new Map(items.map((item) => [item.id, item]));
  const groups = new Map<string, Group>();
  const add = (one: View | Visit, put: (group: Group) => void) => {
    const item = 'contentId' in one ? byId.get(one.contentId) : undefined;
    const lists = asked.dimensions.map((name) => valuesOf(name, one, item, asked.variantOf));
    const [firsts = [], seconds] = lists;
    for (const first of firsts) {
      for (const second of seconds ?? [null]) {
        const names = second === null ? [first] : [first, second];
        const key = JSON.stringify(names);
        const group = groups.get(key) ?? { names, views: [], visits: [] };
        groups.set(key, group);
        put(group);
      }
    }
  };
  for (const view of part.views) add(view, ({ views }) => views.push(view));
  for (const visit of part.visits) add(visit, ({ visits }) => visits.push(visit));
  return [...groups.values()];
}

function valuesOf(
  name: string,
  one: View | Visit,
  item: RecountedItem | undefined,
  variantOf: BreakdownAsked['variantOf'],
): string[] {
  switch (name) {
    case 'tag':
      return item === undefined || item.tags.length === 0 ? [''] : item.tags;
    case 'author':
    case 'section':
    case 'language':
      return [item?.[name] ?? ''];
    case 'contentType':
      return [item === undefined ? '' : 'video'];
    case 'experimentVariant':
      return [variantOf?.(one.viewer) ?? ''];
    default: {
      const values = one as unknown as Record<string, string | null>;
      return [values[name] ?? ''];
    }
  }
}

function metricsOf(report: BrokenReport, part: Part, hasSessions: boolean) {
  const { views, visits } = part;
  const all = counted(views);
  switch (report) {
    case 'overview':
      return { ...all, sessions: hasSessions ? visits.length : null };
    case 'content':
      return itemMetrics(views);
    case 'engagement':
      return { ...(hasSessions ? sessions(part) : noSessions), ...all };
    case 'quality':
      return {
        views: all.views,
        attemptedViews: total(views.map(attempts)),
        erroredViews: views.filter(({ errors }) => errors > 0).length,
        ...playback(views),
      };
    case 'sources':
      return {
        impressions: all.impressions,
        views: all.views,
        plays: all.plays,
        totalWatchTime: all.totalWatchTime,
        averageWatchTime: all.averageWatchTime,
        hookRate: all.hookRate,
        uniqueViewers: viewersOf(views),
        followOnPlays: hasSessions
          ? total(visits.map(({ plays }) => Math.max(0, plays - 1)))
          : null,
      };
  }
}
