/**
 * Estimates the size and duration of an experiment from the current behaviour of viewers: with a
 * planned end, and how much more it takes without one.
 */
import { clockOf, type ZoneClock } from '../../platform/values/zone-clock.ts';
import { dayMs } from '../../platform/values/time.ts';
import type { Db } from '../../platform/database/database.ts';
import { looksOf } from './looks.ts';
import { readArrivals, readBaseline, type BaselineRow } from './plan-queries.ts';
import { alwaysValid } from './statistics/always-valid.ts';
import { curveOf } from './statistics/boundary-curves.ts';
import type { BuiltInMetric } from './statistics/metric-names.ts';
import { ratioEstimate } from './statistics/estimates.ts';
import { groupSequential } from './statistics/group-sequential.ts';
import { requiredUnits } from './statistics/power.ts';

export type PlanQuestion = {
  readonly metric: BuiltInMetric;
  /** Relative. */
  readonly effect: number;
  readonly variants: number;
  readonly traffic: number;
  readonly power: number;
  readonly alpha: number;
  /** See `JudgingPlan`. */
  readonly tunedTo: number;
};

export type PlanAudience = {
  /** The share of viewers the experiment would target. */
  readonly share: number;
  readonly clock: ZoneClock;
  readonly now: Date;
};

/** Whole weeks weight every weekday equally. */
const leastDays = 7;
const mostDays = 365;

export async function planExperiment(
  db: Db,
  organizationId: string,
  question: PlanQuestion,
  { share, clock, now }: PlanAudience,
) {
  const row = await readBaseline(db, organizationId);
  const arrivals = await readArrivals(db, organizationId);
  const { mean, variance } = baselineOf(row, question.metric);
  const baseline = {
    mean,
    standardDeviation: variance === null ? null : Math.sqrt(variance),
    unitsPerDay: row.units === 0 ? 0 : (row.units / row.days) * share,
    newUnitsPerDay: newPerDay(arrivals) * share,
  };
  const none = { baseline, unitsPerVariant: null, days: null, endsAt: null, withoutEnd: null };
  if (mean === null || variance === null || baseline.unitsPerDay === 0) {
    return { ...none, reason: 'no_data' as const };
  }
  if (mean === 0) return { ...none, reason: 'zero_baseline' as const };
  if (variance === 0) return { ...none, reason: 'zero_variance' as const };
  const unitsAt = unitsAtLevel(question, mean, variance);
  const taken = share * question.traffic;
  const daysOf = (units: number) => daysUntil(arrivals, (units * question.variants) / taken);
  const planned = await unitsWithEnd(question, unitsAt, daysOf);
  const days = daysOf(planned);
  const unlimited = unitsWithoutEnd(question, unitsAt);
  return {
    baseline,
    unitsPerVariant: planned,
    days,
    endsAt: days === null ? null : endAfter(clock, now, days).toISOString(),
    withoutEnd: { unitsPerVariant: unlimited, days: daysOf(unlimited) },
    reason: days === null ? reasonWithout(arrivals) : null,
  };
}

/** Units per arm that a test at a given level needs to detect the effect. */
function unitsAtLevel(question: PlanQuestion, mean: number, variance: number) {
  const difference = mean * question.effect;
  const treated = Math.min(1, mean + difference);
  return (level: number) =>
    requiredUnits({
      difference,
      controlVariance: variance,
      treatmentVariance: question.metric === 'retention' ? treated * (1 - treated) : variance,
      alpha: level,
      power: question.power,
    });
}

/** The level of one comparison. The treatments share alpha; see statistics/holm.ts. */
function levelOf({ alpha, variants }: PlanQuestion): number {
  return alpha / (variants - 1);
}

