/** Rows of running experiments, for simulations and for tests that need no database. */
import { dayMs } from '../../src/platform/values/time.ts';
import { organizationId } from '../projections/organization-id.ts';
import { defaultPlan, type ExperimentRow } from '../../src/features/experiments/experiment.ts';
import { days } from './simulated-viewers.ts';
import { metricNames } from '../../src/features/experiments/statistics/metric-names.ts';

export type Simulation = {
  readonly viewers: number;
  readonly seed: number;
  /** Traffic share of the control. */
  readonly split: number;
  /** Whether it uses daily looks up to a planned end, or always-valid inference. */
  readonly isPlanned?: boolean;
  /** Factor for watch times of the treatment after exposure. */
  readonly longer?: number;
  /**
   * Initial traffic, and the day from which it is 1. Viewers who enter then watch longer, treated
   * or not.
   */
  readonly ramp?: { readonly from: number; readonly untilDay: number; readonly laterStay: number };
};

export function simulatedRow(number: number, startMs: number, options: Simulation): ExperimentRow {
  const { split, isPlanned = true, ramp } = options;
  return {
    organization_id: organizationId,
    experiment_id: `exp_${String(number).padStart(26, '0')}`,
    number,
    name: 'A/A',
    description: null,
    status: 'running',
    type: 'config',
    traffic: 1,
    variants: [
      { id: 'control', name: 'Control', traffic: split, config: {} },
      { id: 'other', name: 'Other', traffic: 1 - split, config: { [`key${number}`]: 1 } },
    ],
    metrics: metricNames,
    guardrails: [],
    harms: [],
    primary_metric: metricNames[number % metricNames.length] ?? 'watchTime',
    targeting: {},
    ends_at: isPlanned ? new Date(startMs + days * dayMs) : null,
    revision: 1,
    created_at: new Date(startMs),
    started_at: new Date(startMs),
    ended_at: null,
    stop_reason: null,
    winner: null,
    rolled_out_at: null,
    ranges: [[0, 1]],
    plan: {
      ...defaultPlan,
      ...(ramp !== undefined && {
        earlierTraffic: [
          {
            traffic: ramp.from,
            raisedAt: new Date(startMs + ramp.untilDay * dayMs).toISOString(),
          },
        ],
      }),
    },
    layer: null,
    results: null,
    hypothesis: null,
    tags: [],
    exclusion_group: null,
    forced_variants: [],
    holdout: 0,
    paused_at: null,
  };
}
