/** The shapes of analytics answers. Times are seconds, rates 0 to 1 and null without a base. */
import { Type, type TSchema } from 'typebox';
import { Closed, Nullable, OneOf, pageQuery } from '../../../platform/http/schemas.ts';
import { hoursKeptDays } from '../projections/table-queries.ts';
import { directions, moverMetrics } from './movers-report.ts';
import { granularities, mostDaysOfHours } from './period.ts';

/** Read by `readPeriod`. */
const day = (description: string) => Type.String({ description, examples: ['2026-01-31'] });

export const periodQuery = {
  startDate: Type.Optional(day('First day of the range. Default: 29 days before `endDate`.')),
  endDate: Type.Optional(day('Last day, included; at most 366 days in all. Default: today.')),
  granularity: Type.Optional(
    OneOf(
      granularities,
      `Of the timeseries. Weeks begin on Monday. \`hour\`: at most ${mostDaysOfHours} days, of the ` +
        `last ${hoursKeptDays}. Default: day.`,
    ),
  ),
};

export const PeriodQuery = Closed(periodQuery);

/** Of reports that only know days. */
export const DaysQuery = Closed({
  startDate: periodQuery.startDate,
  endDate: periodQuery.endDate,
});

const text = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 200, description }));

/** Read by `readFilter`. */
const filterQuery = {
  device: Type.Optional(OneOf(['ios', 'android', 'web'] as const, 'Only from this device.')),
  country: Type.Optional(
    Type.String({ maxLength: 2, description: 'Only from this country.', examples: ['DE'] }),
  ),
  contentId: Type.Optional(Type.String({ maxLength: 64, description: 'Only of this item.' })),
  tag: text('Only of items that have this tag now.'),
  author: text('Only of items that have this author now.'),
  section: text('Only of items that are in this section now.'),
};

export const FilteredQuery = Closed({ ...periodQuery, ...filterQuery });

const meta = {
  requestId: Type.Optional(Type.String()),
  asOf: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Every event that was answered before this moment is counted.',
    }),
  ),
};

/** `{ data, meta: { requestId, asOf } }` */
export function Report<T extends TSchema>(data: T) {
  return Type.Object({ data, meta: Type.Object(meta) }, { description: 'The result.' });
}

/** A page of a report that is a list. */
export function ReportList<T extends TSchema>(item: T) {
  return Type.Object(
    {
      data: Type.Array(item),
      meta: Type.Object({
        ...meta,
        total: Type.Integer({ description: 'Items of the whole list.' }),
        nextCursor: Nullable(Type.String()),
      }),
    },
    { description: 'A page of the list.' },
  );
}

/** In the description of every report. */
export const asCsv = 'With `Accept: text/csv` it answers';

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
  views: count('Views that have played.'),
  engagedViews: count('Views of 10 s at least, or completed.'),
  hookRate: rate('Views that lasted 3 s, by views.'),
  swipeAwayRate: rate('Views that were swiped away before 3 s, by views.'),
  loopRate: rate('Views that began again at least once, by views.'),
  replays: count('How often views began again.'),
  averagePercentWatched: Nullable(
    Type.Number({
      minimum: 0,
      description:
        'Mean of watch time by duration, over the views that told one. Over 1 for loops.',
    }),
  ),
};
const uniqueViewers = Nullable(
  count('Distinct viewers that have played. Null with a filter by device or country, and by hour.'),
);

const overviewMetrics = {
  ...counted,
  uniqueViewers: Nullable(count('Distinct viewers that have played. Null with a filter.')),
  sessions: Nullable(count('Null with a filter by items.')),
};

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
    {
      description:
        'Against as many days right before the range. A last day that is not over yet is left out, ' +
        'with its counterpart.',
    },
  ),
});

