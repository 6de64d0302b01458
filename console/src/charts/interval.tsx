/** An interval drawn in a table cell. */
import type { ReactNode } from 'react';

/**
 * An interval with its estimate on an axis from `-reach` to `reach`, with zero in the middle. An
 * interval entirely on one side of zero is a significant difference.
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
