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
  sessions: Nullable(count('Null with a filter by items.')),
};

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
  breakdown: BreakdownOf(Type.Object(overviewMetrics)),
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
  uniqueViewers: Nullable(
    count('Distinct viewers that have played. Null by hour without a filter.'),
  ),
  reactingViewers: Nullable(
    count('Distinct viewers who liked, shared or saved. Null by hour without a filter.'),
  ),
  swipesAway: count('Swipes from this item to the next.'),
};

/** List metrics cover whole ranges, for which unique viewers are always known. */
const listedMetrics = { ...counted, swipesAway: contentMetrics.swipesAway };

const named = { contentId: Type.String({ format: 'uuid' }), title: Type.String() };

export const ContentStatistics = Type.Object({
  ...named,
  metrics: Type.Object(listedMetrics),
  previous: Type.Object(listedMetrics, {
    description: 'The same in as many days right before the range.',
  }),
});

export const ContentBreakdown = BreakdownOf(Type.Object(listedMetrics));

/** As a CSV row. */
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
  devices: Type.Array(Type.Object({ device: label('Null is unknown.'), ...breakdown })),
  countries: Type.Array(Type.Object({ country: label('Null is unknown.'), ...breakdown })),
  engagement: Type.Object({
    averagePercentWatched: counted.averagePercentWatched,
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
    watchedPoints: Nullable(
      Type.Array(
        Type.Object({
          second: count('As of `dropoffPoints`.'),
          watched: Type.Number({
            minimum: 0,
            description:
              'How often this second was watched, by views: over 1 for what is watched again.',
          }),
        }),
        { description: 'Null with a filter.' },
      ),
    ),
  }),
  feedback: Type.Object(
    {
      notInterested: count('Viewers who do not want the item, its author or its tags.'),
      reports: count('Viewers who report the item.'),
      credibleReports: count('Of these, viewers who were active on two days or more.'),
    },
    {
      description:
        'What viewers have told until now, each by the last event, whatever the range and the filter. ' +
        'It changes nothing in the feeds of other viewers.',
    },
  ),
});

export const Movers = Type.Array(
  Type.Object({
    ...named,
    current: seconds('The metric in the range.'),
    previous: seconds('In as many days before.'),
    difference: Type.Number({ description: 'current − previous' }),
    change: Nullable(Type.Number({ description: 'Relative: 0.25 is a quarter more.' })),
  }),
);

const sourceMetrics = {
  views: counted.views,
  plays: count('Of views that came by it.'),
  totalWatchTime: seconds('Seconds.'),
  averageWatchTime: counted.averageWatchTime,
  hookRate: counted.hookRate,
  uniqueViewers: counted.uniqueViewers,
  followOnPlays: Nullable(
    count('Plays behind the first, in sessions that began by it. Null where views alone are told.'),
  ),
};

export const Sources = Type.Object({
  sources: Type.Array(
    Type.Object({
      entryPoint: label('`data.entryPoint` of impressions; null is unknown.'),
      impressions: count(),
      share: rate('Of all impressions.'),
      ...sourceMetrics,
    }),
  ),
  breakdown: BreakdownOf(Type.Object({ impressions: count(), ...sourceMetrics })),
  timeseries: Type.Array(
    Type.Object({
      date,
      impressions: Type.Record(Type.String(), count(), {
        description: "By entry point; the unknown ones are under ''.",
      }),
    }),
  ),
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
  breakdown: BreakdownOf(Type.Object({ ...sessionMetrics, ...counted })),
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

export const Viewers = Type.Object({
  uniqueViewers: count('Distinct viewers that have played, by the day on which a view began.'),
  reactingViewers: count('Distinct viewers who liked, shared or saved.'),
  likers: count('Distinct viewers who liked.'),
  likes: count(),
  unlikes: count('Likes that were taken back in the range, whenever they were given.'),
  netLikes: Type.Integer({ description: 'likes − unlikes' }),
  frequency: Type.Array(
    Type.Object({
      daysFrom: count('At least so many days of the range with a view.'),
      daysTo: Nullable(count('At most so many; null is any number.')),
      viewers: count('Distinct viewers.'),
      share: rate('Of the unique viewers.'),
    }),
  ),
});

export const Hours = Type.Array(
  Type.Object({
    weekday: Type.Integer({ minimum: 1, maximum: 7, description: '1 is Monday.' }),
    hour: Type.Integer({ minimum: 0, maximum: 23, description: "By the organization's clock." }),
    days: count('How many such weekdays of the range have begun.'),
    impressions: count(),
    plays: count(),
    views: count(),
    totalWatchTime: seconds('Seconds.'),
    likes: count(),
    sessions: Nullable(count('That began in this hour. Null with a filter by items.')),
  }),
  { description: '168 hours, Monday from 0:00 first.' },
);

const band = Nullable(
  Type.Object({
    items: count('Similar items that it rests on.'),
    p25: Type.Number({ description: 'A quarter of them have less.' }),
    median: Type.Number(),
    p75: Type.Number({ description: 'A quarter of them have more.' }),
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
  days: Type.Integer({ minimum: 1, description: 'The first days of each item, at most 28.' }),
  lengthClass: Nullable(
    Type.Object(
      { from: seconds('Seconds, without.'), to: Nullable(seconds('Seconds, included.')) },
      { description: 'Null for items without a duration.' },
    ),
  ),
  similarItems: count('Of the same type and length class, as old at least; the last 100.'),
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
      second: count('As of `dropoffPoints`.'),
      watched: Type.Number({ minimum: 0, description: 'How often it was watched, by views.' }),
      typical: band,
    }),
  ),
});