export const Audience = Type.Object({
  date: Type.String({ description: 'The last day of the range, or today if that comes earlier.' }),
  dailyActiveViewers: count('Distinct viewers that have played on that day.'),
  weeklyActiveViewers: count('In the 7 days that end with it.'),
  monthlyActiveViewers: count('In the 30 days that end with it.'),
  stickiness: Nullable(
    Type.Number({ minimum: 0, description: 'Daily by monthly active viewers.' }),
  ),
  newViewers: count('Viewers who did anything for the first time in the range.'),
  timeseries: Type.Array(
    Type.Object({
      date: Type.String({ examples: ['2026-01-31'] }),
      newViewers: count('Viewers who did anything for the first time.'),
      returningViewers: count('Active viewers who had done anything on an earlier day.'),
    }),
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
  startDate: periodQuery.startDate,
  endDate: periodQuery.endDate,
  granularity: periodQuery.granularity,
  ...filterQuery,
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

export const ItemStatisticsQuery = Closed({
  ...periodQuery,
  device: filterQuery.device,
  country: filterQuery.country,
});

export const ItemStatistics = Type.Object({
  contentId: Type.String({ format: 'uuid' }),
  title: Type.String(),
  summary: Type.Object(contentMetrics),
  timeseries: Type.Array(
    Type.Object({
      date,
      ...contentMetrics,
    }),
  ),
  devices: Type.Array(Type.Object({ device: label('Null is unknown.'), ...breakdown })),
  countries: Type.Array(Type.Object({ country: label('Null is unknown.'), ...breakdown })),
  engagement: Type.Object({
    averagePercentWatched: counted.averagePercentWatched,
    // Empty with a filter: how far views got is kept for all of them together.
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

export const MoversQuery = Closed({
  ...periodQuery,
  ...filterQuery,
  metric: Type.Optional(OneOf(moverMetrics, 'What is compared. Default: plays.')),
  direction: Type.Optional(OneOf(directions, 'Gains, losses, or both. Default: both.')),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, description: 'Items. Default: 10.' }),
  ),
});

export const Movers = Type.Array(
  Type.Object({
    contentId: Type.String({ format: 'uuid' }),
    title: Type.String(),
    current: seconds('The metric in the range.'),
    previous: seconds('In as many days before.'),
    difference: Type.Number({ description: 'current − previous' }),
    change: Nullable(Type.Number({ description: 'Relative: 0.25 is a quarter more.' })),
  }),
);

export const Sources = Type.Object({
  sources: Type.Array(
    Type.Object({
      entryPoint: label('`data.entryPoint` of impressions; null is unknown.'),
      impressions: count(),
      share: rate('Of all impressions.'),
    }),
  ),
  timeseries: Type.Array(
    Type.Object({
      date,
      impressions: Type.Record(Type.String(), count(), {
        description: "By entry point; the unknown ones are under ''.",
      }),
    }),
  ),
});

export const segmentKinds = ['device', 'country', 'tag'] as const;
export type SegmentKind = (typeof segmentKinds)[number];

export const EngagementQuery = Closed({
  ...periodQuery,
  ...filterQuery,
  segment: Type.Optional(OneOf(segmentKinds, 'How to split `segments`. Default: device.')),
});

const sessionMetrics = {
  sessions: Nullable(count('Null for items and tags: a session is about many.')),
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
      ...counted,
    }),
  ),
  timeseries: Type.Array(Type.Object({ date, ...sessionMetrics })),
});

const milliseconds = (description: string) =>
  Nullable(Type.Number({ minimum: 0, description: `${description} Milliseconds.` }));

const playback = {
  startupTime: Type.Object({
    average: milliseconds('Mean. As the percentiles, null with a filter.'),
    p50: milliseconds('Median, as all percentiles within 2 %.'),
    p75: milliseconds('Three quarters start as fast.'),
    p95: milliseconds('95 of 100 start as fast.'),
    p99: milliseconds('99 of 100 start as fast.'),
  }),
  rebufferRatio: Nullable(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Time of stalls by time watched and stalled.',
    }),
  ),
  rebuffersPerHour: Nullable(Type.Number({ minimum: 0, description: 'Stalls an hour watched.' })),
  errorRate: rate('Views with an error, by views that were attempted.'),
  failuresBeforeStart: rate('Views that failed before playback, by views that were attempted.'),
  exitsBeforeStart: rate(
    'Views that were left before playback without an error, after a second at least.',
  ),
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
