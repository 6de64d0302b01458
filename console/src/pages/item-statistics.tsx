/** What viewers did with an item, and where they left it. */
import { Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Lines } from '../charts.tsx';
import { useRead, type Answer } from '../data.ts';
import { percent, seconds, whole } from '../format.ts';
import { Empty, Show } from '../states.tsx';

type Numbers = Answer<'get', '/v1/analytics/content/{id}'>['data'];

export function Statistics({ id, duration }: { id: string; duration: number | null }): ReactNode {
  const numbers = useRead(
    '/v1/analytics/content/{id}',
    { path: { id }, query: { granularity: 'day' } },
    { every: 10_000 },
  );
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        Statistics
      </Title>
      <Show of={numbers}>
        {({ data }) =>
          data.summary.impressions + data.summary.plays === 0 ? (
            <Empty>Nobody has seen it in the last 30 days.</Empty>
          ) : (
            <Content numbers={data} duration={duration} />
          )
        }
      </Show>
    </Stack>
  );
}

function Content({
  numbers: { summary, timeseries, engagement },
  duration,
}: {
  numbers: Numbers;
  duration: number | null;
}): ReactNode {
  const show = (value: number | null, format: (value: number) => string) =>
    value === null ? '–' : format(value);
  const facts = [
    ['Plays', whole(summary.plays)],
    ['Viewers', show(summary.uniqueViewers, whole)],
    ['Watch time', seconds(summary.totalWatchTime)],
    ['Completion', show(summary.completionRate, percent)],
    // Over 100 % where viewers watch in loops.
    ['Watched on average', show(summary.averagePercentWatched, percent)],
    ['Likes, shares, saves', [summary.likes, summary.shares, summary.saves].map(whole).join(', ')],
  ];
  const points = engagement.dropoffPoints;
  return (
    <>
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }}>
        {facts.map(([name, value]) => (
          <Paper key={name} withBorder p="sm">
            <Text size="sm">{name}</Text>
            <Text fw={700}>{value}</Text>
          </Paper>
        ))}
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Paper withBorder p="md">
          <Title order={3} size="h5">
            Still watching, by second
          </Title>
          {points.length === 0 ? (
            <Text size="sm">Nobody has played it yet.</Text>
          ) : (
            <Lines
              title="Still watching"
              marks={['0 s', `${points.at(-1)?.second ?? duration ?? 0} s`]}
              format={(value) => percent(value, 0)}
              highest={1}
              lines={[
                {
                  label: 'share of plays',
                  values: points.map(({ retained }) => (retained > 1 ? retained / 100 : retained)),
                },
              ]}
            />
          )}
        </Paper>
        <Paper withBorder p="md">
          <Title order={3} size="h5">
            Plays by day
          </Title>
          <Lines
            title="Plays by day"
            marks={timeseries.map(({ date }) => date.slice(0, 10))}
            format={whole}
            lines={[{ label: 'plays', values: timeseries.map(({ plays }) => plays) }]}
          />
        </Paper>
      </SimpleGrid>
    </>
  );
}
