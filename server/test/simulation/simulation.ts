/**
 * Experiments on simulated viewers in one process: the real assignment, projection reducers,
 * contributions, looks and statistics, with an injected clock and without a database.
 * `simulation-database.ts` does the same through the database; a test keeps the two equal.
 */
import { dayMs } from '../../src/platform/values/time.ts';
import { clockOf } from '../../src/platform/values/zone-clock.ts';
import {
  viewerOf,
  type SessionState,
  type ViewState,
} from '../../src/features/analytics/analytics.ts';
import {
  collectBlock,
  type EngagementPass,
} from '../../src/features/analytics/projections/engagement/engagement-pass.ts';
import { organizationId } from '../projections/organization-id.ts';
import {
  armsOfRows,
  largePeriods,
  maturityMs,
  raisesOf,
} from '../../src/features/experiments/arms.ts';
import {
  assign,
  buildView,
  type OrganizationView,
} from '../../src/features/experiments/assignments/view.ts';
import type { ExperimentRow } from '../../src/features/experiments/experiment.ts';
import { inferenceAt, monitoringWith } from '../../src/features/experiments/inference.ts';
import { analyseArms } from '../../src/features/experiments/analyse-arms.ts';
import { simulatedRow, type Simulation } from './simulated-row.ts';
import {
  days,
  daysBefore,
  eventsOf,
  makeViewers,
  type SimulatedViewer,
} from './simulated-viewers.ts';
import {
  metricNames,
  type Analysis,
  type ArmData,
  type TreatmentResult,
} from '../../src/features/experiments/statistics/analysis.ts';
import type { BuiltInMetric as MetricName } from '../../src/features/experiments/statistics/metric-names.ts';
import {
  boundaryCurve,
  type Curve,
} from '../../src/features/experiments/statistics/group-sequential.ts';
import type { Monitoring } from '../../src/features/experiments/statistics/monitoring.ts';
import { createRandom } from './random.ts';
import type { ArmRow } from '../../src/features/experiments/units/arm-queries.ts';
import {
  addSession,
  addView,
  emptyCounts,
  type UnitCounts,
} from '../../src/features/experiments/units/contribution.ts';

const idleMs = 30 * 60_000;

/** The unit of one viewer in one experiment. */
export type SimulatedUnit = {
  readonly variant: number;
  readonly exposedAtMs: number;
  readonly counts: UnitCounts;
};

const twentyItems = Array.from({ length: 20 }, (_, index) => `item-${index}`);

/** One reading: the state of the arms at the end of a day, and the conclusions from it. */
export type Read = {
  readonly units: readonly SimulatedUnit[];
  readonly arms: readonly ArmData[];
  readonly analysis: Analysis;
};

/** Runs one experiment for 14 days with its own viewers, and reads the results daily. */
export function simulateOne(
  row: ExperimentRow,
  options: Simulation,
  contentIds: readonly string[] = twentyItems,
): Read[] {
  const random = createRandom(options.seed);
  const viewers = makeViewers(options.viewers, random);
  const startMs = row.started_at?.getTime() ?? 0;
  const view = buildView(1, [], [row]);
  const variantOf = viewers.map(({ userId }) => variantAt(view, userId, startMs));
  const entersOn = entryDays(row, viewers, options);
  const world = new SimulatedWorld();
  const reads: Read[] = [];
  for (let day = -daysBefore; day < days; day += 1) {
    const fromMs = startMs + day * dayMs;
    world.add(
      viewers.flatMap((viewer, index) => {
        const entered = entersOn[index] ?? 0;
        const isTreated = day >= entered && variantOf[index] === 1;
        const longer = stayOf(options, entered) * (isTreated ? (options.longer ?? 1) : 1);
        return eventsOf(viewer, contentIds, fromMs, random, longer);
      }),
    );
    if (day < 0) continue;
    const units = viewers.flatMap((viewer, index): SimulatedUnit[] => {
      const variant = variantOf[index] ?? -1;
      const entered = entersOn[index] ?? 0;
      const exposedAtMs = startMs + entered * dayMs;
      return entered > day || variant < 0
        ? []
        : [{ variant, exposedAtMs, counts: world.countsOf(viewer, exposedAtMs) }];
    });
    const now = new Date(fromMs + dayMs);
    const arms = armsOf(row, units, now);
    reads.push({ units, arms, analysis: analyseArms(row, arms, now, monitoringAt(row, now)) });
  }
  return reads;
}

