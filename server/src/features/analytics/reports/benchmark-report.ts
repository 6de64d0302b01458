/** Compares an item with similar items and with the latest ones, all at the same age in days. */
import { sql } from 'kysely';
import { dayMs } from '../../../platform/values/time.ts';
import type { Db } from '../../../platform/database/database.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import { parseContentId, type OrganizationId } from '../../../platform/values/ids.ts';
import {
  addDetail,
  emptyDetail,
  type ContentDetail,
} from '../projections/engagement/content-detail.ts';
import { countMetrics } from '../projections/engagement/counted-kinds.ts';
import {
  findMeasured,
  listMeasured,
  readFirstDetails,
  sumFirstDays,
  type MeasuredItem,
  type FirstDays,
} from './benchmark-queries.ts';
import { watchedPoints } from './content-report.ts';
import { noViewers, noCounters, presentCounted, type Counters } from './metrics.ts';
import { bucketStart, type LocalNow } from './period.ts';

/**
 * Metrics of an item's first days. Unique viewers are left out, because they are not stored by item
 * and age.
 */
export const benchmarked = [
  'plays',
  'totalWatchTime',
  'averageWatchTime',
  'averagePercentWatched',
  'completionRate',
  'hookRate',
  'swipeAwayRate',
  'loopRate',
  ...countMetrics,
  'reactionsPerImpression',
] as const;
type Metric = (typeof benchmarked)[number];

/** Metrics for which lower is better. */
const lowerIsBetter: ReadonlySet<Metric> = new Set(['swipeAwayRate']);

/** Upper bounds in seconds; an item belongs to the first class that fits. */
const lengthClasses = [15, 60, 300, 1_200] as const;
/** Older items are compared by their first four weeks. */
const maxDays = 28;
const maxSimilar = 100;
/** With fewer items, the band would mostly reflect chance. */
export const minSimilar = 5;
const lastItems = 10;

type Band = { items: number; p25: number; median: number; p75: number };

/** @throws ApiError NOT_FOUND */
export async function reportBenchmark(
  db: Db,
  organizationId: OrganizationId,
  rawId: string,
  { nowMs, clock }: LocalNow,
) {
  const contentId = parseContentId(rawId);
  const item = contentId === null ? null : await findMeasured(db, organizationId, contentId);
  if (item === null) throw new ApiError('NOT_FOUND');
  const today = bucketStart(nowMs, 'day');
  const startOf = ({ createdAt }: MeasuredItem) =>
    bucketStart(clock.localOf(createdAt.getTime()), 'day');
  const days = Math.min(Math.max(0, today - startOf(item)) / dayMs + 1, maxDays);
  const isOldEnough = (other: MeasuredItem) =>
    other.contentId !== item.contentId && startOf(other) <= today - (days - 1) * dayMs;
  const { similar, ofOrganization, ofAuthor } = await findOthers(db, organizationId, item);
  const peers = similar.filter(isOldEnough).slice(0, maxSimilar);
  const all = new Map(
    [item, ...peers, ...ofOrganization, ...ofAuthor].map((one) => [one.contentId, one]),
  );
  const spanOf = (one: MeasuredItem): FirstDays => ({
    contentId: one.contentId,
    startMs: startOf(one),
  });
  const [sums, details] = await Promise.all([
    sumFirstDays(db, organizationId, [...all.values()].map(spanOf), days),
    readFirstDetails(db, organizationId, [item, ...peers].map(spanOf), days),
  ]);
  const valueOf = (metric: Metric) => (one: MeasuredItem) =>
    present(sums.get(one.contentId) ?? noCounters)[metric];
  return {
    contentId: item.contentId,
    title: item.title,
    days,
    lengthClass: lengthClassOf(item.durationSeconds),
    similarItems: peers.length,
    metrics: benchmarked.map((metric) => {
      const value = valueOf(metric)(item);
      const rankIn = (others: readonly MeasuredItem[]) =>
        rank(value, others.map(valueOf(metric)), lowerIsBetter.has(metric));
      return {
        metric,
        value,
        typical: bandOf(peers.map(valueOf(metric))),
        rankOfLast: rankIn(ofOrganization),
        rankOfAuthor: item.author === null ? null : rankIn(ofAuthor),
      };
    }),
    watchedPoints: curveOf(item, peers, details),
  };
}

