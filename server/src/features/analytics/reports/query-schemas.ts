import { Type } from 'typebox';
import { Closed, OneOf, pageQuery } from '../../../platform/http/schemas.ts';
import { hoursKeptDays } from '../projections/table-queries.ts';
import { countMetrics } from '../projections/engagement/counted-kinds.ts';
import { dimensions } from './dimensions.ts';
import { directions, moverMetrics } from './movers-query.ts';
import { granularities, maxDaysOfHours } from './period.ts';

/** Parsed by `readPeriod`. */
const day = (description: string) => Type.String({ description, examples: ['2026-01-31'] });

const periodQuery = {
  startDate: Type.Optional(day('First day of the range. Default: 29 days before `endDate`.')),
  endDate: Type.Optional(day('Last day, included; at most 366 days in all. Default: today.')),
  granularity: Type.Optional(
    OneOf(
      granularities,
      `Of the timeseries. Weeks begin on Monday. \`hour\`: at most ${maxDaysOfHours} days, of the ` +
        `last ${hoursKeptDays}. Default: day.`,
    ),
  ),
};

const text = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 200, description }));

/** Parsed by `readFilter`. */
export const filterQuery = {
  device: Type.Optional(OneOf(['ios', 'android', 'web'] as const, 'Only from this device.')),
  country: Type.Optional(
    Type.String({ maxLength: 2, description: 'Only from this country.', examples: ['DE'] }),
  ),
  entryPoint: text('Only views that came by this entry point.'),
  appVersion: text('Only from this version of the app.'),
  contentId: Type.Optional(Type.String({ maxLength: 64, description: 'Only of this item.' })),
  tag: text('Only of items that have this tag now.'),
  author: text('Only of items that have this author now.'),
  section: text('Only of items that are in this section now.'),
};

/** Parsed by `readBreakdown`. */
export const breakdownQuery = {
  breakdown: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: `One or two of ${dimensions.join(', ')}: splits what the filter asks for.`,
      examples: ['author,country'],
    }),
  ),
  top: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description: 'Rows of the break-down; what is in none of them is `other`. Default: 10.',
    }),
  ),
  experiment: Type.Optional(
    Type.String({ maxLength: 64, description: 'With `breakdown=experimentVariant`: its id.' }),
  ),
};

export const FilteredQuery = Closed({ ...periodQuery, ...filterQuery, ...breakdownQuery });

/** Parameters of reports without buckets shorter than a day. */
export const DaysQuery = Closed({
  startDate: periodQuery.startDate,
  endDate: periodQuery.endDate,
  ...filterQuery,
  breakdown: breakdownQuery.breakdown,
});

/** The sort keys of the content list: any metric, or the creation time. */
export const contentSorts = [
  'impressions',
  'plays',
  'completions',
  'totalWatchTime',
  'averageWatchTime',
  'completionRate',
  'engagementRate',
  'reactionsPerImpression',
  ...countMetrics,
  'uniqueViewers',
  'reactingViewers',
  'swipesAway',
  'views',
  'engagedViews',
  'hookRate',
  'swipeAwayRate',
  'loopRate',
  'replays',
  'averagePercentWatched',
  'createdAt',
] as const;
export type ContentSort = (typeof contentSorts)[number];

export const ContentStatisticsQuery = Closed({
  ...periodQuery,
  ...filterQuery,
  ...breakdownQuery,
  ...pageQuery,
  sort: Type.Optional(
    OneOf(
      contentSorts,
      'Default: plays. Metrics move while people watch; `createdAt` walks all items once.',
    ),
  ),
  order: Type.Optional(OneOf(['asc', 'desc'] as const, 'Default: desc.')),
  tags: Type.Optional(
    Type.String({ minLength: 1, maxLength: 2000, description: 'Comma list; any of them matches.' }),
  ),
});

const { device, country, entryPoint, appVersion } = filterQuery;

export const ItemStatisticsQuery = Closed({
  ...periodQuery,
  device,
  country,
  entryPoint,
  appVersion,
  ...breakdownQuery,
});

export const MoversQuery = Closed({
  ...periodQuery,
  ...filterQuery,
  breakdown: breakdownQuery.breakdown,
  metric: Type.Optional(OneOf(moverMetrics, 'What is compared. Default: plays.')),
  direction: Type.Optional(OneOf(directions, 'Gains, losses, or both. Default: both.')),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, description: 'Items. Default: 10.' }),
  ),
});

export const segmentKinds = ['device', 'country', 'tag'] as const;
export type SegmentKind = (typeof segmentKinds)[number];

export const EngagementQuery = Closed({
  ...periodQuery,
  ...filterQuery,
  ...breakdownQuery,
  segment: Type.Optional(OneOf(segmentKinds, 'How to split `segments`. Default: device.')),
});
