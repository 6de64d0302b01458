/**
 * Chart of how far viewers watch an item, beside its player, with the middle half of similar items.
 */
import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { ChartCard } from '../../charts/chart.tsx';
import { useRead } from '../../data.ts';
import { clock, percent } from '../../format.ts';
import { Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

export function Retention({ id }: { id: string }): ReactNode {
  const benchmark = useRead('/v1/analytics/content/{id}/benchmark', { path: { id } });
  return (
    <Show of={benchmark}>
      {({ data: { watchedPoints, similarItems } }) => {
        const typical = watchedPoints.map((point) => point.typical);
        const hasRange = typical.some((one) => one !== null);
        if (watchedPoints.length === 0) {
          return <Text size="sm">{t('Nobody has played it yet.')}</Text>;
        }
        return (
          <ChartCard
            title={t('Watched, by second')}
            about={
              hasRange
                ? t(
                    'Over 100 % where viewers watch again. The band is the middle half of {count} similar item.|Over 100 % where viewers watch again. The band is the middle half of {count} similar items.',
                    { count: similarItems },
                  )
                : t(
                    'Over 100 % where viewers watch again. There are too few similar items to compare with.',
                  )
            }
            marks={watchedPoints.map(({ second }) => clock(second))}
            format={(value) => percent(value, 0)}
            series={[
              { label: t('this item'), values: watchedPoints.map(({ watched }) => watched) },
              ...(hasRange
                ? [
                    {
                      label: t('median of similar items'),
                      values: typical.map((one) => one?.median ?? null),
                      isBefore: true,
                    },
                  ]
                : []),
            ]}
            {...(hasRange && {
              range: {
                label: t('middle half'),
                values: typical.map((one) => (one === null ? null : ([one.p25, one.p75] as const))),
              },
            })}
            height={260}
          />
        );
      }}
    </Show>
  );
}
