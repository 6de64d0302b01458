/** The metrics of each item on each day that has any. */
import { dayMs } from '../../../platform/time.ts';
import {
  byCountMetric,
  readDailyMetrics,
  readFilteredDailyMetrics,
} from '../../analytics/analytics.ts';
import { rowOf, type Column, type DatasetReader } from './dataset.ts';

const countColumns = Object.values(
  byCountMetric((name, about): Column => ({ name, type: 'integer', about })),
);

const columns: readonly Column[] = [
  { name: 'date', type: 'string', about: 'The day, such as `2026-01-31`.' },
  { name: 'contentId', type: 'string', about: 'The item.' },
  { name: 'title', type: 'string', about: 'Its title now.' },
  { name: 'impressions', type: 'integer', about: 'Times that it was shown.' },
  { name: 'plays', type: 'integer', about: 'Views that began to play.' },
  { name: 'completions', type: 'integer', about: 'Views that reached the end.' },
  {
    name: 'uniqueViewers',
    type: 'integer',
    about: 'Viewers; those of several days do not add up.',
  },
  { name: 'totalWatchTime', type: 'number', about: 'Seconds.' },
  { name: 'averageWatchTime', type: 'number', about: 'Seconds of a play.' },
  { name: 'completionRate', type: 'number', about: 'Completions by plays.' },
  { name: 'engagementRate', type: 'number', about: 'Viewers who reacted, by unique viewers.' },
  ...countColumns,
  { name: 'swipesAway', type: 'integer', about: 'Views that ended by a swipe.' },
  { name: 'views', type: 'integer', about: 'Views, whether or not they played.' },
  { name: 'engagedViews', type: 'integer', about: 'Views that were watched for long enough.' },
  { name: 'hookRate', type: 'number', about: 'Share of views that stayed past the beginning.' },
  { name: 'swipeAwayRate', type: 'number', about: 'Share of views that ended by a swipe.' },
  { name: 'loopRate', type: 'number', about: 'Share of views that played again.' },
  { name: 'replays', type: 'integer', about: 'Times that it played again.' },
  { name: 'averagePercentWatched', type: 'number', about: '1 is the whole item.' },
  {
    name: 'reactingViewers',
    type: 'integer',
    about: 'Viewers who liked, shared or saved; those of several days do not add up.',
  },
  {
    name: 'reactionsPerImpression',
    type: 'number',
    about: 'Likes, shares and saves by impressions.',
  },
];

const itemsAtOnce = 1_000;

export const analytics: DatasetReader = {
  about: 'The metrics of each item on each day on which it had any, as reports count them.',
  columns,
  filters: [
    'device',
    'country',
    'entryPoint',
    'appVersion',
    'contentId',
    'tag',
    'author',
    'section',
  ],
  namesViewers: false,
  async *read({ db }, { organizationId, startMs, endMs, filter }, from, signal) {
    const isFiltered = Object.keys(filter).length > 0;
    let after = (from?.['after'] ?? null) as string | null;
    let day = Number(from?.['day'] ?? startMs);
    while (day < endMs) {
      signal.throwIfAborted();
      const page = isFiltered
        ? await readFilteredDailyMetrics(db, organizationId, { dayMs: day, filter })
        : await readDailyMetrics(db, organizationId, { dayMs: day, after, limit: itemsAtOnce });
      const isDayOver = isFiltered || page.length < itemsAtOnce;
      after = isDayOver ? null : (page.at(-1)?.contentId ?? null);
      if (isDayOver) day += dayMs;
      yield {
        rows: page.map(({ metrics, ...item }) => rowOf(columns, { ...item, ...metrics })),
        next: { day, after },
        share: (day - startMs) / (endMs - startMs),
      };
    }
  },
};
