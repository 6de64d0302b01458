/** An organization's ranking settings. */
import { baseWeights, mergeWeights, problemOfWeights, type Weights } from './weights.ts';

/** The basis of scores: the weighted signals, or predicted watch time. */
export const objectives = ['weights', 'learned'] as const;
export type Objective = (typeof objectives)[number];

export type RankingConfig = {
  readonly objective: Objective;
  readonly weights: Weights;
  readonly recencyHalfLifeHours: number;
  /** From 0 to 1: the penalty for an item that resembles its neighbours. */
  readonly diversity: number;
  /** Share of places for items that few viewers have encountered. */
  readonly exploration: number;
};

export type PartialRankingConfig = Partial<Omit<RankingConfig, 'weights'>> & {
  readonly weights?: Partial<Weights>;
};

export const baseConfig: RankingConfig = {
  objective: 'weights',
  weights: baseWeights,
  recencyHalfLifeHours: 24,
  diversity: 0.25,
  exploration: 0.1,
};

export const halfLifeHours = { least: 0.1, most: 8_760 } as const;
export const maxExploration = 0.5;

/** Missing fields and weights are taken from `base`. */
export function mergeConfig(base: RankingConfig, partial: PartialRankingConfig): RankingConfig {
  const { objective, recencyHalfLifeHours, diversity, exploration } = { ...base, ...partial };
  const weights = mergeWeights(base.weights, partial.weights ?? {});
  return { objective, weights, recencyHalfLifeHours, diversity, exploration };
}

/** Why a configuration is invalid, or null if it is valid. */
export function problemOfConfig(config: RankingConfig): { path: string; message: string } | null {
  const { least, most } = halfLifeHours;
  if (!isBetween(config.recencyHalfLifeHours, least, most)) {
    const message = `must be a number from ${least} to ${most}`;
    return { path: 'recencyHalfLifeHours', message };
  }
  if (!isBetween(config.diversity, 0, 1)) {
    return { path: 'diversity', message: 'must be a number from 0 to 1' };
  }
  if (!isBetween(config.exploration, 0, maxExploration)) {
    return { path: 'exploration', message: `must be a number from 0 to ${maxExploration}` };
  }
  return problemOfWeights(config.weights);
}

function isBetween(value: number, least: number, most: number): boolean {
  return value >= least && value <= most;
}
