/** Playback quality in two charts, each linking to the report. */
import { Anchor, SimpleGrid } from '@mantine/core';
import type { ReactNode } from 'react';
import { ChartCard } from '../../charts/chart.tsx';
import { useRead, type Answer } from '../../data.ts';
import { dayOrHour, percent, whole } from '../../format.ts';
import { Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';
import { periodBefore } from './periods.ts';
import { addressOfFilters, type ReportQuery } from './report-filters.tsx';

type Quality = Answer<'get', '/v1/analytics/quality'>['data'];
type Point = Quality['timeseries'][number];

const charts: readonly {
  title: string;
  format: (value: number) => string;
  total: (of: Quality['summary']) => number | null;
  valueOf: (point: Point) => number | null;
}[] = [
  {
    title: t('Error rate'),
    format: (value) => percent(value, 2),
    total: ({ errorRate }) => errorRate,
    valueOf: ({ errorRate }) => errorRate,
  },
  {
    title: t('Time to the first frame (p95)'),
    format: (value) => `${whole(value)} ms`,
    total: ({ startupTime }) => startupTime.p95,
    valueOf: ({ startupTime }) => startupTime.p95,
  },
];

export function QualityCards({
  query,
  isCompared,
}: {
  query: ReportQuery;
  isCompared: boolean;
}): ReactNode {
  const quality = useRead('/v1/analytics/quality', { query }, { every: 10_000 });
  const before = useRead(
    '/v1/analytics/quality',
    { query: periodBefore(query) },
    { enabled: isCompared },
  );
  const earlier = isCompared ? before.data?.data : undefined;
  return (
    <Show of={quality}>
      {({ data: { summary, timeseries } }) => (
        <SimpleGrid cols={{ base: 1, lg: 2 }}>
          {charts.map(({ title, format, total, valueOf }) => {
            const [now, then] = [
              total(summary),
              earlier === undefined ? null : total(earlier.summary),
            ];
            const words = [
              now === null ? t('nothing yet') : format(now),
              ...(then === null
                ? []
                : [t('{value} in the previous period', { value: format(then) })]),
            ];
            return (
              <ChartCard
                key={title}
                title={title}
                about={words.join(', ')}
                actions={
                  <Anchor size="sm" href={`#/reports?report=quality&${addressOfFilters(query)}`}>
                    {t('Report')}
                  </Anchor>
                }
                marks={timeseries.map(({ date }) => dayOrHour(date))}
                format={format}
                series={[
                  { label: t('this period'), values: timeseries.map(valueOf) },
                  ...(earlier === undefined
                    ? []
                    : [
                        {
                          label: t('the previous period'),
                          values: timeseries.map((_, index) => {
                            const point = earlier.timeseries[index];
                            return point === undefined ? null : valueOf(point);
                          }),
                          isBefore: true,
                        },
                      ]),
                ]}
                height={180}
              />
            );
          })}
        </SimpleGrid>
      )}
    </Show>
  );
}
