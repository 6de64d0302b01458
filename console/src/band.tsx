/** A curve with its interval, around zero. */
import { Box, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { percent } from './format.ts';

export type BandPoint = {
  mark: string;
  value: number | null;
  interval: readonly [number, number] | null;
};

const width = 600;
const height = 160;

type KnownPoint = { index: number; value: number; interval: readonly [number, number] };

export function Band({
  title,
  points,
}: {
  title: string;
  points: readonly BandPoint[];
}): ReactNode {
  const known = points.flatMap(({ value, interval }, index) =>
    value === null || interval === null ? [] : [{ index, value, interval }],
  );
  const reach = Math.max(...known.flatMap(({ interval }) => interval.map(Math.abs)), 0.01) * 1.05;
  const last = known.at(-1);
  const summary =
    last === undefined
      ? `${title}: nothing yet`
      : `${title}: last ${percent(last.value)}, from ${percent(last.interval[0])} to ${percent(last.interval[1])}`;
  return (
    <Box>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      <Text size="xs">{`+${percent(reach, 0)}`}</Text>
      <Drawing summary={summary} known={known} count={points.length} reach={reach} />
      <Text size="xs">{`−${percent(reach, 0)}`}</Text>
      <Group justify="space-between">
        <Text size="xs">{points[0]?.mark}</Text>
        <Text size="xs">{points.at(-1)?.mark}</Text>
      </Group>
    </Box>
  );
}

function Drawing({
  summary,
  known,
  count,
  reach,
}: {
  summary: string;
  known: readonly KnownPoint[];
  count: number;
  reach: number;
}): ReactNode {
  const x = (index: number) => ((index + 0.5) * width) / Math.max(count, 1);
  const y = (value: number) => height / 2 - (height / 2) * (value / reach);
  const at = (index: number, value: number) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`;
  const area = [
    ...known.map(({ index, interval: [, high] }) => at(index, high)),
    ...known.toReversed().map(({ index, interval: [low] }) => at(index, low)),
  ];
  const color = 'var(--mantine-primary-color-filled)';
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      width="100%"
      height={height}
      preserveAspectRatio="none"
      role="img"
      aria-label={summary}
    >
      <polygon points={area.join(' ')} fill={color} opacity="0.25" />
      <line x1="0" x2={width} y1={height / 2} y2={height / 2} stroke="currentColor" opacity="0.5" />
      <polyline
        points={known.map(({ index, value }) => at(index, value)).join(' ')}
        fill="none"
        stroke={color}
        strokeWidth="2.5"
        vectorEffect="non-scaling-stroke"
      />
      {known.map(({ index, value, interval: [low, high] }) => (
        <g key={index} stroke={color} fill={color}>
          <line x1={x(index)} x2={x(index)} y1={y(low)} y2={y(high)} opacity="0.4" />
          <circle cx={x(index)} cy={y(value)} r="3" stroke="none" />
        </g>
      ))}
    </svg>
  );
}
