/**
 * Breakdowns of reports: the numbers of a filter, split by one or two dimensions. Facts are read
 * twice, first to find the largest groups and then to add up these and the rest. Memory is
 * therefore bounded by the rows of the response, and unique viewers are exact in each row.
 */
import type { Db } from '../../../platform/database/database.ts';
import { fieldError } from '../../../platform/http/errors.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { addFacts } from '../facts/scan.ts';
import { Split, type SplitDimension } from '../facts/split.ts';
import type { CountName } from '../facts/facts.ts';
import { FactSums, type FactCounts, type Startups } from '../facts/sums.ts';
import { countMetrics } from '../projections/engagement/counted-kinds.ts';
import { dimensions, findDimension, type Dimension, type VariantsOf } from './dimensions.ts';
import { isAboutItems, toFactFilter, type ReportFilter } from './filter.ts';
import type { Within } from './filtered-series.ts';
import { GroupedPeople } from './grouped-people.ts';
import { noViewers, type ViewerCounts } from './metrics.ts';

export type BreakdownQuery = {
  readonly breakdown?: string;
  readonly top?: number;
  readonly experiment?: string;
};

type Breakdown = {
  readonly dimensions: readonly Dimension[];
  readonly top: number;
  readonly experiment: string | null;
};

const defaultTop = 10;

/** @throws ApiError VALIDATION_ERROR */
export function readBreakdown({ breakdown, top, experiment }: BreakdownQuery): Breakdown | null {
  if (breakdown === undefined) {
    if (top !== undefined) throw fieldError('query.top', 'is allowed only with a breakdown');
    if (experiment !== undefined)
      throw fieldError('query.experiment', 'is allowed only with a breakdown');
    return null;
  }
  const asked = breakdown.split(',').map((name) => name.trim());
  const known = asked.filter((name): name is Dimension =>
    (dimensions as readonly string[]).includes(name),
  );
  if (known.length !== asked.length || asked.length > 2 || new Set(asked).size !== asked.length) {
    throw fieldError('query.breakdown', `must be one or two of ${dimensions.join(', ')}`);
  }
  if (known.includes('experimentVariant') !== (experiment !== undefined)) {
    throw fieldError(
      'query.experiment',
      'must be the id of an experiment if breakdown is experimentVariant',
    );
  }
  return { dimensions: known, top: top ?? defaultTop, experiment: experiment ?? null };
}

/** For reports without breakdowns. @throws ApiError VALIDATION_ERROR */
export function refuseBreakdown({ breakdown }: BreakdownQuery, instead: string): void {
  if (breakdown !== undefined) {
    throw fieldError('query.breakdown', `is not supported by this report: ${instead}`);
  }
}

/** The numbers of one row of a breakdown. */
export type BreakdownPart = {
  readonly counts: FactCounts;
  readonly people: ViewerCounts;
  readonly startups: Startups;
  /**
   * Whether the row can have session metrics; it cannot if it is about items, since a session spans
   * many.
   */
  readonly hasSessions: boolean;
};

export type BreakdownRow<Metrics> = {
  readonly values: Partial<Record<Dimension, string | null>>;
  readonly metrics: Metrics;
};

export type BreakdownReport<Metrics> = {
  readonly dimensions: Dimension[];
  readonly rows: BreakdownRow<Metrics>[];
  readonly other: Metrics | null;
  readonly total: Metrics;
};

export type BreakdownWanted<Metrics> = {
  readonly within: Within;
  readonly filter: ReportFilter | null;
  readonly breakdown: Breakdown;
  /** Shows the rows with the highest value of this count. */
  readonly rankedBy: CountName;
  readonly variantsOf: VariantsOf;
  readonly present: (part: BreakdownPart) => Metrics;
};

/** A group qualifies as a row if any of these is positive. */
const rankCounts = [
  'plays',
  'impressions',
  'views',
  'sessions',
  'attempted_views',
  'completions',
  ...countMetrics,
] as const satisfies readonly CountName[];
/** Maximum number of groups considered among those with equal counts. */
const maxTied = 1_000;

