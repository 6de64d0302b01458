/** Unique viewers who watched and who reacted in a range, and on how many of its days they came. */
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { FactSums, type ViewersOf } from '../facts/sums.ts';
import { readSeries } from './counter-queries.ts';
import type { ReportFilter } from './filter.ts';
import { addFiltered } from './filtered-series.ts';
import { ratio, sumCounters } from './metrics.ts';
import type { Period } from './period.ts';
import { daySpanOf } from './series.ts';

/** Classes by days with a view, ascending; the last has no upper bound. */
export const frequencies = [
  { from: 1, to: 1 },
  { from: 2, to: 3 },
  { from: 4, to: 7 },
  { from: 8, to: 14 },
  { from: 15, to: null },
] as const;

type Query = { period: Period; filter: ReportFilter | null };

/** Viewers are counted from facts, so each counts on the day a view began. */
export async function reportViewers(db: Db, organizationId: OrganizationId, query: Query) {
  const { period, filter } = query;
  const watching = sumsOf('watching');
  const reacting = sumsOf('reacting');
  const liking = new FactSums({ groupBy: 'day', counts: ['likes', 'unlikes'], viewers: 'liking' });
  const wanted = { within: period, filter: filter ?? {} };
  await addFiltered(db, organizationId, wanted, [watching, reacting, liking]);
  // Without a filter, likes count on the day of the event, as in the overview.
  const { likes, unlikes } =
    filter === null
      ? sumCounters(await readSeries(db, organizationId, daySpanOf(period)))
      : sumCounters([...liking.groups.keys()].map((day) => liking.countsOf(day)));
  const uniqueViewers = countOnce(watching);
  return {
    uniqueViewers,
    reactingViewers: countOnce(reacting),
    likers: countOnce(liking),
    likes,
    unlikes,
    netLikes: likes - unlikes,
    frequency: countByDays(watching).map((viewers, index) => ({
      daysFrom: frequencies[index]?.from ?? 0,
      daysTo: frequencies[index]?.to ?? null,
      viewers,
      share: ratio(viewers, uniqueViewers),
    })),
  };
}

function sumsOf(viewers: ViewersOf): FactSums {
  return new FactSums({ groupBy: 'day', counts: [], viewers });
}

function countOnce(sums: FactSums): number {
  return sums.viewersBySet(1, () => [0])[0] ?? 0;
}

/** Viewers in each class of `frequencies`. */
function countByDays({ viewers }: FactSums): number[] {
  const days = new Map<number, number>();
  viewers.forEach((member) => days.set(member, (days.get(member) ?? 0) + 1));
  const counts = frequencies.map(() => 0);
  for (const count of days.values()) {
    const index = frequencies.findIndex(({ to }) => to === null || count <= to);
    counts[index] = (counts[index] ?? 0) + 1;
  }
  return counts;
}
