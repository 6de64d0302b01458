import { Type } from 'typebox';
import { Nullable, OneOf } from '../../../platform/http/schemas.ts';
import {
  average,
  BreakdownOf,
  count,
  counted,
  date,
  label,
  rate,
  seconds,
} from './metric-schemas.ts';

const overviewMetrics = {
  ...counted,
  sessions: Nullable(count('Null with an item filter.')),
};

const Comparison = Type.Object({
  change: Nullable(Type.Number({ description: 'Relative change: 0.25 is an increase of 25 %.' })),
  direction: OneOf(['up', 'down', 'flat'] as const),
});

export const Overview = Type.Object({
  summary: Type.Object(overviewMetrics),
  timeseries: Type.Array(Type.Object({ date, ...overviewMetrics })),
  comparison: Type.Object(
    Object.fromEntries(Object.keys(overviewMetrics).map((name) => [name, Comparison])),
    {
      description:
        'Compares with the preceding period of equal length. If the last day is not over yet, ' +
        'it and its counterpart are left out.',
    },
  ),
  breakdown: BreakdownOf(Type.Object(overviewMetrics)),
});

export const Audience = Type.Object({
  date: Type.String({ description: 'The last day of the range, or today if that is earlier.' }),
  dailyActiveViewers: count('Distinct viewers with a play on that day.'),
  weeklyActiveViewers: count('Distinct viewers in the 7 days ending with that day.'),
  monthlyActiveViewers: count('Distinct viewers in the 30 days ending with that day.'),
  stickiness: Nullable(
    Type.Number({
      minimum: 0,
      description: 'Daily active viewers divided by monthly active viewers.',
    }),
  ),
  newViewers: count('Viewers whose first activity falls in the range.'),
  timeseries: Type.Array(
    Type.Object({
      date: Type.String({ examples: ['2026-01-31'] }),
      newViewers: count('Viewers whose first activity was on this day.'),
      returningViewers: count('Active viewers who were also active on an earlier day.'),
    }),
  ),
});

const contentMetrics = {
  ...counted,
  uniqueViewers: Nullable(
    count('Distinct viewers with at least one play. Null by hour without a filter.'),
  ),
  reactingViewers: Nullable(
    count('Distinct viewers who liked, shared or saved. Null by hour without a filter.'),
  ),
  swipesAway: count('Swipes from this item to another one.'),
};

/** List metrics cover whole ranges, for which unique viewers are always known. */
const listedMetrics = { ...counted, swipesAway: contentMetrics.swipesAway };

const named = { contentId: Type.String({ format: 'uuid' }), title: Type.String() };

export const ContentStatistics = Type.Object({
  ...named,
  metrics: Type.Object(listedMetrics),
  previous: Type.Object(listedMetrics, {
    description: 'The same metric in the preceding period of equal length.',
  }),
});

export const ContentBreakdown = BreakdownOf(Type.Object(listedMetrics));

export const ContentStatisticsRow = Type.Object({
  ...named,
  ...listedMetrics,
  previous: Type.Object(listedMetrics),
});

const breakdown = { plays: count(), totalWatchTime: seconds('Seconds.') };
export const ItemStatistics = Type.Object({
  ...named,
  summary: Type.Object(contentMetrics),
  timeseries: Type.Array(
    Type.Object({
      date,
      ...contentMetrics,
    }),
  ),
  breakdown: ContentBreakdown,
  devices: Type.Array(Type.Object({ device: label('Null if unknown.'), ...breakdown })),
  countries: Type.Array(Type.Object({ country: label('Null if unknown.'), ...breakdown })),
  engagement: Type.Object({
    averagePercentWatched: counted.averagePercentWatched,
    dropoffPoints: Type.Array(
      Type.Object({
        second: count(
          'Every second of the first minute, then every ten seconds, and every minute from ten minutes on.',
        ),
        retained: Type.Number({
          minimum: 0,
          maximum: 1,
          description: 'Share of views that reached this second.',
        }),
      }),
    ),
    watchedPoints: Nullable(
      Type.Array(
        Type.Object({
          second: count('Seconds as in `dropoffPoints`.'),
          watched: Type.Number({
            minimum: 0,
            description:
              'Number of times this second was watched, divided by views. Above 1 if it is replayed.',
          }),
        }),
        { description: 'Null with a filter.' },
      ),
    ),
  }),
  feedback: Type.Object(
    {
      notInterested: count('Viewers not interested in the item, its author or its tags.'),
      reports: count('Viewers who reported the item.'),
      credibleReports: count('Reporting viewers who were active on at least two days.'),
    },
    {
      description:
        'Current feedback of viewers, each counted by their latest event, regardless of the range and the filter. ' +
        'It does not affect the feeds of other viewers.',
    },
  ),
});

export const Movers = Type.Array(
  Type.Object({
    ...named,
    current: seconds('The metric in the range.'),
    previous: seconds('The metric in the preceding period of equal length.'),
    difference: Type.Number({ description: 'current − previous' }),
    change: Nullable(Type.Number({ description: 'Relative change: 0.25 is an increase of 25 %.' })),
  }),
);

