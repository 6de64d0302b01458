/** The metrics of each item on each day that has any. */
import { dayMs } from '../../../platform/values/time.ts';
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
  { name: 'title', type: 'string', about: 'The current title of the item.' },
  { name: 'impressions', type: 'integer', about: '`impression` events.' },
  { name: 'plays', type: 'integer', about: '`playStart` events.' },
  { name: 'completions', type: 'integer', about: '`completion` events.' },
  {
    name: 'uniqueViewers',
    type: 'integer',
    about: 'Unique viewers; values of different days do not add up.',
  },
  { name: 'totalWatchTime', type: 'number', about: 'Seconds watched.' },
  { name: 'averageWatchTime', type: 'number', about: 'Seconds watched per play.' },
  { name: 'completionRate', type: 'number', about: 'Completed plays / plays.' },
  { name: 'engagementRate', type: 'number', about: 'Viewers who reacted / unique viewers.' },
  ...countColumns,
  { name: 'swipesAway', type: 'integer', about: '`swipe` events that left the item.' },
  { name: 'views', type: 'integer', about: 'Views with a `playStart` or `watchProgress` event.' },
  {
    name: 'engagedViews',
    type: 'integer',
    about: 'Views that were watched for 10 seconds or completed.',
  },
  { name: 'hookRate', type: 'number', about: 'Share of views that passed 3 seconds.' },
  {
    name: 'swipeAwayRate',
    type: 'number',
    about: 'Share of views that were swiped away before 3 seconds.',
  },
  { name: 'loopRate', type: 'number', about: 'Share of views that were repeated.' },
  { name: 'replays', type: 'integer', about: 'Number of repeats.' },
  {
    name: 'averagePercentWatched',
    type: 'number',
    about: 'Mean share of the item that was watched; 1 is the whole item.',
  },
  {
    name: 'reactingViewers',
    type: 'integer',
    about: 'Viewers who liked, shared or saved; values of different days do not add up.',
  },
  {
    name: 'reactionsPerImpression',
    type: 'number',
    about: '(Likes + shares + saves) / impressions.',
  },
];

const itemsAtOnce = 1_000;

export const analytics: DatasetReader = {
  about: 'The metrics of each item for each day with any activity, computed as in reports.',
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
