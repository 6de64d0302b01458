/** The metrics of each item on each day that has any. */
import { dayMs } from '../../../platform/time.ts';
import { readDailyMetrics, readFilteredDailyMetrics } from '../../analytics/analytics.ts';
import { rowOf, type Column, type DatasetReader } from './dataset.ts';

const columns: readonly Column[] = [
  { name: 'date', type: 'string', about: 'The day, such as `2026-01-31`.' },
  { name: 'contentId', type: 'string', about: 'The item.' },
  { name: 'title', type: 'string', about: 'Its current title.' },
  { name: 'impressions', type: 'integer', about: 'Number of impressions.' },
  { name: 'plays', type: 'integer', about: 'Views in which playback started.' },
  { name: 'completions', type: 'integer', about: 'Views that reached the end.' },
  {
    name: 'uniqueViewers',
    type: 'integer',
    about: 'Distinct viewers. Values of several days cannot be added.',
  },
  { name: 'totalWatchTime', type: 'number', about: 'Seconds.' },
  { name: 'averageWatchTime', type: 'number', about: 'Seconds per play.' },
  { name: 'completionRate', type: 'number', about: 'Completions divided by plays.' },
  {
    name: 'engagementRate',
    type: 'number',
    about: 'Viewers who reacted, divided by unique viewers.',
  },
  { name: 'likes', type: 'integer', about: 'Likes of that day.' },
  { name: 'shares', type: 'integer', about: 'Shares.' },
  { name: 'saves', type: 'integer', about: 'Saves of that day.' },
  { name: 'swipesAway', type: 'integer', about: 'Views that ended with a swipe.' },
  { name: 'views', type: 'integer', about: 'Views, whether or not they played.' },
  { name: 'engagedViews', type: 'integer', about: 'Views of at least 10 s, or completed.' },
  { name: 'hookRate', type: 'number', about: 'Share of views that stayed past the beginning.' },
  { name: 'swipeAwayRate', type: 'number', about: 'Share of views that ended with a swipe.' },
  { name: 'loopRate', type: 'number', about: 'Share of views with a replay.' },
  { name: 'replays', type: 'integer', about: 'Number of replays.' },
  {
    name: 'averagePercentWatched',
    type: 'number',
    about: 'Mean share watched, where 1 is the whole item.',
  },
  {
    name: 'reactingViewers',
    type: 'integer',
    about: 'Distinct viewers who liked, shared or saved. Values of several days cannot be added.',
  },
  {
    name: 'reactionsPerImpression',
    type: 'number',
    about: 'Likes, shares and saves, divided by impressions.',
  },
];

const itemsAtOnce = 1_000;

export const analytics: DatasetReader = {
  about: 'The metrics of each item for each day with activity, counted as in reports.',
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
