/** An item's performance compared with similar ones at the same age. */
import { Stack, Table, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useRead, type Answer } from '../../data.ts';
import { percent, seconds, whole, words } from '../../format.ts';
import { Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

type Row = Answer<'get', '/v1/analytics/content/{id}/benchmark'>['data']['metrics'][number];

export function Benchmark({ id }: { id: string }): ReactNode {
  const benchmark = useRead('/v1/analytics/content/{id}/benchmark', { path: { id } });
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">
        {t('Compared with similar items')}
      </Title>
      <Show of={benchmark}>
        {({ data: { days, similarItems, metrics } }) => (
          <>
            <Text size="sm">
              {t('Its first {value} compared with those of {similarItems} similar items.', {
                value: days === 1 ? 'day' : `${days} days`,
                similarItems,
              })}
            </Text>
            <Metrics rows={metrics} />
          </>
        )}
      </Show>
    </Stack>
  );
}

function Metrics({ rows }: { rows: readonly Row[] }): ReactNode {
  return (
    <Table.ScrollContainer minWidth={560}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Metric')}</Table.Th>
            <Table.Th>{t('This item')}</Table.Th>
            <Table.Th>{t('Middle half of similar items')}</Table.Th>
            <Table.Th>{t('Rank among all')}</Table.Th>
            <Table.Th>{t('Rank for the author')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={row.metric}>
              <Table.Td>{words(row.metric)}</Table.Td>
              <Table.Td>{written(row.metric, row.value)}</Table.Td>
              <Table.Td>{band(row)}</Table.Td>
              <Table.Td>{place(row.rankOfLast)}</Table.Td>
              <Table.Td>{place(row.rankOfAuthor)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

const counts = new Set(['plays', 'likes', 'shares', 'saves']);
const times = new Set(['totalWatchTime', 'averageWatchTime']);

function written(metric: string, value: number | null): string {
  if (value === null) return '–';
  if (counts.has(metric)) return whole(value);
  return times.has(metric) ? seconds(value) : percent(value);
}

const band = ({ metric, typical }: Row): string =>
  typical === null
    ? 'too few items'
    : `${written(metric, typical.p25)} to ${written(metric, typical.p75)}`;

const place = (rank: Row['rankOfLast']): string =>
  rank === null ? '–' : `${rank.rank} of ${rank.of}`;
