/** The latest deliveries of a webhook: success rate and latency. */
import { SimpleGrid } from '@mantine/core';
import type { ReactNode } from 'react';
import { ChartCard } from '../../charts/chart.tsx';
import { useRead, type Schemas } from '../../data.ts';
import { moment, percent, whole } from '../../format.ts';
import { t } from '../../texts/texts.ts';

type Delivery = Schemas['Delivery'];

const maxDeliveries = 100;
/** Deliveries per point of the success curve. */
const perPoint = 5;

export function WebhookCharts({ id }: { id: string }): ReactNode {
  const latest = useRead(
    '/v1/webhooks/{id}/deliveries',
    { path: { id }, query: { limit: maxDeliveries } },
    { every: 10_000 },
  );
  const ended = (latest.data?.data ?? []).filter(({ status }) => status !== 'pending').toReversed();
  if (ended.length < 2) return null;
  const groups = Array.from({ length: Math.ceil(ended.length / perPoint) }, (_, index) =>
    ended.slice(index * perPoint, (index + 1) * perPoint),
  );
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <ChartCard
        title={t('Successful deliveries')}
        about={t('Of the latest {count}, {perPoint} at a time', { count: ended.length, perPoint })}
        marks={groups.map((some) => moment(some.at(-1)?.createdAt))}
        highest={1}
        format={(value) => percent(value, 0)}
        series={[{ label: 'successful', values: groups.map(successOf) }]}
        height={180}
      />
      <ChartCard
        title={t('Response time')}
        about={medianOf(ended)}
        marks={ended.map(({ createdAt }) => moment(createdAt))}
        format={(value) => `${whole(value)} ms`}
        series={[
          { label: 'response', values: ended.map(({ responseTime }) => responseTime ?? null) },
        ]}
        height={180}
      />
    </SimpleGrid>
  );
}

const successOf = (some: readonly Delivery[]): number =>
  some.filter(({ status }) => status === 'success').length / some.length;

function medianOf(ended: readonly Delivery[]): string {
  const times = ended
    .flatMap(({ responseTime }) => responseTime ?? [])
    .sort((one, other) => one - other);
  const middle = times[Math.floor(times.length / 2)];
  return middle === undefined ? 'No receiver has answered' : `Median ${whole(middle)} ms`;
}