const sourceMetrics = {
  views: counted.views,
  plays: count('Plays of views from this entry point.'),
  totalWatchTime: seconds('Seconds.'),
  averageWatchTime: counted.averageWatchTime,
  hookRate: counted.hookRate,
  uniqueViewers: counted.uniqueViewers,
  followOnPlays: Nullable(
    count(
      'Plays after the first one in sessions that started from this entry point. Null if only views report it.',
    ),
  ),
};

export const Sources = Type.Object({
  sources: Type.Array(
    Type.Object({
      entryPoint: label('`data.entryPoint` of impressions; null if unknown.'),
      impressions: count(),
      share: rate('Share of all impressions.'),
      ...sourceMetrics,
    }),
  ),
  breakdown: BreakdownOf(Type.Object({ impressions: count(), ...sourceMetrics })),
  timeseries: Type.Array(
    Type.Object({
      date,
      impressions: Type.Record(Type.String(), count(), {
        description: "Values by entry point. Unknown entry points are listed under ''.",
      }),
    }),
  ),
});

const sessionMetrics = {
  sessions: Nullable(count('Null for items and tags, since a session includes many of them.')),
  averageSessionLength: average('Seconds from the first to the last event.'),
  averageVideosPerSession: Nullable(Type.Number({ minimum: 0 })),
  averageWatchTimePerSession: average('Seconds.'),
};

export const Engagement = Type.Object({
  summary: Type.Object(sessionMetrics),
  segments: Type.Array(
    Type.Object({
      segment: label('The device, country or tag; null if unknown.'),
      ...sessionMetrics,
      ...counted,
    }),
  ),
  timeseries: Type.Array(Type.Object({ date, ...sessionMetrics })),
  breakdown: BreakdownOf(Type.Object({ ...sessionMetrics, ...counted })),
});

export const Retention = Type.Object({
  cohorts: Type.Array(
    Type.Object({
      date: Type.String({
        description: 'The first day of these viewers, or the Monday of its week.',
      }),
      size: count('Viewers.'),
      retention: Type.Array(Type.Number({ minimum: 0, maximum: 1 }), {
        description:
          'Element n is the share that was active n days later; element 0 is 1. Empty if there are no viewers.',
      }),
    }),
  ),
});

export const Viewers = Type.Object({
  uniqueViewers: count(
    'Distinct viewers with at least one play, by the day on which the view began.',
  ),
  reactingViewers: count('Distinct viewers who liked, shared or saved.'),
  likers: count('Distinct viewers who liked.'),
  likes: count(),
  unlikes: count('Likes withdrawn in the range, regardless of when they were given.'),
  netLikes: Type.Integer({ description: 'likes − unlikes' }),
  frequency: Type.Array(
    Type.Object({
      daysFrom: count('Minimum number of days in the range with a view.'),
      daysTo: Nullable(count('Maximum number of days; null for no maximum.')),
      viewers: count('Distinct viewers.'),
      share: rate('Share of the unique viewers.'),
    }),
  ),
});

export const Hours = Type.Array(
  Type.Object({
    weekday: Type.Integer({ minimum: 1, maximum: 7, description: '1 is Monday.' }),
    hour: Type.Integer({
      minimum: 0,
      maximum: 23,
      description: "Hour in the organization's time zone.",
    }),
    days: count('Number of these weekdays that have begun in the range.'),
    impressions: count(),
    plays: count(),
    views: count(),
    totalWatchTime: seconds('Seconds.'),
    likes: count(),
    sessions: Nullable(count('Sessions that began in this hour. Null with an item filter.')),
  }),
  { description: 'All 168 hours, starting with Monday 0:00.' },
);

const band = Nullable(
  Type.Object({
    items: count('Number of similar items compared.'),
    p25: Type.Number({ description: '25th percentile.' }),
    median: Type.Number(),
    p75: Type.Number({ description: '75th percentile.' }),
  }),
);
const rank = Nullable(
  Type.Object({ rank: Type.Integer({ minimum: 1 }), of: Type.Integer({ minimum: 1 }) }),
);

export const BenchmarkRow = Type.Object({
  metric: Type.String(),
  value: Nullable(Type.Number()),
  items: Nullable(count()),
  p25: Nullable(Type.Number()),
  median: Nullable(Type.Number()),
  p75: Nullable(Type.Number()),
  rankOfLast: Nullable(count()),
  rankOfAuthor: Nullable(count()),
});

export const Benchmark = Type.Object({
  ...named,
  days: Type.Integer({
    minimum: 1,
    description: 'Number of days compared from the start of each item, at most 28.',
  }),
  lengthClass: Nullable(
    Type.Object(
      { from: seconds('Seconds, without.'), to: Nullable(seconds('Seconds, included.')) },
      { description: 'Null for items without a duration.' },
    ),
  ),
  similarItems: count(
    'The last 100 items of the same type and length class that are at least as old.',
  ),
  metrics: Type.Array(
    Type.Object({
      metric: Type.String(),
      value: Nullable(Type.Number({ minimum: 0 })),
      typical: band,
      rankOfLast: rank,
      rankOfAuthor: rank,
    }),
  ),
  watchedPoints: Type.Array(
    Type.Object({
      second: count('Seconds as in `dropoffPoints`.'),
      watched: Type.Number({
        minimum: 0,
        description: 'Number of times it was watched, divided by views.',
      }),
      typical: band,
    }),
  ),
});