/** With a planned end, the earlier daily looks leave slightly less than alpha for the last one. */
async function unitsWithEnd(
  question: PlanQuestion,
  unitsAt: (level: number) => number,
  daysOf: (units: number) => number | null,
): Promise<number> {
  const level = levelOf(question);
  const days = daysOf(unitsAt(level)) ?? mostDays;
  // Whole weeks keep the number of distinct schedules small.
  const endMs = Math.ceil(days / leastDays) * leastDays * dayMs;
  const schedule = { clock: clockOf('UTC'), startMs: 0, endMs, minimumDays: leastDays };
  const curve = await curveOf(looksOf({ ...schedule, earlierEnds: [] }));
  return atLeastTwo(unitsAt(groupSequential(curve).nominalLevel(level, 0)));
}

/**
 * Without an end, the level depends on the units of both arms. Finds the smallest sufficient
 * number.
 */
function unitsWithoutEnd(question: PlanQuestion, unitsAt: (level: number) => number): number {
  const { tunedTo, alpha } = question;
  const monitoring = alwaysValid({ tunedTo, alpha });
  const isEnough = (units: number) =>
    unitsAt(monitoring.nominalLevel(levelOf(question), 2 * units)) <= units;
  let [low, high] = [1, 2];
  while (!isEnough(high)) [low, high] = [high, high * 2];
  while (high - low > Math.max(1, high * 1e-3)) {
    const middle = (low + high) / 2;
    if (isEnough(middle)) high = middle;
    else low = middle;
  }
  return atLeastTwo(high);
}

function atLeastTwo(units: number): number {
  return Math.max(2, Math.ceil(units));
}

/**
 * Days until this many different viewers have come, extrapolated from newcomers of past days. Null
 * if it takes more than a year.
 */
export function daysUntil(arrivals: readonly number[], viewers: number): number | null {
  let come = 0;
  for (const [day, newcomers] of arrivals.entries()) {
    come += newcomers;
    if (come >= viewers) return Math.max(leastDays, day + 1);
  }
  const perDay = newPerDay(arrivals);
  if (perDay === 0) return null;
  const days = Math.max(leastDays, arrivals.length + Math.ceil((viewers - come) / perDay));
  return days > mostDays ? null : days;
}

/**
 * New viewers per day, averaged over the later half of the known days but at most a week. A single
 * day cannot tell new viewers from returning ones.
 */
export function newPerDay(arrivals: readonly number[]): number {
  if (arrivals.length < 2) return 0;
  const last = arrivals.slice(-Math.min(7, Math.floor(arrivals.length / 2)));
  return last.reduce((sum, newcomers) => sum + newcomers, 0) / last.length;
}

function reasonWithout(arrivals: readonly number[]): 'short_history' | 'too_few_viewers' {
  return arrivals.length < 2 ? 'short_history' : 'too_few_viewers';
}

/** The midnight that leaves this many whole days if the experiment starts by tomorrow. */
function endAfter(clock: ZoneClock, now: Date, days: number): Date {
  const today = Math.floor(clock.localOf(now.getTime()) / dayMs);
  return new Date(clock.momentOf((today + 1 + days) * dayMs));
}

type Baseline = { mean: number | null; variance: number | null };

function baselineOf(row: BaselineRow, metric: BuiltInMetric): Baseline {
  switch (metric) {
    case 'watchTime':
      return { mean: row.watch_mean, variance: row.watch_variance };
    case 'sessionsPerUser':
      return { mean: row.sessions_mean, variance: row.sessions_variance };
    case 'completionRate':
      return completionBaseline(row);
    case 'retention': {
      if (row.matured === 0) return { mean: null, variance: null };
      const share = row.returned / row.matured;
      return { mean: share, variance: share * (1 - share) };
    }
    default:
      return metric satisfies never;
  }
}

function completionBaseline(row: BaselineRow): Baseline {
  const estimate = ratioEstimate({
    units: row.units,
    numerator: { mean: row.completions_mean ?? 0, variance: row.completions_variance ?? 0 },
    denominator: { mean: row.plays_mean ?? 0, variance: row.plays_variance ?? 0 },
    covariance: row.plays_completions ?? 0,
  });
  return { mean: estimate?.mean ?? null, variance: estimate?.variance ?? null };
}
