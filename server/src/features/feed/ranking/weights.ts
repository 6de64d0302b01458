/** The six signals of ranking and how much each of them counts. */

export const signalNames = [
  'recency',
  'engagement',
  'topicAffinity',
  'geoRelevance',
  'completionRate',
  'creatorAffinity',
] as const;
export type SignalName = (typeof signalNames)[number];

export type Signals = Readonly<Record<SignalName, number>>;
export type Weights = Readonly<Record<SignalName, number>>;

/** What an organization starts with. */
export const baseWeights: Weights = {
  recency: 0.25,
  engagement: 0.2,
  topicAffinity: 0.2,
  geoRelevance: 0.15,
  completionRate: 0.1,
  creatorAffinity: 0.1,
};

/** Far above any useful weight, and far below what overflows a sum. */
export const maxWeight = 1_000;

/** Weights that are not given are those of the base. */
export function mergeWeights(base: Weights, partial: Partial<Weights>): Weights {
  return { ...base, ...partial };
}

/** Why weights cannot be used, with the path of the field; null when they can. */
export function problemOfWeights(weights: Weights): { path: string; message: string } | null {
  for (const name of signalNames) {
    const weight = weights[name];
    // The comparison is false for NaN as well.
    if (!(weight >= 0 && weight <= maxWeight)) {
      return { path: `weights.${name}`, message: `must be a number from 0 to ${maxWeight}` };
    }
  }
  return sumOf(weights) > 0
    ? null
    : { path: 'weights', message: 'must have at least one weight above 0' };
}

/** Σ weight·signal / Σ weight: in [0, 1] when every signal is. */
export function scoreOf(weights: Weights, signals: Signals): number {
  let sum = 0;
  for (const name of signalNames) sum += weights[name] * signals[name];
  return sum / sumOf(weights);
}

export function sumOf(weights: Weights): number {
  let sum = 0;
  for (const name of signalNames) sum += weights[name];
  return sum;
}
