/** Parts of reports: figures, a curve, a table. */
import { Paper, SimpleGrid, Table, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { ChartCard, type Series } from '../../charts/chart.tsx';
import { dayOrHour, percent, seconds, whole } from '../../format.ts';
import { t } from '../../texts/texts.ts';

/** A formatted number, or a dash if it is null. */
export const show = (value: number | null, format: (value: number) => string): string =>
  value === null ? '–' : format(value);
export const share = (value: number | null): string => show(value, percent);
export const count = (value: number | null): string => show(value, whole);
export const time = (value: number | null): string => show(value, seconds);
export const plain = (value: number | null): string => show(value, (some) => some.toFixed(2));
export const milliseconds = (value: number | null): string =>
  show(value, (some) => `${whole(some)} ms`);

export function Figures({ of }: { of: readonly (readonly [string, string])[] }): ReactNode {
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }}>
      {of.map(([name, value]) => (
        <Paper key={name} withBorder p="sm">
          <Text size="sm">{name}</Text>
          <Text fw={700}>{value}</Text>
        </Paper>
      ))}
    </SimpleGrid>
  );
}

export function Curve({
  dates,
  ...parts
}: {
  title: string;
  dates: readonly string[];
  series: readonly Series[];
  format: (value: number) => string;
  highest?: number;
  onPick?: (index: number) => void;
}): ReactNode {
  return <ChartCard {...parts} marks={dates.map(dayOrHour)} />;
}

/** A table whose first cell names the row. */
export function Cells({
  title,
  head,
  rows,
  minWidth = 480,
}: {
  title?: string;
  head: readonly ReactNode[];
  rows: readonly { key: string; cells: readonly ReactNode[] }[];
  minWidth?: number;
}): ReactNode {
  return (
    <div>
      {title !== undefined && (
        <Title order={2} size="h5" mb="xs">
          {title}
        </Title>
      )}
      {rows.length === 0 ? (
        <Text size="sm">{t('Nothing in this range.')}</Text>
      ) : (
        <Table.ScrollContainer minWidth={minWidth}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                {head.map((cell, place) => (
                  <Table.Th key={String(place)}>{cell}</Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map(({ key, cells }) => (
                <Table.Tr key={key}>
                  {cells.map((cell, place) => (
                    <Table.Td key={String(place)} style={{ overflowWrap: 'anywhere' }}>
                      {cell}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </div>
  );
}
