/**
 * In-memory view of what the viewers of one organization are given: base values, rollouts and
 * running experiments. Deciding for a viewer is pure and reads nothing.
 */
import {
  assignVariant,
  isTargeted,
  type AssignmentPlan,
  type Audience,
} from '@reelfeed/client/assignment';
import type { BaseValue } from '../../settings/settings.ts';
import {
  becomesBase,
  exclusionOf,
  type ExperimentRow,
  type ExperimentType,
  type Variant,
} from '../experiment.ts';
import { nothingKnown, type KnownByExperiment } from './known-variants.ts';

export type RunningExperiment = {
  readonly number: number;
  readonly experimentId: string;
  readonly type: ExperimentType;
  readonly plan: AssignmentPlan;
  readonly variants: readonly Variant[];
  /** Milliseconds since the Unix epoch; infinite without a planned end. */
  readonly endsAtMs: number;
  /** See `exclusionOf`. */
  readonly exclusion: string | null;
  /** Variant indexes that users are forced into for a trial, by user id. */
  readonly forced: ReadonlyMap<string, number>;
};

export type Rollout = {
  readonly type: ExperimentType;
  readonly targeting: AssignmentPlan['targeting'];
  readonly config: Variant['config'];
  readonly sinceMs: number;
};

export type OrganizationView = {
  readonly version: number;
  readonly settings: ReadonlyMap<string, BaseValue>;
  readonly flags: ReadonlyMap<string, BaseValue>;
  /** Experiments that are not paused, and drafts with trial users. */
  readonly running: readonly RunningExperiment[];
  /** Earliest first: a later rollout covers other viewers or overrides an earlier one. */
  readonly rollouts: readonly Rollout[];
};

export const emptyOrganizationView: OrganizationView = {
  version: 0,
  settings: new Map(),
  flags: new Map(),
  running: [],
  rollouts: [],
};

export function buildView(
  version: number,
  values: readonly BaseValue[],
  experiments: readonly ExperimentRow[],
): OrganizationView {
  const byKey = (kind: BaseValue['kind']) =>
    new Map(values.filter((value) => value.kind === kind).map((value) => [value.key, value]));
  return {
    version,
    settings: byKey('setting'),
    flags: byKey('flag'),
    running: experiments.filter(isGiven).map(toRunning),
    rollouts: experiments.flatMap((row) => toRollout(row) ?? []),
  };
}

function isGiven({ status, paused_at, forced_variants }: ExperimentRow): boolean {
  return status === 'running'
    ? paused_at === null
    : status === 'draft' && forced_variants.length > 0;
}

function toRunning(row: ExperimentRow): RunningExperiment {
  return {
    number: row.number,
    experimentId: row.experiment_id,
    type: row.type,
    plan: assignmentPlanOf(row),
    variants: row.variants,
    endsAtMs: row.ends_at?.getTime() ?? Infinity,
    exclusion: exclusionOf(row),
    forced: new Map(
      row.forced_variants.map(({ userId, variantId }) => [
        userId,
        row.variants.findIndex(({ id }) => id === variantId),
      ]),
    ),
  };
}

/**
 * Mutually exclusive experiments that run at the same time share a gate and are kept apart by their
 * ranges. The salt of the gate is the id of the first experiment, so participants of earlier
 * experiments are no more likely to take part in these.
 */
export function assignmentPlanOf(row: ExperimentRow): AssignmentPlan {
  const layer = row.layer ?? row.organization_id;
  const exclusion = exclusionOf(row);
  const kind = exclusion === 'ranking' ? 'ranking' : 'group';
  const gate = exclusion === null ? row.experiment_id : `${layer}:${kind}`;
  return {
    gateSalt: `${gate}:gate`,
    splitSalt: `${row.experiment_id}:split`,
    ranges: row.ranges ?? [],
    variants: row.variants,
    targeting: row.targeting,
    ...(row.holdout > 0 && {
      holdout: { salt: `${row.organization_id}:holdout`, share: row.holdout },
    }),
  };
}

function toRollout(row: ExperimentRow): Rollout | null {
  const variant = row.variants.find(({ id }) => id === row.winner);
  if (variant === undefined || row.rolled_out_at === null || becomesBase(row)) return null;
  return {
    type: row.type,
    targeting: row.targeting,
    config: variant.config,
    sinceMs: row.rolled_out_at.getTime(),
  };
}

export type AssignedVariant = {
  readonly experiment: RunningExperiment;
  readonly index: number;
  readonly variant: Variant;
  /** Trials are not recorded as exposures. */
  readonly isForced: boolean;
};

/**
 * The variants of a unit in running experiments.
 *
 * @param known variants the person was given under an earlier unit; they are kept
 * @param userId the user whose trials apply
 */
