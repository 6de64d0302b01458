/** Locates the source of a sample ratio mismatch: the countries and devices with wrong shares. */
import { unitsOf, type ExposureCount } from './assignments/exposure-queries.ts';
import type { Variant } from './experiment.ts';
import { checkSampleRatio } from './statistics/sample-ratio.ts';

export type UnevenSegment = {
  readonly dimension: 'country' | 'device';
  readonly value: string;
  /** Multiplied by the number of tested segments (Bonferroni). */
  readonly pValue: number;
};

/** Segments with a sample ratio mismatch, most significant first. */
export function unevenSegments(
  variants: readonly Variant[],
  exposures: readonly ExposureCount[],
): UnevenSegment[] {
  const segments = (['country', 'device'] as const).flatMap((dimension) =>
    [...Map.groupBy(exposures, (each) => each[dimension])].flatMap(([value, counts]) =>
      value === null ? [] : [{ dimension, value, counts }],
    ),
  );
  const judged = segments.map(({ counts, ...segment }) => {
    const arms = variants.map(({ traffic }, index) => ({
      units: unitsOf(counts, index),
      weight: traffic,
    }));
    return { ...segment, ...checkSampleRatio(arms, segments.length) };
  });
  return judged
    .filter(({ ok }) => !ok)
    .toSorted((a, b) => a.pValue - b.pValue)
    .map(({ dimension, value, pValue }) => ({ dimension, value, pValue }));
}
