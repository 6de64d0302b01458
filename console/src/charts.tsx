/** Drawings of numbers. Each says in words what it shows, for those who do not see it. */
import { Box, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';

export type Line = { label: string; values: readonly (number | null)[]; isFaint?: boolean };

const width = 600;
const height = 140;
const base = 118;
const top = 8;

/**
 * Lines over one axis, the first and last of whose marks are written below. `highest` fixes the
 * scale; without it the largest value does.
 */
export function Lines({
  title,
  lines,
  marks,
  format,
  highest,
}: {
  title: string;
  lines: readonly Line[];
  marks: readonly string[];
  format: (value: number) => string;
  highest?: number;
}): ReactNode {
  const all = lines.flatMap(({ values }) => values.filter((value) => value !== null));
  const most = highest ?? Math.max(...all, 1e-9);
  const last = lines[0]?.values.findLast((value) => value !== null) ?? null;
  const summary = `${title}: highest ${format(Math.max(...all, 0))}, last ${last === null ? 'unknown' : format(last)}`;
  return (
    <Box>
      <svg viewBox={`0 0 ${width} ${height}`} width="100%" role="img" aria-label={summary}>
        <line x1="0" x2={width} y1={base} y2={base} stroke="currentColor" opacity="0.3" />
        <text x="0" y={top + 4} fontSize="12" fill="currentColor">
          {format(most)}
        </text>
        {lines.map(({ label, values, isFaint = false }) => (
          <path
            key={label}
            d={pathOf(values, most)}
            fill="none"
            stroke={isFaint ? 'currentColor' : 'var(--mantine-primary-color-filled)'}
            strokeWidth={isFaint ? 1.5 : 2.5}
            strokeDasharray={isFaint ? '4 4' : undefined}
            opacity={isFaint ? 0.6 : 1}
          />
        ))}
        <text x="0" y={height - 6} fontSize="12" fill="currentColor">
          {marks[0]}
        </text>
        <text x={width} y={height - 6} fontSize="12" textAnchor="end" fill="currentColor">
          {marks.at(-1)}
        </text>
      </svg>
      {lines.length > 1 && (
        <Group gap="md">
          {lines.map(({ label, isFaint = false }) => (
            <Text key={label} size="xs">{`${isFaint ? '┄' : '━'} ${label}`}</Text>
          ))}
        </Group>
      )}
    </Box>
  );
}

/** A path through the values, interrupted where one is unknown. A lone value is a dot. */
function pathOf(values: readonly (number | null)[], most: number): string {
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  let isPenDown = false;
  return values
    .map((value, index) => {
      if (value === null) {
        isPenDown = false;
        return '';
      }
      const at = `${(index * step).toFixed(1)} ${(base - ((base - top) * value) / most).toFixed(1)}`;
      const command = isPenDown ? `L ${at}` : `M ${at} h 0.1`;
      isPenDown = true;
      return command;
    })
    .join(' ');
}

/** Bars of one metric. */
export function Bars({
  title,
  values,
}: {
  title: string;
  values: readonly (number | null)[];
}): ReactNode {
  const most = Math.max(...values.map((value) => value ?? 0), 1e-9);
  const step = 300 / Math.max(values.length, 1);
  return (
    <svg viewBox="0 0 300 60" width="100%" height="60" role="img" aria-label={`${title} over time`}>
      {values.map((value, index) => (
        <rect
          // oxlint-disable-next-line react/no-array-index-key -- bars have no other identity
          key={index}
          x={index * step + 1}
          y={60 - (58 * (value ?? 0)) / most}
          width={Math.max(1, step - 2)}
          height={(58 * (value ?? 0)) / most}
          fill="var(--mantine-primary-color-filled)"
        />
      ))}
    </svg>
  );
}

/**
 * An interval with its estimate on an axis from `-reach` to `reach`, zero in the middle: what lies
 * wholly on one side of zero is a difference.
 */
export function Interval({
  label,
  estimate,
  interval,
  reach,
}: {
  label: string;
  estimate: number;
  interval: readonly [number, number];
  reach: number;
}): ReactNode {
  const at = (value: number) => 150 + 145 * Math.max(-1, Math.min(1, value / reach));
  const [low, high] = interval;
  const color =
    low > 0 ? 'var(--mantine-color-teal-6)' : high < 0 ? 'var(--mantine-color-red-6)' : 'gray';
  return (
    <svg viewBox="0 0 300 24" width="100%" height="24" role="img" aria-label={label}>
      <line x1="150" x2="150" y1="0" y2="24" stroke="currentColor" opacity="0.5" />
      <line x1={at(low)} x2={at(high)} y1="12" y2="12" stroke={color} strokeWidth="6" />
      <circle cx={at(estimate)} cy="12" r="6" fill={color} stroke="currentColor" />
    </svg>
  );
}