export function assign(
  running: readonly RunningExperiment[],
  unit: string,
  audience: Audience,
  nowMs: number,
  known: KnownByExperiment = nothingKnown,
  userId: string | null = null,
): AssignedVariant[] {
  const assigned: AssignedVariant[] = [];
  for (const experiment of running) {
    if (experiment.endsAtMs <= nowMs) continue;
    const forced = userId === null ? undefined : experiment.forced.get(userId);
    const index = forced ?? placeOf(experiment, unit, audience, known);
    const variant = experiment.variants[index];
    const isForced = forced !== undefined;
    if (variant !== undefined) assigned.push({ experiment, index, variant, isForced });
  }
  // Forced variants override everything else.
  return oneOfEach(assigned, known).toSorted((a, b) => Number(a.isForced) - Number(b.isForced));
}

/** @returns −1 for a unit outside the experiment */
function placeOf(
  { number, plan, variants }: RunningExperiment,
  unit: string,
  audience: Audience,
  known: KnownByExperiment,
): number {
  const before = known.get(number);
  if (before !== undefined) return isTargeted(plan.targeting, audience) ? before.variant : -1;
  const variantId = assignVariant(plan, unit, audience);
  return variantId === null ? -1 : variants.findIndex(({ id }) => id === variantId);
}

/**
 * Keeps one of several mutually exclusive experiments: a forced one, otherwise the unit's own
 * earlier one, otherwise that of its device. Ranges keep experiments apart, so only a viewer who
 * has signed in or tries a variant can be in several.
 */
function oneOfEach(assigned: AssignedVariant[], known: KnownByExperiment): AssignedVariant[] {
  const rank = ({ experiment, isForced }: AssignedVariant) => {
    if (isForced) return 0;
    const before = known.get(experiment.number);
    return before === undefined ? 3 : before.isOwn ? 1 : 2;
  };
  const firsts = new Map<string, AssignedVariant>();
  for (const each of assigned) {
    const { exclusion } = each.experiment;
    if (exclusion === null) continue;
    const other = firsts.get(exclusion);
    if (other === undefined || rank(each) < rank(other)) firsts.set(exclusion, each);
  }
  return assigned.filter((each) => {
    const { exclusion } = each.experiment;
    return exclusion === null || firsts.get(exclusion) === each;
  });
}

/** Ranking weights that differ from the base for this viewer, or null if none do. */
export function rankingWeightsOf(
  view: OrganizationView,
  assigned: readonly AssignedVariant[],
  audience: Audience,
  weightsSetAtMs: number,
): Record<string, number> | null {
  const configs = rankingConfigsOf(view, assigned, audience, weightsSetAtMs);
  const weights = configs.map((config) => config['weights']).filter((each) => each !== undefined);
  if (weights.length === 0) return null;
  return Object.assign({}, ...weights) as Record<string, number>;
}

/** The ranking objective for this viewer, or null if it is the base objective. */
export function rankingObjectiveOf(
  view: OrganizationView,
  assigned: readonly AssignedVariant[],
  audience: Audience,
  weightsSetAtMs: number,
): 'weights' | 'learned' | null {
  const found = rankingConfigsOf(view, assigned, audience, weightsSetAtMs)
    .map((config) => config['objective'])
    .findLast((one) => one === 'weights' || one === 'learned');
  return found ?? null;
}

function rankingConfigsOf(
  view: OrganizationView,
  assigned: readonly AssignedVariant[],
  audience: Audience,
  weightsSetAtMs: number,
): Readonly<Record<string, unknown>>[] {
  return [
    ...view.rollouts
      .filter(({ type, sinceMs }) => type === 'ranking' && sinceMs >= weightsSetAtMs)
      .filter(({ targeting }) => isTargeted(targeting, audience))
      .map(({ config }) => config),
    ...assigned.map(({ variant }) => variant.config),
  ];
}

export type ClientValues = {
  readonly settings: Record<string, unknown>;
  readonly flags: Record<string, unknown>;
};

/** Base values, overlaid by rollouts to this audience, overlaid by the unit's variants. */
export function clientValuesOf(
  view: OrganizationView,
  assigned: readonly AssignedVariant[],
  audience: Audience,
): ClientValues {
  return {
    settings: valuesOf('config', view.settings, view, assigned, audience),
    flags: valuesOf('feature', view.flags, view, assigned, audience),
  };
}

function valuesOf(
  type: ExperimentType,
  base: ReadonlyMap<string, BaseValue>,
  view: OrganizationView,
  assigned: readonly AssignedVariant[],
  audience: Audience,
): Record<string, unknown> {
  const values = new Map<string, unknown>();
  for (const [key, { value }] of base) values.set(key, value);
  for (const rollout of view.rollouts) {
    if (rollout.type !== type || !isTargeted(rollout.targeting, audience)) continue;
    for (const [key, value] of Object.entries(rollout.config)) {
      // A base value that was set after the rollout overrides it.
      const since = base.get(key)?.updated_at.getTime() ?? -Infinity;
      if (since <= rollout.sinceMs) values.set(key, value);
    }
  }
  for (const { experiment, variant } of assigned) {
    if (experiment.type !== type) continue;
    for (const [key, value] of Object.entries(variant.config)) values.set(key, value);
  }
  return Object.fromEntries(values);
}
