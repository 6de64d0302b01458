/**
 * Building blocks of report schemas. Times are in seconds; rates are from 0 to 1, or null if the
 * denominator is zero.
 */
import { Type, type TObject, type TProperties, type TSchema } from 'typebox';
import { Nullable } from '../../../platform/http/schemas.ts';
import { byCountMetric } from '../projections/engagement/counted-kinds.ts';

const meta = {
  requestId: Type.Optional(Type.String()),
  asOf: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'All events acknowledged before this time are included.',
    }),
  ),
};

/** `{ data, meta: { requestId, asOf } }` */
export function Report<T extends TSchema>(data: T) {
  return Type.Object({ data, meta: Type.Object(meta) }, { description: 'The result.' });
}

export function ReportList<T extends TSchema, More extends TProperties>(item: T, more: More) {
  return Type.Object(
    {
      data: Type.Array(item),
      meta: Type.Object({
        ...meta,
        ...more,
        total: Type.Integer({ description: 'Total number of items in the list.' }),
        nextCursor: Nullable(Type.String()),
      }),
    },
    { description: 'A page of the list.' },
  );
}

/** Appears in the description of every report. */
export const asCsv = 'With `Accept: text/csv`, the response is';

export const count = (description?: string) =>
  Type.Integer({ minimum: 0, ...(description !== undefined && { description }) });
export const seconds = (description: string) => Type.Number({ minimum: 0, description });
export const rate = (description: string) =>
  Nullable(Type.Number({ minimum: 0, maximum: 1, description }));
export const average = (description: string) => Nullable(seconds(description));

/** The totals of a set of views, without viewers. */
export const counted = {
  impressions: count(),
  plays: count(),
  completions: count(),
  totalWatchTime: seconds('Seconds.'),
  averageWatchTime: average('Seconds per play.'),
  completionRate: rate('Completed plays divided by plays.'),
  engagementRate: rate('Viewers who liked, shared or saved, divided by unique viewers.'),
  reactionsPerImpression: Nullable(
    Type.Number({ minimum: 0, description: '(likes + shares + saves) / impressions.' }),
  ),
  ...byCountMetric(() => count()),
  views: count('Views in which playback started.'),
  engagedViews: count('Views of at least 10 s, or completed.'),
  hookRate: rate('Views that lasted at least 3 s, divided by views.'),
  swipeAwayRate: rate('Views swiped away before 3 s, divided by views.'),
  loopRate: rate('Views replayed at least once, divided by views.'),
  replays: count('Number of replays.'),
  averagePercentWatched: Nullable(
    Type.Number({
      minimum: 0,
      description:
        'Mean of watch time divided by duration, over the views that reported a duration. Loops can make it exceed 1.',
    }),
  ),
  uniqueViewers: count('Distinct viewers with at least one play.'),
  reactingViewers: count('Distinct viewers who liked, shared or saved.'),
};
export const date = Type.String({
  description: 'The day, the Monday of the week, or the start of the hour.',
  examples: ['2026-01-31'],
});

export const label = (description: string) => Nullable(Type.String({ description }));

/** The schema of a breakdown, which is present if requested. */
export function BreakdownOf<Metrics extends TObject>(metrics: Metrics) {
  return Type.Optional(
    Type.Object(
      {
        dimensions: Type.Array(Type.String()),
        rows: Type.Array(
          Type.Object({
            values: Type.Record(Type.String(), label('Null if unknown.'), {
              description: 'Values by dimension.',
            }),
            metrics,
          }),
        ),
        other: Nullable(metrics),
        total: metrics,
      },
      { description: 'The largest groups, the remainder, and the total.' },
    ),
  );
}
