/** Drawings of numbers. Each says in words what it shows, for those who do not see it. */
import { Box, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';

export type Line = { label: string; values: readonly (number | null)[]; isFaint?: boolean };

const width = 600;
const height = 120;
const top = 4;

/** A stroke that keeps its width however wide the drawing is. */
const stroke = {
  vectorEffect: 'non-scaling-stroke',
  fill: 'none',
  strokeLinecap: 'round',
  strokeLinejoin: 'round',
} as const;

function look(isFaint: boolean) {
  return isFaint
    ? { stroke: 'currentColor', strokeWidth: 1.5, strokeDasharray: '4 4', opacity: 0.7 }
    : { stroke: 'var(--mantine-primary-color-filled)', strokeWidth: 2.5 };
}

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
      <Text size="xs">{all.length === 0 ? 'Nothing to draw yet' : format(most)}</Text>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width="100%"
        height={height}
        preserveAspectRatio="none"
        role="img"
        aria-label={summary}
      >
        <path {...stroke} d={`M 0 ${height} h ${width}`} stroke="currentColor" opacity="0.4" />
        {lines.map(({ label, values, isFaint = false }) => (
          <path key={label} {...stroke} d={pathOf(values, most)} {...look(isFaint)} />
        ))}
      </svg>
      <Group justify="space-between">
        <Text size="xs">{marks[0]}</Text>
        <Text size="xs">{marks.at(-1)}</Text>
      </Group>
      {lines.length > 1 && (
        <Group justify="center" gap="lg">
          {lines.map(({ label, isFaint = false }) => (
            <Group key={label} gap={6}>
              <svg width="24" height="4" aria-hidden="true">
                <path {...stroke} d="M 0 2 h 24" {...look(isFaint)} />
              </svg>
              <Text size="xs">{label}</Text>
            </Group>
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
      const at = `${(index * step).toFixed(1)} ${(height - ((height - top) * value) / most).toFixed(1)}`;
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
    <svg
      viewBox="0 0 300 60"
      width="100%"
      height="60"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${title} over time`}
    >
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
