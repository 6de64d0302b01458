/** What viewers did: totals against the period before, and their course. */
import {
  Anchor,
  Group,
  Paper,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Text,
  Title,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { get, withQuery } from '../api.ts';
import { setQuery, useLocation } from '../location.ts';
import { CopyCurl, Empty, Failed, Loading } from '../states.tsx';

type Numbers = Record<string, number | null>;
type Overview = {
  summary: Numbers;
  timeseries: (Numbers & { date: string })[];
  comparison: Record<string, { change: number | null; direction: 'up' | 'down' | 'flat' }>;
};

const metrics = [
  { name: 'plays', label: 'Plays', format: whole },
  { name: 'uniqueViewers', label: 'Viewers', format: whole },
  { name: 'totalWatchTime', label: 'Watch time', format: hours },
  { name: 'completionRate', label: 'Completion', format: percent },
  { name: 'sessions', label: 'Sessions', format: whole },
  { name: 'likes', label: 'Likes', format: whole },
];

function whole(value: number): string {
  return value.toLocaleString('en');
}

function hours(seconds: number): string {
  return seconds < 3_600
    ? `${(seconds / 60).toFixed(1)} min`
    : `${whole(Math.round(seconds / 360) / 10)} h`;
}

function percent(value: number): string {
  return `${(value * 100).toFixed(1)} %`;
}

const dayMs = 86_400_000;
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

export function OverviewPage(): ReactNode {
  const { query } = useLocation();
  const days = query.get('days') ?? '7';
  const path = withQuery('v1/analytics/overview', {
    startDate: dayOf(Date.now() - (Number(days) - 1) * dayMs),
    endDate: dayOf(Date.now()),
    granularity: days === '1' ? 'hour' : 'day',
  });
  const overview = useQuery({
    queryKey: [path],
    queryFn: () => get<{ data: Overview }>(path),
    refetchInterval: 5_000,
  });
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1} size="h2">
          Overview
        </Title>
        <SegmentedControl
          aria-label="Period"
          value={days}
          onChange={(value) => setQuery('/overview', { days: value })}
          data={[
            { value: '1', label: 'Today' },
            { value: '7', label: '7 days' },
            { value: '30', label: '30 days' },
          ]}
        />
      </Group>
      {overview.isPending && <Loading />}
      {overview.isError && <Failed error={overview.error} retry={() => void overview.refetch()} />}
      {overview.data !== undefined && <Numbers overview={overview.data.data} />}
      <CopyCurl method="GET" path={path} />
    </Stack>
  );
}

function Numbers({ overview }: { overview: Overview }): ReactNode {
  const { summary, comparison, timeseries } = overview;
  if ((summary['impressions'] ?? 0) + (summary['plays'] ?? 0) === 0) {
    return (
      <Empty>
        Nobody has watched anything in this period. <Anchor href="../feed">Open the feed</Anchor>,
        or run <code>npm run demo</code> to see simulated viewers.
      </Empty>
    );
  }
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
      {metrics.map(({ name, label, format }) => (
        <Paper key={name} withBorder p="md">
          <Text size="sm">{label}</Text>
          <Group align="baseline" gap="xs">
            <Text size="xl" fw={700}>
              {summary[name] === null || summary[name] === undefined ? '–' : format(summary[name])}
            </Text>
            <Change change={comparison[name]?.change ?? null} />
          </Group>
          <Course label={label} values={timeseries.map((point) => point[name] ?? 0)} />
        </Paper>
      ))}
    </SimpleGrid>
  );
}

function Change({ change }: { change: number | null }): ReactNode {
  if (change === null) return null;
  const sign = change > 0 ? '+' : '';
  return <Text size="sm">{`${sign}${(change * 100).toFixed(0)} % to the period before`}</Text>;
}

/** The course of a metric as bars. */
function Course({ label, values }: { label: string; values: number[] }): ReactNode {
  const top = Math.max(...values, 1e-9);
  const width = 300 / Math.max(values.length, 1);
  return (
    <svg viewBox="0 0 300 60" width="100%" height="60" role="img" aria-label={`${label} over time`}>
      {values.map((value, index) => (
        <rect
          // oxlint-disable-next-line react/no-array-index-key -- bars have no other identity
          key={index}
          x={index * width + 1}
          y={60 - (58 * value) / top}
          width={Math.max(1, width - 2)}
          height={(58 * value) / top}
          fill="var(--mantine-primary-color-filled)"
        />
      ))}
    </svg>
  );
}
