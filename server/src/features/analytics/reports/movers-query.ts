import { byCountMetric } from '../projections/engagement/counted-kinds.ts';
import type { ComparablePeriods } from './period.ts';

/** Counts only: rates based on few plays change the most and mean the least. */
export const movedColumns = {
  plays: 'plays',
  impressions: 'impressions',
  ...byCountMetric((metric) => metric),
  totalWatchTime: 'watch_ms',
} as const;

export type MoverMetric = keyof typeof movedColumns;
export const moverMetrics = Object.keys(movedColumns) as MoverMetric[];
export const moverDirections = ['up', 'down', 'both'] as const;
type Direction = (typeof moverDirections)[number];

export type MoversRequest = {
  readonly periods: ComparablePeriods;
  readonly metric: MoverMetric;
  readonly direction: Direction;
  readonly limit: number;
};

export type MovedItem = { contentId: string; title: string; current: number; previous: number };
