/** Breakdowns of recounted reports by one or two dimensions. */
import {
  countOf,
  engagement,
  isAttempted,
  ofItem,
  overview,
  quality,
  source,
  sum,
} from './recount.ts';
import type { TrafficItem } from './traffic.ts';
import { textOf, type Part, type View, type Visit } from './views.ts';

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
      : sum(views, (view) => countOf(view, 'playStart'));
  const shown = groups
    .filter(
      ({ views, visits }) =>
        visits.length > 0 ||
        views.some((view) => view.isWatched || rowKinds.some((kind) => countOf(view, kind) > 0)),
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
        view.isWatched ||
        view.watchedMs > 0 ||
        countedKinds.some((kind) => countOf(view, kind) > 0),
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
