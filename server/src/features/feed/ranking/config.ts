/** What an organization can decide about its ranking. */
import { baseWeights, mergeWeights, problemOfWeights, type Weights } from './weights.ts';

/** What a score says: the weighted signals, or what a viewer is expected to watch. */
export const objectives = ['weights', 'learned'] as const;
export type Objective = (typeof objectives)[number];

export type RankingConfig = {
  readonly objective: Objective;
  readonly weights: Weights;
  readonly recencyHalfLifeHours: number;
  /** From 0 to 1: how much an item loses that is about the same as its neighbours. */
  readonly diversity: number;
  /** Share of places for items that few viewers have met yet. */
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

/** Fields and weights that are not given are those of `base`. */
export function mergeConfig(base: RankingConfig, partial: PartialRankingConfig): RankingConfig {
  const { objective, recencyHalfLifeHours, diversity, exploration } = { ...base, ...partial };
  const weights = mergeWeights(base.weights, partial.weights ?? {});
  return { objective, weights, recencyHalfLifeHours, diversity, exploration };
}

/** Why a configuration cannot be used; null when it can. */
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
