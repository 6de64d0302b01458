/** The shapes of analytics answers. */
import { Type, type TSchema } from 'typebox';
import { Nullable, OneOf } from '../../../platform/http/schemas.ts';
import { average, count, counted, date, label, rate, seconds } from './metric-schemas.ts';

const uniqueViewers = count('Distinct viewers that have played.');

const overviewMetrics = {
  ...counted,
  uniqueViewers,
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
  swipesAway: count('Swipes from this item to the next.'),
};

const named = { contentId: Type.String({ format: 'uuid' }), title: Type.String() };

export const ContentStatistics = Type.Object({ ...named, metrics: Type.Object(contentMetrics) });

/** The same as a row of CSV. */
export const ContentStatisticsRow = Type.Object({ ...named, ...contentMetrics });

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
    average: milliseconds('Mean. With a filter, of the first start of each view.'),
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

/** A list that is known for the organization as a whole alone. */
function ofOrganization<Item extends TSchema>(item: Item) {
  return Nullable(Type.Array(item, { description: 'Null with a filter.' }));
}

export const Quality = Type.Object({
  summary: Type.Object(playback),
  renditions: ofOrganization(
    Type.Object({
      rendition: label('As players name it; null is unknown.'),
      ...renditionPlays,
      progressReports: count('watchProgress events.'),
      rebuffers: count(),
      rebufferTime: seconds('Seconds.'),
      switchesTo: count('qualityChange events to it.'),
    }),
  ),
  codecs: ofOrganization(Type.Object({ codec: label('Null is unknown.'), ...renditionPlays })),
  errors: ofOrganization(Type.Object({ code: label('`data.errorCode`.'), count: count() })),
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
