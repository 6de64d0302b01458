import { Type } from 'typebox';
import { Closed, OneOf, pageQuery } from '../../../platform/http/schemas.ts';
import { hoursKeptDays } from '../projections/table-queries.ts';
import { countMetrics } from '../projections/engagement/counted-kinds.ts';
import { dimensions } from './dimensions.ts';
import { moverDirections, moverMetrics } from './movers-query.ts';
import { granularities, maxDaysOfHours } from './period.ts';

/** Parsed by `readPeriod`. */
const day = (description: string) => Type.String({ description, examples: ['2026-01-31'] });

const periodQuery = {
  startDate: Type.Optional(day('First day of the range. Default: 29 days before `endDate`.')),
  endDate: Type.Optional(
    day('Last day of the range, inclusive. The range is at most 366 days. Default: today.'),
  ),
  granularity: Type.Optional(
    OneOf(
      granularities,
      `Granularity of the time series. Weeks start on Monday. \`hour\` covers at most ${maxDaysOfHours} days within the ` +
        `last ${hoursKeptDays}. Default: day.`,
    ),
  ),
};

const text = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 200, description }));

/** Parsed by `readFilter`. */
export const filterQuery = {
  device: Type.Optional(OneOf(['ios', 'android', 'web'] as const, 'Only events from this device.')),
  country: Type.Optional(
    Type.String({ maxLength: 2, description: 'Only events from this country.', examples: ['DE'] }),
  ),
  entryPoint: text('Only views from this entry point.'),
  appVersion: text('Only events from this app version.'),
  contentId: Type.Optional(Type.String({ maxLength: 64, description: 'Only this item.' })),
  tag: text('Only items that currently have this tag.'),
  author: text('Only items that currently have this author.'),
  section: text('Only items that are currently in this section.'),
};

/** Parsed by `readBreakdown`. */
export const breakdownQuery = {
  breakdown: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: `One or two of ${dimensions.join(', ')}. Breaks the filtered metrics down by these dimensions.`,
      examples: ['author,country'],
    }),
  ),
  top: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description:
        'Maximum number of rows in the breakdown. The remainder is `other`. Default: 10.',
    }),
  ),
  experiment: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'Id of the experiment, required with `breakdown=experimentVariant`.',
    }),
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
      'Default: plays. Metrics change while people watch, so use `createdAt` to page through all items exactly once.',
    ),
  ),
  order: Type.Optional(OneOf(['asc', 'desc'] as const, 'Default: desc.')),
  tags: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2000,
      description: 'Comma-separated list. An item matches if it has any of them.',
    }),
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
  metric: Type.Optional(OneOf(moverMetrics, 'Metric to compare. Default: plays.')),
  direction: Type.Optional(OneOf(moverDirections, 'Gains, losses, or both. Default: both.')),
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
  segment: Type.Optional(OneOf(segmentKinds, 'Dimension of `segments`. Default: device.')),
});
