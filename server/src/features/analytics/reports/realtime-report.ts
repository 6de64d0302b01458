/** Current activity: the last 60 minutes by the minute, and rising items. */
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { minuteMs } from '../../../platform/values/time.ts';
import { minuteColumns, type MinuteColumn } from '../projections/realtime/realtime-queries.ts';
import {
  countViewers,
  createViewerSet,
  decodeViewerSet,
  mergeViewerSets,
} from '../statistics/viewer-set.ts';
import { ratio } from './metrics.ts';
import {
  selectMinutes,
  selectRecentItems,
  selectMinuteViewerSets,
  type RecentItem,
} from './realtime-queries.ts';

export const shownMinutes = 60;
/** The recent minutes, including the current one, whose plays are compared with those before. */
export const recentMinutes = 10;
const maxItems = 10;
/** Fewer plays are not significant. */
const minRecentPlays = 5;
/** In standard deviations: without any change, one item in 700 exceeds it. */
const risingFrom = 3;

export async function reportRealtime(db: Db, organizationId: OrganizationId, nowMs: number) {
  const currentMs = nowMs - (nowMs % minuteMs);
  const span = { fromMs: currentMs - (shownMinutes - 1) * minuteMs, toMs: currentMs + minuteMs };
  const recentMs = currentMs - (recentMinutes - 1) * minuteMs;
  const [counted, sets, items] = await Promise.all([
    selectMinutes(db, organizationId, span),
    selectMinuteViewerSets(db, organizationId, span),
    selectRecentItems(db, organizationId, { ...span, recentMs }),
  ]);
  const countsOf = new Map(counted.map((row) => [row.minuteMs, row]));
  const decoded = sets.map((row) => ({ ...row, set: decodeViewerSet(row.sketch) }));
  const viewersFrom = (fromMs: number, toMs: number) => {
    const all = createViewerSet();
    for (const { minuteMs: at, set } of decoded) {
      if (at >= fromMs && at < toMs) mergeViewerSets(all, set);
    }
    return countViewers(all);
  };
  const minutes = Array.from({ length: shownMinutes }, (_, index) => {
    const startMs = span.fromMs + index * minuteMs;
    return {
      minute: new Date(startMs).toISOString(),
      ...pickCounts((name) => countsOf.get(startMs)?.[name] ?? 0),
      viewers: viewersFrom(startMs, startMs + minuteMs),
    };
  });
  return {
    now: new Date(nowMs).toISOString(),
    total: {
      ...pickCounts((name) => counted.reduce((sum, row) => sum + row[name], 0)),
      viewers: viewersFrom(span.fromMs, span.toMs),
    },
    viewersLastFiveMinutes: viewersFrom(currentMs - 4 * minuteMs, span.toMs),
    minutes,
    top: topItems(items),
    rising: risingItems(items, { recentMs, fromMs: span.fromMs, nowMs }),
  };
}

function pickCounts(of: (name: MinuteColumn) => number): Record<MinuteColumn, number> {
  return Object.fromEntries(minuteColumns.map((name) => [name, of(name)])) as Record<
    MinuteColumn,
    number
  >;
}

function topItems(items: readonly RecentItem[]) {
  return items
    .toSorted((a, b) => b.plays - a.plays || (a.contentId < b.contentId ? -1 : 1))
    .slice(0, maxItems)
    .map(({ contentId, title, impressions, plays, likes }) => ({
      contentId,
      title,
      impressions,
      plays,
      likes,
    }));
}

/**
 * Items that were played more in the recent minutes than chance explains. At a constant rate, the
 * recent plays are binomially distributed with the recent share of the time as probability; `z` is
 * their distance from the mean in standard deviations.
 */
export function risingItems(
  items: readonly RecentItem[],
  { recentMs, fromMs, nowMs }: { recentMs: number; fromMs: number; nowMs: number },
) {
  const [recent, before] = [(nowMs - recentMs) / minuteMs, (recentMs - fromMs) / minuteMs];
  const share = recent / (recent + before);
  return items
    .map((item) => {
      const deviation = Math.sqrt(item.plays * share * (1 - share));
      return { ...item, z: (item.recentPlays - item.plays * share) / deviation };
    })
    .filter(({ recentPlays, z }) => recentPlays >= minRecentPlays && z >= risingFrom)
    .toSorted((a, b) => b.z - a.z || (a.contentId < b.contentId ? -1 : 1))
    .slice(0, maxItems)
    .map(({ contentId, title, plays, recentPlays }) => {
      const [now, then] = [recentPlays / recent, (plays - recentPlays) / before];
      return {
        contentId,
        title,
        plays: recentPlays,
        playsPerMinute: now,
        playsPerMinuteBefore: then,
        change: ratio(now - then, then),
      };
    });
}
