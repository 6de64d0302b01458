/** The weights of the signals. */
import { bySignal, signalNames, signals, type SignalName } from './signals/table.ts';

export type Weights = Readonly<Record<SignalName, number>>;

export const baseWeights: Weights = bySignal((name) => signals[name].defaultWeight);

export type WeightProblem = { readonly path: string; readonly message: string };

export function mergeWeights(base: Weights, partial: Partial<Weights>): Weights {
  return { ...base, ...partial };
}

/** Overlays an experiment variant's weights on those of the organization, unless all would be 0. */
export function overlayWeights(base: Weights, partial: Partial<Weights>): Weights {
  const merged = mergeWeights(base, partial);
  return sumOf(merged) > 0 ? merged : base;
}

/** Why weights are invalid, or null if they are valid. */
export function problemOfWeights(weights: Weights): WeightProblem | null {
  return problemsOfPartialWeights(weights)[0] ?? null;
}

/**
 * The problems of weights that overlay others. Unnamed signals keep their weight, so all may be 0
 * unless every signal is named.
 */
export function problemsOfPartialWeights(
  weights: Readonly<Record<string, unknown>>,
): readonly WeightProblem[] {
  const problems = Object.entries(weights).flatMap(([name, weight]) => {
    const message = problemOfWeight(name, weight);
    return message === null ? [] : [{ path: `weights.${name}`, message }];
  });
  const isNothingLeft = signalNames.every((name) => weights[name] === 0);
  if (isNothingLeft)
    problems.push({ path: 'weights', message: 'must have at least one weight above 0' });
  return problems;
}

function problemOfWeight(name: string, weight: unknown): string | null {
  if (!isSignalName(name)) return `is not a signal; the signals are ${signalNames.join(', ')}`;
  const { maxWeight } = signals[name];
  // The comparison is false for NaN as well.
  const isRight = typeof weight === 'number' && weight >= 0 && weight <= maxWeight;
  return isRight ? null : `must be a number from 0 to ${maxWeight}`;
}

function isSignalName(name: string): name is SignalName {
  return Object.hasOwn(signals, name);
}

export function sumOf(weights: Weights): number {
  let sum = 0;
  for (const name of signalNames) sum += weights[name];
  return sum;
}
