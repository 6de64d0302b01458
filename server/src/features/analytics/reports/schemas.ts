/** The shapes of analytics answers. Times are seconds, rates 0 to 1 and null without a base. */
import { Type } from 'typebox';
import { Closed, Nullable, OneOf, pageQuery } from '../../../platform/http/schemas.ts';
import { hoursKeptDays } from '../maintenance.ts';
import { granularities, mostDaysOfHours } from './period.ts';

/** Read by `readPeriod`. */
const day = (description: string) => Type.String({ description, examples: ['2026-01-31'] });

export const periodQuery = {
  startDate: Type.Optional(day('First day (UTC) of the range. Default: 29 days before `endDate`.')),
  endDate: Type.Optional(day('Last day (UTC), included; at most 366 days in all. Default: today.')),
  granularity: Type.Optional(
    OneOf(
      granularities,
      `Of the timeseries. Weeks begin on Monday. \`hour\`: at most ${mostDaysOfHours} days, of the ` +
        `last ${hoursKeptDays}. Default: day.`,
    ),
  ),
};

export const PeriodQuery = Closed(periodQuery);

const count = (description?: string) =>
  Type.Integer({ minimum: 0, ...(description !== undefined && { description }) });
const seconds = (description: string) => Type.Number({ minimum: 0, description });
const rate = (description: string) =>
  Nullable(Type.Number({ minimum: 0, maximum: 1, description }));
const average = (description: string) => Nullable(seconds(description));

/** What the events of a set of views add up to, without who has watched. */
const counted = {
  impressions: count(),
  plays: count(),
  completions: count(),
  totalWatchTime: seconds('Seconds.'),
  averageWatchTime: average('Seconds a play.'),
  completionRate: rate('Plays that were completed, by plays.'),
  engagementRate: Nullable(
    Type.Number({ minimum: 0, description: '(likes + shares + saves) / impressions.' }),
  ),
  likes: count(),
  shares: count(),
  saves: count(),
};
const uniqueViewers = count('Distinct viewers that have played.');

const overviewMetrics = { ...counted, uniqueViewers, sessions: count() };

const date = Type.String({
  description: 'The day, the Monday of the week, or the moment at which the hour begins.',
  examples: ['2026-01-31'],
});

const Comparison = Type.Object({
  change: Nullable(Type.Number({ description: 'Relative: 0.25 is a quarter more.' })),
  direction: OneOf(['up', 'down', 'flat'] as const),
});

export const Overview = Type.Object({
  summary: Type.Object(overviewMetrics),
  timeseries: Type.Array(Type.Object({ date, ...overviewMetrics })),
  comparison: Type.Object(
    Object.fromEntries(Object.keys(overviewMetrics).map((name) => [name, Comparison])),
    { description: 'Against as many days right before the range.' },
  ),
});

const contentMetrics = {
  ...counted,
  uniqueViewers,
  swipesAway: count('Swipes from this item to the next.'),
};

/** What the content list can be sorted by: any metric, or the age of the items. */
export const contentSorts = [
  'impressions',
  'plays',
  'completions',
  'totalWatchTime',
  'averageWatchTime',
  'completionRate',
  'engagementRate',
  'likes',
  'shares',
  'saves',
  'uniqueViewers',
  'swipesAway',
  'createdAt',
] as const;
export type ContentSort = (typeof contentSorts)[number];

