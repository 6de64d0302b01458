import { sql } from 'kysely';
import { timestampArray } from '../../../platform/database/binary-arrays.ts';
import type { Db } from '../../../platform/database/database.ts';

/** One arm in one period of a ramp, over units that saw only one variant. */
export type ArmRow = {
  variant: number;
  /** Starts at 0; see `periods`. */
  period: number;
  units: number;
  plays_mean: number;
  plays_variance: number;
  completions_mean: number;
  completions_variance: number;
  plays_completions: number;
  watch_mean: number;
  watch_variance: number;
  earlier_watch_mean: number;
  earlier_watch_variance: number;
  watch_covariance: number;
  sessions_mean: number;
  sessions_variance: number;
  earlier_sessions_mean: number;
  earlier_sessions_variance: number;
  sessions_covariance: number;
  matured: number;
  returned: number;
};

/**
 * The watch time that one unit in a thousand exceeds, over all arms. Longer times are capped to it,
 * so that a television left on does not decide the result. Infinite if there are too few units.
 */
export async function watchCap(db: Db, experimentNumber: number, units: number): Promise<number> {
  const beyond = Math.floor(units / 1_000);
  if (beyond < 1) return Infinity;
  const { rows } = await sql<{ watch_ms: number }>`
    select watch_ms from experiment_unit where experiment_number = ${experimentNumber}
    order by watch_ms desc offset ${beyond} limit 1`.execute(db);
  const cap = rows[0]?.watch_ms ?? 0;
  return cap > 0 ? cap : Infinity;
}

/** Units of an experiment that saw only one variant. */
function isCounted(experimentNumber: number) {
  return sql`experiment_number = ${experimentNumber}
    and not exists (
      select from exposure where exposure.experiment_number = ${experimentNumber}
        and exposure.unit_key = experiment_unit.unit_key and exposure.is_crossed)`;
}

/** @param periods start times of the second, third, … period */
function periodOf(periods: readonly Date[]) {
  const moments = timestampArray(periods.map((period) => period.getTime()));
  return sql`width_bucket(exposed_at, ${moments}::timestamptz[])`;
}

/** Exposed units per period, by variant. */
export async function countByPeriod(
  db: Db,
  experimentNumber: number,
  periods: readonly Date[],
): Promise<{ variant: number; period: number; units: number }[]> {
  const { rows } = await sql<{ variant: number; period: number; units: number }>`
    select variant, ${periodOf(periods)} as period, count(*) as units
    from experiment_unit where ${isCounted(experimentNumber)}
    group by 1, 2`.execute(db);
  return rows;
}

/**
 * Computes means, variances and covariances with PostgreSQL's regression aggregates, which avoid
 * cancellation. Aggregates over the same pair of columns share one state, so each row is added
 * three times instead of twenty. Inputs are float8: over integers the aggregates use numeric
 * arithmetic, which is ten times slower.
 */
export async function selectArms(
  db: Db,
  experimentNumber: number,
  {
    capMs,
    maturedBefore,
    periods = [],
  }: { capMs: number; maturedBefore: Date; periods?: readonly Date[] },
): Promise<ArmRow[]> {
  const cap = Number.isFinite(capMs) ? capMs : 2 ** 62;
  const pair = (y: string, x: string, prefix: [string, string, string]) => {
    const [of, on] = [sql.ref(y), sql.ref(x)];
    const [yName, xName, both] = prefix;
    const freedom = sql`nullif(count(*) - 1, 0)`;
    return sql`regr_avgy(${of}, ${on}) as ${sql.ref(`${yName}_mean`)},
      coalesce(regr_syy(${of}, ${on}) / ${freedom}, 0) as ${sql.ref(`${yName}_variance`)},
      regr_avgx(${of}, ${on}) as ${sql.ref(`${xName}_mean`)},
      coalesce(regr_sxx(${of}, ${on}) / ${freedom}, 0) as ${sql.ref(`${xName}_variance`)},
      coalesce(regr_sxy(${of}, ${on}) / ${freedom}, 0) as ${sql.ref(both)}`;
  };
  const { rows } = await sql<ArmRow>`
    with unit as (
      select variant, plays::float8 as plays, completions::float8 as completions,
        least(watch_ms, ${cap}::float8) / 1000 as watch,
        least(earlier_watch_ms, ${cap}::float8) / 1000 as earlier_watch,
        ${periodOf(periods)} as period, sessions::float8 as sessions, earlier_sessions::float8 as earlier_sessions,
        exposed_at <= ${maturedBefore} as is_matured, returned
      from experiment_unit
      where ${isCounted(experimentNumber)}
    )
    select variant, period, count(*) as units,
      ${pair('completions', 'plays', ['completions', 'plays', 'plays_completions'])},
      ${pair('watch', 'earlier_watch', ['watch', 'earlier_watch', 'watch_covariance'])},
      ${pair('sessions', 'earlier_sessions', ['sessions', 'earlier_sessions', 'sessions_covariance'])},
      count(*) filter (where is_matured) as matured,
      count(*) filter (where is_matured and returned) as returned
    from unit group by variant, period`.execute(db);
  return rows;
}
