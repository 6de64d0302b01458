/** What viewers did: totals against the period before, their course, and events as they come in. */
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
import type { ReactNode } from 'react';
import { Bars, Lines } from '../charts.tsx';
import { useRead, type Answer } from '../data.ts';
import { percent, seconds, whole } from '../format.ts';
import { useParameters } from '../location.ts';
import { Page } from '../page.tsx';
import { Empty, Show } from '../states.tsx';
import { LiveTail } from './live-tail.tsx';
import { WebhookNotices } from './webhook-notices.tsx';

type Overview = Answer<'get', '/v1/analytics/overview'>['data'];
type Quality = Answer<'get', '/v1/analytics/quality'>['data'];
type Metric = keyof Overview['summary'];

const metrics: { name: Metric; label: string; format: (value: number) => string }[] = [
  { name: 'plays', label: 'Plays', format: whole },
  { name: 'uniqueViewers', label: 'Viewers', format: whole },
  { name: 'totalWatchTime', label: 'Watch time', format: seconds },
  { name: 'completionRate', label: 'Completion', format: percent },
  { name: 'sessions', label: 'Sessions', format: whole },
  { name: 'likes', label: 'Likes', format: whole },
];

const dayMs = 86_400_000;

/** The last days up to today where the organization is, or as many before those. */
function period(days: number, timeZone: string, isBefore = false) {
  const today = new Date().toLocaleDateString('sv', { timeZone });
  const end = Date.parse(today) - (isBefore ? days * dayMs : 0);
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  return {
    startDate: dayOf(end - (days - 1) * dayMs),
    endDate: dayOf(end),
    granularity: days === 1 ? ('hour' as const) : ('day' as const),
  };
}

export function OverviewPage(): ReactNode {
  const [{ days: chosen = '7' }, change] = useParameters();
  const days = ['1', '7', '30'].includes(chosen) ? Number(chosen) : 7;
  const every = 5_000;
  // The frame has read it before any view is shown.
  const timeZone = useRead('/v1/organization', {}).data?.data.timeZone ?? 'UTC';
  const query = period(days, timeZone);
  const overview = useRead('/v1/analytics/overview', { query }, { every });
  const quality = useRead('/v1/analytics/quality', { query }, { every });
  const before = useRead('/v1/analytics/quality', { query: period(days, timeZone, true) });
  return (
    <Page
      title="Overview"
      curl={{ path: '/v1/analytics/overview', query }}
      actions={
        <SegmentedControl
          aria-label="Period"
          value={String(days)}
          onChange={(value) => change({ days: value })}
          data={[
            { value: '1', label: 'Today' },
            { value: '7', label: '7 days' },
            { value: '30', label: '30 days' },
          ]}
        />
      }
    >
      <WebhookNotices />
      <Show of={overview}>{({ data }) => <Numbers overview={data} />}</Show>
      <Show of={quality}>
        {({ data }) => <QualityOf quality={data} before={before.data?.data ?? null} />}
      </Show>
      <LiveTail />
    </Page>
  );
}

function Numbers({ overview }: { overview: Overview }): ReactNode {
  const { summary, comparison, timeseries } = overview;
  if (summary.impressions + summary.plays === 0) {
    return (
      <Empty>
        Nobody has watched anything in this period.{' '}
        <Anchor href="../feed" underline="always">
          Open the feed
        </Anchor>
        , or run <code>npm run demo</code> to see simulated viewers.
      </Empty>
    );
  }
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, lg: 3 }}>
      {metrics.map(({ name, label, format }) => {
        const value = summary[name];
        return (
          <Paper key={name} withBorder p="md">
            <Text size="sm">{label}</Text>
            <Group align="baseline" gap="xs">
              <Text size="xl" fw={700}>
                {value === null ? '–' : format(value)}
              </Text>
              <Change change={comparison[name].change} />
            </Group>
            <Bars title={label} values={timeseries.map((point) => point[name])} />
          </Paper>
        );
      })}
    </SimpleGrid>
  );
}

function Change({ change }: { change: number | null }): ReactNode {
  if (change === null) return null;
  const sign = change > 0 ? '+' : '';
  return <Text size="sm">{`${sign}${percent(change, 0)} to the period before`}</Text>;
}

const milliseconds = (value: number) => `${whole(value)} ms`;

function QualityOf({ quality, before }: { quality: Quality; before: Quality | null }): ReactNode {
  const { summary, timeseries } = quality;
  const marks = timeseries.map(({ date }) => date.slice(5, 16).replace('T', ' '));
  const p95 = summary.startupTime.p95;
  const charts = [
    {
      title: 'Error rate',
      now: summary.errorRate === null ? '–' : percent(summary.errorRate, 2),
      earlier: before?.summary.errorRate,
      format: (value: number) => percent(value, 2),
      valueOf: (point: Quality['timeseries'][number]) => point.errorRate,
    },
    {
      title: 'Time to the first frame (p95)',
      now: p95 === null ? '–' : milliseconds(p95),
      earlier: before?.summary.startupTime.p95,
      format: milliseconds,
      valueOf: (point: Quality['timeseries'][number]) => point.startupTime.p95,
    },
  ];
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      {charts.map(({ title, now, earlier, format, valueOf }) => (
        <Paper key={title} withBorder p="md">
          <Stack gap={4}>
            <Title order={2} size="h5">
              {title}
            </Title>
            <Group align="baseline" gap="xs">
              <Text size="xl" fw={700}>
                {now}
              </Text>
              <Text size="sm">
                {earlier === null || earlier === undefined
                  ? 'nothing to compare with'
                  : `${format(earlier)} in the period before`}
              </Text>
            </Group>
            <Lines
              title={title}
              marks={marks}
              format={format}
              lines={[
                { label: 'this period', values: timeseries.map(valueOf) },
                ...(before === null
                  ? []
                  : [
                      {
                        label: 'the period before',
                        values: before.timeseries.map(valueOf),
                        isFaint: true,
                      },
                    ]),
              ]}
            />
          </Stack>
        </Paper>
      ))}
    </SimpleGrid>
  );
}