/** Items of the same class, and the items created just before this one. */
async function findOthers(db: Db, organizationId: OrganizationId, item: MeasuredItem) {
  const list = (of: ReturnType<typeof sql>, before: Date, limit: number) =>
    listMeasured(db, organizationId, { of, before, limit });
  const [least, most] = lengthRange(item.durationSeconds);
  const isOfLength =
    item.durationSeconds === null
      ? sql`duration_seconds is null`
      : sql`duration_seconds > ${least}::float8 and duration_seconds <= ${most}::float8`;
  const isSimilar = sql`content_type = ${item.contentType} and ${isOfLength}`;
  const [similar, ofOrganization, ofAuthor] = await Promise.all([
    // Fetch more than needed, because the latest items are too young to compare.
    list(isSimilar, new Date(), 5 * maxSimilar),
    list(sql`true`, item.createdAt, lastItems - 1),
    list(sql`author = ${item.author}`, item.createdAt, lastItems - 1),
  ]);
  return { similar, ofOrganization, ofAuthor };
}

function present(counters: Counters) {
  return presentCounted(counters, noViewers);
}

/** In seconds; excludes the lower bound and includes the upper one. */
function lengthRange(duration: number | null): [number, number] {
  const most = lengthClasses.find((end) => (duration ?? 0) <= end) ?? 1e9;
  const least = lengthClasses.filter((end) => end < most).at(-1) ?? -1;
  return [least, most];
}

function lengthClassOf(duration: number | null) {
  if (duration === null) return null;
  const [from, to] = lengthRange(duration);
  return { from: Math.max(0, from), to: to === 1e9 ? null : to };
}

/** Quartiles by linear interpolation; null with too few values. */
function bandOf(values: readonly (number | null)[]): Band | null {
  const known = values.filter((value) => value !== null).toSorted((a, b) => a - b);
  if (known.length < minSimilar) return null;
  const quantile = (share: number) => {
    const place = share * (known.length - 1);
    const [low = 0, high = low] = known.slice(Math.floor(place), Math.floor(place) + 2);
    return low + (high - low) * (place % 1);
  };
  return {
    items: known.length,
    p25: quantile(0.25),
    median: quantile(0.5),
    p75: quantile(0.75),
  };
}

/** The rank among the others, 1 for the best; ties share a rank. */
function rank(value: number | null, others: readonly (number | null)[], lowerWins: boolean) {
  const known = others.filter((other) => other !== null);
  if (value === null) return null;
  const better = known.filter((other) => (lowerWins ? other < value : other > value));
  return { rank: better.length + 1, of: known.length + 1 };
}

function curveOf(
  item: MeasuredItem,
  peers: readonly MeasuredItem[],
  details: readonly { contentId: string; detail: ContentDetail }[],
) {
  const sums = new Map<string, ContentDetail>();
  for (const { contentId, detail } of details) {
    const sum = sums.get(contentId) ?? emptyDetail();
    addDetail(sum, detail);
    sums.set(contentId, sum);
  }
  const curves = peers
    .map(({ contentId }) => watchedPoints(sums.get(contentId) ?? emptyDetail()))
    .filter((points) => points.length > 0)
    .map((points) => new Map(points.map(({ second, watched }) => [second, watched])));
  return watchedPoints(sums.get(item.contentId) ?? emptyDetail()).map((point) => ({
    ...point,
    // Past its end, an item has no views.
    typical: bandOf(curves.map((curve) => curve.get(point.second) ?? 0)),
  }));
}
