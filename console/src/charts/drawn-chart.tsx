/** The Recharts implementation. This file and the library are loaded when a chart is shown. */
import { Paper, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import {
  Area,
  Bar,
  CartesianGrid,
  ComposedChart,
  Legend,
  Line,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';
import type { ChartParts } from './chart.tsx';
import './charts.css';

export type Format = (value: number) => string;

type Row = Record<string, string | number | null | readonly [number, number]>;

const rangeKey = 'range';
const keyOf = (index: number): string => `series${index}`;

/** The rows for Recharts: the mark, a value per series, and the range. */
function rowsOf({ marks, series, range }: Pick<ChartParts, 'marks' | 'series' | 'range'>): Row[] {
  return marks.map((mark, index) => ({
    mark,
    ...Object.fromEntries(series.map(({ values }, at) => [keyOf(at), values[index] ?? null])),
    ...(range !== undefined && { [rangeKey]: range.values[index] ?? null }),
  }));
}

export function DrawnChart(parts: ChartParts & { height: number; summary: string }): ReactNode {
  const { series, format, kind = 'area', range, highest, height, onPick, summary } = parts;
  const pick = (index: unknown) => {
    if (onPick !== undefined && index !== null && index !== undefined) onPick(Number(index));
  };
  return (
    <ResponsiveContainer width="100%" height={height}>
      <ComposedChart
        data={rowsOf(parts)}
        margin={{ top: 8, right: 12, bottom: 0, left: 0 }}
        onClick={({ activeTooltipIndex }) => pick(activeTooltipIndex)}
        style={{ cursor: onPick === undefined ? 'default' : 'pointer' }}
        title={summary}
      >
        <CartesianGrid vertical={false} stroke="var(--chart-grid)" />
        <XAxis
          dataKey="mark"
          tickLine={false}
          axisLine={{ stroke: 'var(--chart-grid)' }}
          tick={tick}
          minTickGap={28}
          tickMargin={6}
        />
        <YAxis
          width="auto"
          tickLine={false}
          axisLine={false}
          tick={tick}
          tickFormatter={(value: number) => format(value)}
          domain={[isBelowZero(parts) ? 'auto' : 0, highest ?? 'auto']}
          tickCount={4}
        />
        <Tooltip
          isAnimationActive={false}
          cursor={{
            stroke: 'var(--chart-before)',
            strokeDasharray: '3 3',
            fill: 'var(--chart-grid)',
          }}
          content={({ active, activeIndex }) =>
            active ? <Bubble parts={parts} at={Number(activeIndex ?? -1)} /> : null
          }
        />
        {(series.length > 1 || range !== undefined) && (
          <Legend
            iconType="plainline"
            wrapperStyle={{ fontSize: 12 }}
            formatter={(label) => <span className="chart-legend">{String(label)}</span>}
          />
        )}
        {range !== undefined && (
          <Area
            dataKey={rangeKey}
            name={range.label}
            stroke="none"
            fill="var(--chart-before)"
            fillOpacity={0.22}
            connectNulls
            isAnimationActive={false}
            activeDot={false}
          />
        )}
        {series.map((one, index) => drawingOf(one, index, kind))}
      </ComposedChart>
    </ResponsiveContainer>
  );
}

const isBelowZero = ({ series, range }: ChartParts): boolean =>
  series.some(({ values }) => values.some((value) => (value ?? 0) < 0)) ||
  (range?.values.some((ends) => (ends?.[0] ?? 0) < 0) ?? false);

const tick = { fontSize: 12, fill: 'var(--mantine-color-dimmed)' };

const colorOf = (index: number): string => `var(--chart-${(index % 6) + 1})`;

function drawingOf(
  { label, values, isBefore = false }: ChartParts['series'][number],
  index: number,
  kind: NonNullable<ChartParts['kind']>,
): ReactNode {
  const color = isBefore ? 'var(--chart-before)' : colorOf(index);
  const shared = { dataKey: keyOf(index), name: label, isAnimationActive: false };
  if (kind === 'bars' && !isBefore) {
    return <Bar key={label} {...shared} fill={color} radius={[3, 3, 0, 0]} maxBarSize={36} />;
  }
  const line = {
    ...shared,
    type: 'monotone' as const,
    stroke: color,
    strokeWidth: isBefore ? 1.5 : 2,
    // A line connects two values, so a single one is drawn as a dot.
    dot: values.some((_, at) => isAlone(values, at)) && { r: 2.5, fill: color },
    activeDot: { r: 4, fill: color },
    ...(isBefore && { strokeDasharray: '4 4' }),
  };
  return kind === 'area' && index === 0 && !isBefore ? (
    <Area key={label} {...line} fill={color} fillOpacity={0.12} />
  ) : (
    <Line key={label} {...line} />
  );
}

const isAlone = (values: readonly (number | null)[], at: number): boolean =>
  values[at] !== null && (values[at - 1] ?? null) === null && (values[at + 1] ?? null) === null;

/** The tooltip for the value at the pointer or the keyboard focus. */
function Bubble({ parts, at }: { parts: ChartParts; at: number }): ReactNode {
  const { marks, series, range, format } = parts;
  const [low, high] = range?.values[at] ?? [];
  return (
    <Paper withBorder shadow="md" px="sm" py={6} radius="md" className="chart-bubble">
      <Text size="xs" fw={650}>
        {marks[at]}
      </Text>
      {series.map(({ label, values, isBefore = false }, index) => {
        const value = values[at] ?? null;
        return (
          <div key={label} className="chart-value">
            <i style={{ background: isBefore ? 'var(--chart-before)' : colorOf(index) }} />
            <span>{label}</span>
            <b>{value === null ? '–' : format(value)}</b>
          </div>
        );
      })}
      {range !== undefined && low !== undefined && high !== undefined && (
        <div className="chart-value">
          <i style={{ background: 'var(--chart-before)' }} />
          <span>{range.label}</span>
          <b>{`${format(low)} – ${format(high)}`}</b>
        </div>
      )}
    </Paper>
  );
}
