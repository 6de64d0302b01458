/** Charts over time or by second. The chart library is loaded with the first chart. */
import { Box, Button, Group, Paper, Skeleton, Table, Text, Title } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { makePart, ShowPart } from '../part.tsx';
import { t } from '../texts/texts.ts';
import type { DrawnChart, Format } from './drawn-chart.tsx';
import { TableSwitch } from './table-switch.tsx';

export type { Format };
export type Series = {
  label: string;
  values: readonly (number | null)[];
  /** A comparison series, drawn dashed and behind the others. */
  isBefore?: boolean;
};
/** A range at each mark, such as the middle half of similar items. */
export type Range = {
  label: string;
  values: readonly (readonly [number, number] | null)[];
};

export type ChartParts = {
  title: string;
  /** Labels below the chart for each value, such as days. */
  marks: readonly string[];
  series: readonly Series[];
  format: Format;
  kind?: 'area' | 'line' | 'bars';
  range?: Range;
  /** Fixed upper end of the axis. Default: derived from the values. */
  highest?: number;
  height?: number;
  /** Opens details of the value at this index. */
  onPick?: (index: number) => void;
};

const drawn = makePart<Parameters<typeof DrawnChart>[0]>(
  async () => (await import('./drawn-chart.tsx')).DrawnChart,
);

const defaultHeight = 220;

/** A chart with its values as a table, for screen readers and for those who want the numbers. */
export function Chart({ height = defaultHeight, ...parts }: ChartParts): ReactNode {
  const { title, marks, series, format, onPick } = parts;
  const [isTable, setTable] = useState(false);
  const isEmpty = series.every(({ values }) => values.every((value) => value === null));
  if (isEmpty) {
    return (
      <Box
        h={height}
        role="img"
        aria-label={`${title}: ${t('nothing yet')}`}
        className="chart-empty"
      >
        <Text size="sm">{t('Nothing to draw yet')}</Text>
      </Box>
    );
  }
  return (
    <div role="group" aria-label={title}>
      {isTable ? (
        <Values marks={marks} series={series} format={format} onPick={onPick} height={height} />
      ) : (
        <div style={{ height }}>
          <ShowPart
            part={drawn}
            props={{ ...parts, height, summary: summaryOf(parts) }}
            fallback={<Skeleton height={height} aria-busy="true" aria-label={t('Loading')} />}
          />
        </div>
      )}
      <Group justify="flex-end">
        <TableSwitch title={title} isTable={isTable} onChange={setTable} />
      </Group>
    </div>
  );
}

/** A textual summary: the maximum and the last value. */
function summaryOf({ title, series, format }: ChartParts): string {
  const all = series.flatMap(({ values }) => values.filter((value) => value !== null));
  const last = series[0]?.values.findLast((value) => value !== null) ?? null;
  return t('{title}: highest {highest}, last {last}', {
    title,
    highest: format(Math.max(...all, 0)),
    last: last === null ? t('unknown') : format(last),
  });
}

function Values({
  marks,
  series,
  format,
  onPick,
  height,
}: Pick<ChartParts, 'marks' | 'series' | 'format'> & {
  onPick: ChartParts['onPick'];
  height: number;
}): ReactNode {
  return (
    <Box
      mah={Math.max(height, 220)}
      style={{ overflowY: 'auto' }}
      tabIndex={0}
      role="region"
      aria-label={t('Values')}
    >
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('At')}</Table.Th>
            {series.map(({ label }) => (
              <Table.Th key={label}>{label}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {marks.map((mark, index) => (
            <Table.Tr key={`${mark} ${String(index)}`}>
              <Table.Td>
                {onPick === undefined ? (
                  mark
                ) : (
                  <Button size="compact-xs" mih={24} variant="subtle" onClick={() => onPick(index)}>
                    {mark}
                  </Button>
                )}
              </Table.Td>
              {series.map(({ label, values }) => {
                const value = values[index] ?? null;
                return <Table.Td key={label}>{value === null ? '–' : format(value)}</Table.Td>;
              })}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Box>
  );
}

/** A chart in a card with a heading and accompanying content. */
export function ChartCard({
  about,
  actions,
  ...parts
}: ChartParts & { about?: ReactNode; actions?: ReactNode }): ReactNode {
  return (
    <Paper withBorder p="md" miw={0}>
      <Group justify="space-between" mb="xs" gap="xs">
        <div>
          <Title order={2} size="h5">
            {parts.title}
          </Title>
          {about !== undefined && <Text size="sm">{about}</Text>}
        </div>
        {actions}
      </Group>
      <Chart {...parts} />
    </Paper>
  );
}