export async function reportBreakdown<Metrics>(
  db: Db,
  organizationId: OrganizationId,
  wanted: BreakdownWanted<Metrics>,
): Promise<BreakdownReport<Metrics>> {
  const { within, breakdown } = wanted;
  const filter = wanted.filter ?? {};
  const range = { ...within, filter: await toFactFilter(db, organizationId, filter) };
  const found = await Promise.all(
    breakdown.dimensions.map((name) =>
      findDimension(db, organizationId, name, breakdown.experiment, wanted.variantsOf),
    ),
  );
  const leavesOutSessions = isAboutItems(filter) || found.some(({ ofViews }) => ofViews);
  const by = found.map(({ dimension }) => dimension);
  const greatest = await findGreatest(db, organizationId, {
    range,
    by,
    leavesOutSessions,
    top: breakdown.top,
    rankedBy: wanted.rankedBy,
  });
  const parts = await sumGroups(db, organizationId, { range, by, leavesOutSessions, greatest });
  const present = (part: SummedPart) =>
    wanted.present({ ...part, hasSessions: !leavesOutSessions });
  return {
    dimensions: [...breakdown.dimensions],
    rows: parts.rows.map((part, index) => ({
      values: Object.fromEntries(
        breakdown.dimensions.map((name, place) => [name, greatest[index]?.[place] || null]),
      ),
      metrics: present(part),
    })),
    other: parts.other === null ? null : present(parts.other),
    total: present(parts.total),
  };
}

type SummedPart = Omit<BreakdownPart, 'hasSessions'>;
type Summed = {
  readonly rows: SummedPart[];
  readonly other: SummedPart | null;
  readonly total: SummedPart;
};

type Range = Parameters<typeof addFacts>[2];
type Groups = {
  readonly range: Range;
  readonly by: readonly SplitDimension[];
  readonly leavesOutSessions: boolean;
};

async function findGreatest(
  db: Db,
  organizationId: OrganizationId,
  wanted: Groups & { readonly top: number; readonly rankedBy: CountName },
): Promise<string[][]> {
  const { range, by, leavesOutSessions, top, rankedBy } = wanted;
  const split: Split = new Split(by, { leavesOutSessions }, (key) => sums.groupOf(key));
  const sums: FactSums = new FactSums({ groupBy: 'device', split, counts: rankCounts });
  await addFacts(db, organizationId, range, [sums]);
  const counted = sums
    .countedGroups()
    .map((key) => ({ key: Number(key), count: sums.countOf(key, rankedBy) }))
    .toSorted((a, b) => b.count - a.count);
  const least = counted[top - 1]?.count ?? -1;
  return counted
    .filter(({ count }, index) => count > least || (count === least && index < top + maxTied))
    .map(({ key, count }) => ({ names: split.namesOf(key), count }))
    .toSorted((a, b) => b.count - a.count || (a.names.join('\n') < b.names.join('\n') ? -1 : 1))
    .slice(0, top)
    .map(({ names }) => names);
}

/** The last groups are the rest and the total. */
async function sumGroups(
  db: Db,
  organizationId: OrganizationId,
  { range, by, leavesOutSessions, greatest }: Groups & { readonly greatest: string[][] },
): Promise<Summed> {
  const groups = new Map<number, number>();
  const rest = greatest.length;
  const split = new Split(by, { leavesOutSessions }, (key) => groups.get(key) ?? null, rest);
  for (const [index, names] of greatest.entries()) groups.set(split.numberOf(names), index);
  const groupsAndRest = Array.from({ length: rest + 1 }, (_, group) => group);
  const parts = splitPeople(split, groupsAndRest);
  // A fact in several groups, as with tags, counts once in the total.
  const everything = new Split([], { leavesOutSessions }, () => null, 0);
  const total = splitPeople(everything, [0]);
  await addFacts(db, organizationId, range, [...parts.parts, ...total.parts]);
  const partOf = readParts(parts);
  return {
    rows: greatest.map((_, group) => partOf(group)),
    other: parts.sums.countedGroups().includes(rest) ? partOf(rest) : null,
    total: readParts(total)(0),
  };
}

function splitPeople(split: Split, groups: readonly number[]): GroupedPeople {
  const found = new GroupedPeople('device', { split, startups: true });
  for (const sums of found.parts) for (const group of groups) sums.groupOf(group);
  return found;
}

function readParts(found: GroupedPeople): (group: number) => SummedPart {
  const people = found.byGroup();
  const { sums } = found;
  return (group) => ({
    counts: sums.countsOf(group),
    people: people.get(String(group)) ?? noViewers,
    startups: sums.startups.get(group) ?? new Map<number, { count: number; total: number }>(),
  });
}
