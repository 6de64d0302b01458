/** How small an effect can be found, and how many units it takes to find one. */
import { normalCritical } from './tails.ts';

/** z with P(Z ≤ z) = probability ≥ 0.5. */
function normalQuantile(probability: number): number {
  return normalCritical(2 * (1 - probability));
}

export const usualPower = 0.8;

/**
 * The least relative difference that a test at the level `level` finds with the given power, with
 * the units at hand; null where the control is zero or the level is out of reach.
 */
export function detectableEffect(of: {
  standardError: number;
  control: number;
  level: number;
  power?: number;
}): number | null {
  const { standardError, control, level, power = usualPower } = of;
  const effect =
    ((normalCritical(level) + normalQuantile(power)) * standardError) / Math.abs(control);
  return Number.isFinite(effect) ? effect : null;
}

/** Units of each of two equal arms that a difference needs to be found. */
export function requiredUnits(of: {
  difference: number;
  controlVariance: number;
  treatmentVariance: number;
  alpha: number;
  power: number;
}): number {
  const { difference, controlVariance, treatmentVariance, alpha, power } = of;
  const sum = normalCritical(alpha) + normalQuantile(power);
  return (sum ** 2 * (controlVariance + treatmentVariance)) / difference ** 2;
}
