import type { Selectable } from 'kysely';
import type { Targeting } from '@reelfeed/client/assignment';
import { ApiError } from '../../platform/http/errors.ts';
import { parseTypeId, type TypeId } from '../../platform/values/ids.ts';
import { formatTimestamp } from '../../platform/values/time.ts';
import type { ExperimentTable } from './tables.ts';
import type { Harmed } from './harms.ts';
import type { GuardrailPlan } from './statistics/guardrails.ts';

export type ExperimentId = TypeId<'exp'>;
export type { ExperimentStatus, ExperimentType } from './tables.ts';

export const experimentStatuses = ['draft', 'running', 'completed', 'stopped'] as const;
export const experimentTypes = ['ranking', 'config', 'feature'] as const;

export type Variant = {
  readonly id: string;
  readonly name: string;
  /** This variant's share of the experiment's units. */
  readonly traffic: number;
  readonly config: Readonly<Record<string, unknown>>;
};

/**
 * Statistical settings of an experiment. They are fixed at its start, so later configuration
 * changes don't affect it.
 */
export type JudgingPlan = {
  readonly alpha: number;
  readonly minimumDays: number;
  readonly minimumUnits: number;
  readonly minimumOutcomes: number;
  /** Number of units at which always-valid intervals are tightest. */
  readonly tunedTo: number;
  /** The organization's time zone at the start. Plans without one use UTC. */
  readonly timeZone?: string;
  /**
   * Earlier planned ends that were postponed while the experiment ran, with the time of each move.
   */
  readonly earlierEnds?: readonly { readonly endsAt: string; readonly movedAt: string }[];
  /**
   * Earlier traffic shares that were raised while the experiment ran, with the time of each raise.
   */
  readonly earlierTraffic?: readonly { readonly traffic: number; readonly raisedAt: string }[];
};

/** Plan of drafts, which have no data. */
export const defaultPlan: JudgingPlan = {
  alpha: 0.05,
  minimumDays: 7,
  minimumUnits: 100,
  minimumOutcomes: 5,
  tunedTo: 5_000,
};

export function planOf({ plan }: Pick<ExperimentRow, 'plan'>): JudgingPlan {
  return plan ?? defaultPlan;
}

/** A viewer who sees a variant for a trial and is not counted. */
export type ForcedVariant = { readonly userId: string; readonly variantId: string };

export type SlotRange = readonly [from: number, to: number];

/**
 * The key that mutually exclusive experiments share: all ranking experiments, or those of one
 * exclusion group. Null if the experiment may share viewers with any other.
 */
export function exclusionOf({
  type,
  exclusion_group: group,
}: Pick<ExperimentRow, 'type' | 'exclusion_group'>): string | null {
  if (type === 'ranking') return 'ranking';
  return group === null ? null : `group ${group}`;
}

export type ExperimentRow = Omit<
  Selectable<ExperimentTable>,
  | 'variants'
  | 'metrics'
  | 'targeting'
  | 'ranges'
  | 'plan'
  | 'forced_variants'
  | 'guardrails'
  | 'harms'
  | 'deleted_at'
> & {
  readonly variants: readonly Variant[];
  readonly metrics: readonly string[];
  readonly guardrails: readonly GuardrailPlan[];
  readonly harms: readonly Harmed[];
  readonly targeting: Targeting;
  readonly ranges: readonly SlotRange[] | null;
  readonly plan: JudgingPlan | null;
  readonly forced_variants: readonly ForcedVariant[];
};

/** The control, against which the other variants are compared. */
export function controlOf(variants: readonly Variant[]): Variant {
  const control = variants.find(({ id }) => id === 'control') ?? variants[0];
  if (control === undefined) throw new Error('The experiment has no variants.');
  return control;
}

/**
 * Whether a rollout replaces the base values themselves. All other rollouts are overlays derived
 * from the experiment's row; see assignments/view.ts.
 */
export function becomesBase({ type, targeting }: ExperimentRow): boolean {
  return type !== 'ranking' && Object.values(targeting).every((list) => list.length === 0);
}

/** Parses an id from a client. @throws ApiError NOT_FOUND if it is malformed */
export function requireExperimentId(raw: string): ExperimentId {
  const experimentId = parseTypeId('exp', raw);
  if (experimentId === null) throw new ApiError('NOT_FOUND');
  return experimentId;
}

export function experimentTag({ revision }: Pick<ExperimentRow, 'revision'>): string {
  return `"${revision}"`;
}

/** An experiment in lists: variants are shown without their configuration. */
export function presentSummary(row: ExperimentRow) {
  return {
    id: row.experiment_id,
    name: row.name,
    description: row.description,
    hypothesis: row.hypothesis,
    tags: row.tags,
    group: row.exclusion_group,
    status: row.status,
    type: row.type,
    traffic: row.traffic,
    variants: row.variants.map(({ id, name, traffic }) => ({ id, name, traffic })),
    metrics: row.metrics,
    primaryMetric: row.primary_metric,
    guardrails: row.guardrails,
    targetingRules: {
      countries: row.targeting.countries ?? [],
      devices: row.targeting.devices ?? [],
      userSegments: row.targeting.userSegments ?? [],
    },
    startedAt: formatTimestamp(row.started_at),
    endsAt: formatTimestamp(row.ends_at),
    pausedAt: formatTimestamp(row.paused_at),
    endedAt: formatTimestamp(row.ended_at),
    winner: row.winner,
    createdAt: formatTimestamp(row.created_at),
  };
}

/** @param participants by variant index; omit if not requested */
export function presentExperiment(row: ExperimentRow, participants?: readonly number[]) {
  return {
    ...presentSummary(row),
    forcedVariants: row.forced_variants,
    variants: row.variants.map((variant, index) => ({
      ...variant,
      ...(participants !== undefined && { participants: participants[index] ?? 0 }),
    })),
  };
}
