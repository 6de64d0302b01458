/** The shapes of answers about playback: how it starts, stalls and fails. */
import { Type } from 'typebox';
import { Nullable } from '../../../platform/http/schemas.ts';
import { BreakdownOf, count, counted, date, label, rate, seconds } from './metric-schemas.ts';

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
      rendition: label('As players name it; null is unknown.'),
      ...renditionPlays,
      progressReports: Nullable(count('watchProgress events; null with a filter.')),
      rebuffers: count(),
      rebufferTime: seconds('Seconds.'),
      switchesTo: Nullable(count('qualityChange events to it; null with a filter.')),
    }),
  ),
  codecs: Type.Array(Type.Object({ codec: label('Null is unknown.'), ...renditionPlays })),
  errors: Type.Array(
    Type.Object({
      code: label('`data.errorCode`.'),
      count: count('Errors; with a filter, views whose first error it was.'),
      previous: count('The same in as many days before.'),
      change: Nullable(Type.Number({ description: 'Relative: 0.25 is a quarter more.' })),
      messages: Type.Array(
        Type.Object({
          message: label('What is equal in such messages.'),
          views: count('Views whose first error had such a message.'),
        }),
        { description: 'The most frequent five.' },
      ),
    }),
  ),
  timeseries: Type.Array(Type.Object({ date, ...playback })),
  breakdown: BreakdownOf(QualityPart),
});
