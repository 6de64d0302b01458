/** The series answer: totals, a curve, and the values of a key of `data`. */
import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { api } from '../../api.ts';
import { whole } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { JourneyAnswer, Others, valueName } from './journey-answer.tsx';
import type { CustomSeries, SeriesBody } from './journey-question.ts';
import { Cells, Curve, Figures, plain } from './report-parts.tsx';

export function SeriesAnswer({ body }: { body: SeriesBody }): ReactNode {
  return (
    <JourneyAnswer<SeriesBody, CustomSeries>
      path="/v1/analytics/custom"
      body={body}
      ask={(asked, signal) => api.post('/v1/analytics/custom', { body: asked, signal })}
      isEmpty={({ summary }) => summary.count === 0}
    >
      {(data) => <Answered data={data} body={body} />}
    </JourneyAnswer>
  );
}

function Answered({
  data: { summary, timeseries, breakdown, other },
  body: { property, breakdown: key = '' },
}: {
  data: CustomSeries;
  body: SeriesBody;
}): ReactNode {
  const dates = timeseries.map(({ date }) => date);
  return (
    <Stack>
      <Totals summary={summary} property={property} />
      <Curve
        title={t('Events and viewers')}
        dates={dates}
        format={whole}
        series={[
          { label: t('Events'), values: timeseries.map((one) => one.count) },
          { label: t('Viewers'), values: timeseries.map((one) => one.viewers) },
        ]}
      />
      {property !== undefined && (
        <Curve
          title={t('Sum of {key}', { key: property })}
          dates={dates}
          format={plain}
          series={[{ label: property, values: timeseries.map(({ sum }) => sum) }]}
        />
      )}
      {breakdown !== null && (
        <>
          <Cells
            title={t('By {dimension}', { dimension: key })}
            minWidth={560}
            head={[
              t('Value'),
              t('Events'),
              t('Viewers'),
              ...(property === undefined
                ? []
                : [t('Sum of {key}', { key: property }), t('Average')]),
            ]}
            rows={breakdown.map(({ value, count, viewers, sum, average }) => ({
              key: JSON.stringify(value),
              cells: [
                valueName(value),
                whole(count),
                whole(viewers),
                ...(property === undefined ? [] : [plain(sum), plain(average)]),
              ],
            }))}
          />
          <Others count={other.values} />
        </>
      )}
    </Stack>
  );
}

function Totals({
  summary,
  property,
}: {
  summary: CustomSeries['summary'];
  property: string | undefined;
}): ReactNode {
  return (
    <Figures
      of={[
        [t('Events'), whole(summary.count)],
        [t('Viewers'), whole(summary.viewers)],
        [t('Events per viewer'), plain(summary.perViewer)],
        ...(property === undefined
          ? []
          : ([
              [t('Sum of {key}', { key: property }), plain(summary.sum)],
              [t('Average'), plain(summary.average)],
              [t('Median'), plain(summary.p50)],
              ['p95', plain(summary.p95)],
            ] as const)),
      ]}
    />
  );
}
