/** Audience and retention. */
import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useRead } from '../../data.ts';
import { ChartCard } from '../../charts/chart.tsx';
import { percent, whole } from '../../format.ts';
import { Show } from '../../states.tsx';
import type { ReportQuery } from './report-filters.tsx';
import { Cells, Curve, Figures, share } from './report-parts.tsx';
import { t } from '../../texts/texts.ts';

type Parts = { query: ReportQuery };

export function AudienceReport({ query }: Parts): ReactNode {
  const report = useRead('/v1/analytics/audience', { query });
  return (
    <Show of={report}>
      {({ data }) => (
        <Stack>
          <Figures
            of={[
              [`Viewers of ${data.date}`, whole(data.dailyActiveViewers)],
              [t('In 7 days'), whole(data.weeklyActiveViewers)],
              [t('In 30 days'), whole(data.monthlyActiveViewers)],
              [t('Stickiness'), share(data.stickiness)],
              [t('New viewers'), whole(data.newViewers)],
            ]}
          />
          <Curve
            title={t('New and returning viewers')}
            dates={data.timeseries.map(({ date }) => date)}
            format={whole}
            series={[
              { label: 'returning', values: data.timeseries.map((day) => day.returningViewers) },
              {
                label: 'new',
                values: data.timeseries.map((day) => day.newViewers),
              },
            ]}
          />
          <Cells
            head={['Day', 'New viewers', 'Returning viewers']}
            rows={data.timeseries.toReversed().map((day) => ({
              key: day.date,
              cells: [day.date, whole(day.newViewers), whole(day.returningViewers)],
            }))}
          />
        </Stack>
      )}
    </Show>
  );
}

/** The days that have a column. */
const shownDays = [0, 1, 2, 3, 7, 14, 30];

export function RetentionReport({ query }: Parts): ReactNode {
  const report = useRead('/v1/analytics/retention', { query });
  return (
    <Show of={report}>
      {({ data: { cohorts } }) => {
        const longest = Math.max(0, ...cohorts.map(({ retention }) => retention.length));
        const days = shownDays.filter((day) => day < longest);
        return (
          <Stack>
            <ChartCard
              title={t('Returned after this many days, all cohorts')}
              marks={Array.from({ length: longest }, (_, day) => `day ${day}`)}
              format={(value) => percent(value, 0)}
              highest={1}
              series={[{ label: t('share of viewers'), values: averageOf(cohorts, longest) }]}
            />
            <Cells
              head={['First day', 'Viewers', ...days.map((day) => `Day ${day}`)]}
              rows={cohorts
                .filter(({ size }) => size > 0)
                .toReversed()
                .map(({ date, size, retention }) => ({
                  key: date,
                  cells: [
                    date.slice(0, 10),
                    whole(size),
                    ...days.map((day) => share(retention[day] ?? null)),
                  ],
                }))}
            />
            <Text size="sm">{t('A dash means that the day is not over yet.')}</Text>
          </Stack>
        );
      }}
    </Show>
  );
}

/** Average over cohorts that have reached the day, weighted by cohort size. */
function averageOf(
  cohorts: readonly { size: number; retention: readonly number[] }[],
  length: number,
): (number | null)[] {
  return Array.from({ length }, (_, day) => {
    const known = cohorts.filter(({ retention }) => retention.length > day);
    const viewers = known.reduce((sum, { size }) => sum + size, 0);
    const back = known.reduce((sum, { size, retention }) => sum + size * (retention[day] ?? 0), 0);
    return viewers === 0 ? null : back / viewers;
  });
}
