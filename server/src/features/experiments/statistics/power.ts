/** Minimum detectable effects, and the sample size for a given effect. */
import { normalCritical } from './tails.ts';

/** z with P(Z ≤ z) = probability ≥ 0.5. */
function normalQuantile(probability: number): number {
  return normalCritical(2 * (1 - probability));
}

export const usualPower = 0.8;

/**
 * The smallest relative difference that a test at `level` detects with the given power and the
 * existing units. Null if the control is zero or the level is out of reach.
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

/** The sample size per arm, for two equal arms, to detect a difference. */
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

/**
 * The factor by which the required units increase when the level is lowered from `alpha`, at the
 * same power.
 */
export function sampleFactor(level: number, alpha: number): number | null {
  const [strict, plain] = [level, alpha].map(
    (each) => normalCritical(each) + normalQuantile(usualPower),
  );
  const factor = ((strict ?? 0) / (plain ?? 1)) ** 2;
  return Number.isFinite(factor) ? Number(factor.toFixed(3)) : null;
}