/**
 * The day on which each viewer is exposed. For viewers outside the initial traffic this is the day
 * of the raise.
 */
export function entryDays(
  row: ExperimentRow,
  viewers: readonly SimulatedViewer[],
  { ramp }: Simulation,
): number[] {
  if (ramp === undefined) return viewers.map(({ firstDay }) => firstDay);
  const before = buildView(1, [], [{ ...row, ranges: [[0, ramp.from]] }]);
  return viewers.map(({ userId, firstDay }) =>
    variantAt(before, userId, 0) < 0 ? Math.max(firstDay, ramp.untilDay) : firstDay,
  );
}

/** Factor for watch times of a viewer who enters on a given day. */
export function stayOf({ ramp }: Simulation, entersOn: number): number {
  return ramp !== undefined && entersOn >= ramp.untilDay ? ramp.laterStay : 1;
}

function variantAt(view: OrganizationView, userId: string, atMs: number): number {
  return assign(view.running, userId, {}, atMs)[0]?.index ?? -1;
}

/** Views and sessions from all events so far, built by the projection's reducers. */
export class SimulatedWorld {
  readonly #pass: EngagementPass = new Map();

  add(events: Parameters<typeof collectBlock>[1]['events']): void {
    const block = { sequence: 0, organizationId, events, receivedAt: 0 };
    const options = { idleMs, generation: 0, clock: clockOf('UTC'), hashUser: () => '' };
    collectBlock(this.#pass, block, options);
  }

  countsOf({ userId }: Pick<SimulatedViewer, 'userId'>, exposedAtMs: number): UnitCounts {
    const counts = emptyCounts();
    const viewer = viewerOf({ userId }) ?? '';
    const found = this.#pass.get(organizationId);
    for (const session of found?.sessions.get(viewer)?.values() ?? []) {
      for (const state of session.states) {
        addSession(counts, state satisfies SessionState, exposedAtMs, 1);
      }
    }
    for (const { views } of found?.viewers.get(viewer)?.values() ?? []) {
      for (const { states } of views.values()) {
        for (const state of states) addView(counts, state satisfies ViewState, exposedAtMs, 1);
      }
    }
    return counts;
  }
}

/** Simulations share one schedule, so every curve is calculated once. */
const curves = new Map<string, Curve>();

/** The monitoring at a given time, calculated in this thread. */
export function monitoringAt(row: ExperimentRow, now: Date): Monitoring {
  const inference = inferenceAt(row, now);
  if (inference === 'always-valid' || inference.length === 0) {
    return monitoringWith(row, inference, null);
  }
  const key = JSON.stringify(inference.map(({ time, spentTime }) => [time, spentTime]));
  const curve = curves.get(key) ?? boundaryCurve(inference);
  curves.set(key, curve);
  return monitoringWith(row, inference, curve);
}

/** Calculates the result of `readArms` from the units themselves. */
export function armsOf(row: ExperimentRow, units: readonly SimulatedUnit[], now: Date): ArmData[] {
  const beyond = Math.floor(units.length / 1_000);
  const watched = units.map(({ counts }) => counts.watchMs).toSorted((a, b) => b - a);
  const capMs = beyond < 1 ? Infinity : watched[beyond] || Infinity;
  const raised = raisesOf(row);
  const counts = groupsOf(row, units, raised).map(({ variant, period, own }) => ({
    variant,
    period,
    units: own.length,
  }));
  const rows = groupsOf(row, units, largePeriods(row, raised, counts)).flatMap((group) =>
    group.own.length === 0 ? [] : { ...sumsOf(group.own, capMs, now), period: group.period },
  );
  return armsOfRows(row, rows, (index) => units.filter(({ variant }) => variant === index).length);
}

function groupsOf(
  { variants }: ExperimentRow,
  units: readonly SimulatedUnit[],
  periods: readonly Date[],
) {
  const periodOf = ({ exposedAtMs }: SimulatedUnit) =>
    periods.filter((begin) => exposedAtMs >= begin.getTime()).length;
  return variants.flatMap((_, variant) =>
    Array.from({ length: periods.length + 1 }, (__, period) => ({
      variant,
      period,
      own: units.filter((unit) => unit.variant === variant && periodOf(unit) === period),
    })),
  );
}

function sumsOf(units: readonly SimulatedUnit[], capMs: number, now: Date): ArmRow {
  const column = (of: (counts: UnitCounts) => number) => units.map(({ counts }) => of(counts));
  const plays = column((counts) => counts.plays);
  const completions = column((counts) => counts.completions);
  const watch = column(({ watchMs }) => Math.min(watchMs, capMs) / 1_000);
  const earlierWatch = column(({ earlierWatchMs }) => Math.min(earlierWatchMs, capMs) / 1_000);
  const sessions = column((counts) => counts.sessions);
  const earlierSessions = column((counts) => counts.earlierSessions);
  const matured = units.filter(({ exposedAtMs }) => exposedAtMs <= now.getTime() - maturityMs);
  return {
    variant: units[0]?.variant ?? 0,
    period: 0,
    units: units.length,
    plays_mean: mean(plays),
    plays_variance: covariance(plays, plays),
    completions_mean: mean(completions),
    completions_variance: covariance(completions, completions),
    plays_completions: covariance(plays, completions),
    watch_mean: mean(watch),
    watch_variance: covariance(watch, watch),
    earlier_watch_mean: mean(earlierWatch),
    earlier_watch_variance: covariance(earlierWatch, earlierWatch),
    watch_covariance: covariance(watch, earlierWatch),
    sessions_mean: mean(sessions),
    sessions_variance: covariance(sessions, sessions),
    earlier_sessions_mean: mean(earlierSessions),
    earlier_sessions_variance: covariance(earlierSessions, earlierSessions),
    sessions_covariance: covariance(sessions, earlierSessions),
    matured: matured.length,
    returned: matured.filter(({ counts }) => counts.returns > 0).length,
  };
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function covariance(some: readonly number[], others: readonly number[]): number {
  if (some.length < 2) return 0;
  const [x, y] = [mean(some), mean(others)];
  let sum = 0;
  for (const [index, value] of some.entries()) sum += (value - x) * ((others[index] ?? 0) - y);
  return sum / (some.length - 1);
}

/** Counts experiments with a false positive in any reading. */
export type Tally = {
  runs: number;
  /** Runs in which the metric was tested at the last reading. */
  readonly tested: Record<MetricName, number>;
  readonly better: Record<MetricName, number>;
  readonly worse: Record<MetricName, number>;
  /** Runs that named a winner in the primary metric, counted with each metric as primary. */
  winners: number;
  /** Sample ratio alarms. */
  alarms: number;
};

/**
 * Simulates many experiments without an effect, reading each with every metric as its primary one.
 */
export function tallyFalseFindings(runs: number, options: Simulation): Tally {
  const none = () => Object.fromEntries(metricNames.map((name) => [name, 0])) as Tally['better'];
  const tally = { runs, tested: none(), better: none(), worse: none(), winners: 0, alarms: 0 };
  const startMs = Date.UTC(2026, 0, 5, 12);
  for (let run = 0; run < runs; run += 1) {
    const row = simulatedRow(run, startMs, options);
    const reads = simulateOne(row, { ...options, seed: options.seed + run });
    if (reads.some(({ analysis }) => analysis.recommendation.winnerIndex !== null)) {
      tally.winners += 1;
    }
    if (reads.some(({ analysis }) => !analysis.sampleRatio.ok)) tally.alarms += 1;
    for (const metric of metricNames) {
      const found = reads.map(({ arms }, day) => {
        const now = new Date(startMs + (day + 1) * dayMs);
        const judged = { ...row, metrics: [metric], primary_metric: metric };
        const analysis = analyseArms(judged, arms, now, monitoringAt(row, now));
        return analysis.arms[1]?.metrics[metric] as TreatmentResult;
      });
      if (found.at(-1)?.pValue != null) tally.tested[metric] += 1;
      const first = found.find(({ significant }) => significant);
      if (first === undefined) continue;
      tally[(first.interval?.[0] ?? 0) > 0 ? 'better' : 'worse'][metric] += 1;
    }
  }
  return tally;
}