export const ContentStatisticsQuery = Closed({
  startDate: periodQuery.startDate,
  endDate: periodQuery.endDate,
  granularity: periodQuery.granularity,
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

export const ContentStatistics = Type.Object({
  contentId: Type.String({ format: 'uuid' }),
  title: Type.String(),
  metrics: Type.Object(contentMetrics),
});

const breakdown = { plays: count(), totalWatchTime: seconds('Seconds.') };
const label = (description: string) => Nullable(Type.String({ description }));

export const ItemStatistics = Type.Object({
  contentId: Type.String({ format: 'uuid' }),
  title: Type.String(),
  summary: Type.Object(contentMetrics),
  timeseries: Type.Array(
    Type.Object({
      date,
      ...contentMetrics,
      uniqueViewers: Nullable(count('Null by hour: they are kept by day.')),
    }),
  ),
  devices: Type.Array(Type.Object({ device: label('Null is unknown.'), ...breakdown })),
  countries: Type.Array(Type.Object({ country: label('Null is unknown.'), ...breakdown })),
  engagement: Type.Object({
    averagePercentWatched: rate('Of the duration, over the views that have played.'),
    dropoffPoints: Type.Array(
      Type.Object({
        second: count(
          'Each of the first minute, then every ten seconds, from ten minutes on every minute.',
        ),
        retained: Type.Number({
          minimum: 0,
          maximum: 1,
          description: 'Share of the views that have reached this second.',
        }),
      }),
    ),
  }),
});

export const segmentKinds = ['device', 'country', 'tag'] as const;
export type SegmentKind = (typeof segmentKinds)[number];

export const EngagementQuery = Closed({
  ...periodQuery,
  segment: Type.Optional(OneOf(segmentKinds, 'How to split `segments`. Default: device.')),
});

const sessionMetrics = {
  sessions: count(),
  averageSessionLength: average('Seconds from the first to the last event.'),
  averageVideosPerSession: Nullable(Type.Number({ minimum: 0 })),
  averageWatchTimePerSession: average('Seconds.'),
};

export const Engagement = Type.Object({
  summary: Type.Object(sessionMetrics),
  segments: Type.Array(
    Type.Object({
      segment: label('The device, country or tag; null is unknown.'),
      ...sessionMetrics,
      sessions: Nullable(count('Null for tags: a session is about many.')),
      ...counted,
    }),
  ),
  timeseries: Type.Array(Type.Object({ date, ...sessionMetrics })),
});

const milliseconds = (description: string) =>
  Nullable(Type.Number({ minimum: 0, description: `${description} Milliseconds.` }));

const playback = {
  startupTime: Type.Object({
    average: milliseconds('Mean.'),
    p50: milliseconds('Median, as all percentiles within 2 %.'),
    p75: milliseconds('Three quarters start as fast.'),
    p95: milliseconds('95 of 100 start as fast.'),
    p99: milliseconds('99 of 100 start as fast.'),
  }),
  rebufferRatio: Nullable(
    Type.Number({ minimum: 0, description: 'Time of stalls by time watched.' }),
  ),
  rebuffersPerHour: Nullable(Type.Number({ minimum: 0, description: 'Stalls an hour watched.' })),
  errorRate: rate('Views with an error, by views that were attempted.'),
  exitsBeforeStart: rate('Views that were left before playback, without an error.'),
};

const renditionPlays = {
  plays: count(),
  averageStartupTime: milliseconds('Of these plays.'),
};

export const Quality = Type.Object({
  summary: Type.Object(playback),
  renditions: Type.Array(
    Type.Object({
      rendition: label('As players name it; null is unknown.'),
      ...renditionPlays,
      progressReports: count('watchProgress events.'),
      rebuffers: count(),
      rebufferTime: seconds('Seconds.'),
      switchesTo: count('qualityChange events to it.'),
    }),
  ),
  codecs: Type.Array(Type.Object({ codec: label('Null is unknown.'), ...renditionPlays })),
  errors: Type.Array(Type.Object({ code: label('`data.errorCode`.'), count: count() })),
  timeseries: Type.Array(Type.Object({ date, ...playback })),
});

export const Retention = Type.Object({
  cohorts: Type.Array(
    Type.Object({
      date: Type.String({ description: 'The first day of these viewers, or its Monday.' }),
      size: count('Viewers.'),
      retention: Type.Array(Type.Number({ minimum: 0, maximum: 1 }), {
        description: 'The share that was active n days later; [0] is 1. Empty without viewers.',
      }),
    }),
  ),
});
