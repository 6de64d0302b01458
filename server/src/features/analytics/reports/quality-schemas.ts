/** The shapes of answers about playback: how it starts, stalls and fails. */
import { Type } from 'typebox';
import { Nullable } from '../../../platform/http/schemas.ts';
import { BreakdownOf, count, counted, date, label, rate, seconds } from './metric-schemas.ts';

const milliseconds = (description: string) =>
  Nullable(Type.Number({ minimum: 0, description: `${description} Milliseconds.` }));

const playback = {
  startupTime: Type.Object({
    average: milliseconds('Mean. With a filter, the mean over the first start of each view.'),
    p50: milliseconds('Median. All percentiles are accurate to within 2 %.'),
    p75: milliseconds('75th percentile.'),
    p95: milliseconds('95th percentile.'),
    p99: milliseconds('99th percentile.'),
  }),
  rebufferRatio: Nullable(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Stall time divided by the sum of watch time and stall time.',
    }),
  ),
  rebuffersPerHour: Nullable(
    Type.Number({ minimum: 0, description: 'Stalls per hour of watch time.' }),
  ),
  errorRate: rate('Views with an error, divided by attempted views.'),
  failuresBeforeStart: rate('Views that failed before playback, divided by attempted views.'),
  exitsBeforeStart: rate(
    'Views abandoned before playback without an error, after at least one second.',
  ),
};

const renditionPlays = {
  plays: count(),
  averageStartupTime: milliseconds('Startup time of these plays.'),
};

const QualityPart = Type.Object({
  views: counted.views,
  attemptedViews: count('Views with a play or an error.'),
  erroredViews: count('Views with an error.'),
  ...playback,
});

export const Quality = Type.Object({
  summary: Type.Object(playback),
  renditions: Type.Array(
    Type.Object({
      rendition: label('The name reported by the player; null if unknown.'),
      ...renditionPlays,
      progressReports: Nullable(count('Number of watchProgress events; null with a filter.')),
      rebuffers: count(),
      rebufferTime: seconds('Seconds.'),
      switchesTo: Nullable(
        count('Number of qualityChange events to this rendition; null with a filter.'),
      ),
    }),
  ),
  codecs: Type.Array(Type.Object({ codec: label('Null if unknown.'), ...renditionPlays })),
  errors: Type.Array(
    Type.Object({
      code: label('`data.errorCode`.'),
      count: count('Number of errors or, with a filter, of views whose first error this was.'),
      previous: count('The same count in the preceding period of equal length.'),
      change: Nullable(
        Type.Number({ description: 'Relative change: 0.25 is an increase of 25 %.' }),
      ),
      messages: Type.Array(
        Type.Object({
          message: label('The common part of these messages.'),
          views: count('Views whose first error had a message of this form.'),
        }),
        { description: 'The five most frequent messages.' },
      ),
    }),
  ),
  timeseries: Type.Array(Type.Object({ date, ...playback })),
  breakdown: BreakdownOf(QualityPart),
});
