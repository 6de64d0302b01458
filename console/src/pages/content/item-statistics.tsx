/** Statistics of an item: actions of viewers, and where they stopped watching. */
import { SimpleGrid, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Card } from '../../card.tsx';
import { ChartCard } from '../../charts/chart.tsx';
import { useRead, type Answer } from '../../data.ts';
import { clock, dayOrHour, percent, seconds, whole } from '../../format.ts';
import { Empty, Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';
import { Figures, show } from '../analytics/report-parts.tsx';
import { Benchmark } from './item-benchmark.tsx';

type Numbers = Answer<'get', '/v1/analytics/content/{id}'>['data'];

export function Statistics({ id }: { id: string }): ReactNode {
  const numbers = useRead(
    '/v1/analytics/content/{id}',
    { path: { id }, query: { granularity: 'day' } },
    { every: 10_000 },
  );
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        {t('Statistics')}
      </Title>
      <Show of={numbers}>
        {({ data }) =>
          data.summary.impressions + data.summary.plays === 0 ? (
            <Empty>{t('Nobody has seen it in the last 30 days.')}</Empty>
          ) : (
            <>
              <Content numbers={data} />
              <Benchmark id={id} />
            </>
          )
        }
      </Show>
    </Stack>
  );
}

function Content({
  numbers: { summary, timeseries, engagement, devices, countries },
}: {
  numbers: Numbers;
}): ReactNode {
  const facts = [
    [t('Plays'), whole(summary.plays)],
    [t('Viewers'), show(summary.uniqueViewers, whole)],
    [t('Watch time'), seconds(summary.totalWatchTime)],
    [t('Completion'), show(summary.completionRate, percent)],
    // Exceeds 100 % if viewers watch in loops.
    [t('Watched on average'), show(summary.averagePercentWatched, percent)],
    [
      t('Likes, shares, saves'),
      [summary.likes, summary.shares, summary.saves].map(whole).join(', '),
    ],
  ] as const;
  const points = engagement.dropoffPoints;
  return (
    <>
      <Figures of={facts} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <ChartCard
          title={t('Still watching, by second')}
          marks={points.map(({ second }) => clock(second))}
          format={(value) => percent(value, 0)}
          highest={1}
          series={[{ label: t('share of plays'), values: points.map(({ retained }) => retained) }]}
        />
        <ChartCard
          title={t('Plays by day')}
          kind="bars"
          marks={timeseries.map(({ date }) => dayOrHour(date))}
          format={whole}
          series={[{ label: t('Plays'), values: timeseries.map(({ plays }) => plays) }]}
        />
        <Shares title={t('Devices')} of={devices} />
        <Shares title={t('Countries')} of={countries} />
      </SimpleGrid>
    </>
  );
}

/** Plays by name, as bars. */
function Shares({
  title,
  of,
}: {
  title: string;
  of: readonly { plays: number; device?: string | null; country?: string | null }[];
}): ReactNode {
  const most = Math.max(...of.map(({ plays }) => plays), 1);
  if (of.length === 0) return null;
  return (
    <Card title={title}>
      <div role="list">
        {of.slice(0, 6).map(({ plays, device, country }) => {
          const name = device ?? country ?? t('unknown');
          return (
            <div key={name} role="listitem" className="bar-row">
              <i style={{ width: `${(100 * plays) / most}%` }} />
              <span>{name}</span>
              <b>{whole(plays)}</b>
            </div>
          );
        })}
      </div>
    </Card>
  );
}
