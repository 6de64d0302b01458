/**
 * SQL for one metric: a value per unit, aggregated by variant and optionally by segment. Can also
 * read the values at an earlier time, or only the activity after it.
 */
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import { eventsOfMetric, unitOfCounts, versionAt, type MetricRow } from '../../metrics/metrics.ts';
import type { Sample } from '../statistics/estimates.ts';
import type { BuiltInMetric } from '../statistics/metric-names.ts';
import { historyDays } from './contribution.ts';

export type MeasuredMetric = BuiltInMetric | MetricRow;

export type ValueQuestion = {
  readonly experimentNumber: number;
  readonly metric: MeasuredMetric;
  /** Counts only what happened before this time, for units exposed before it. */
  readonly until: Date;
  /**
   * Counts only what happened after this time, for units exposed before it. Null counts everything
   * since the exposure.
   */
  readonly after: Date | null;
  /** Whether `until` is in the past. If so, `until` and `after` are ends of UTC days. */
  readonly isPast: boolean;
  readonly lastDay: Date;
  /** Cap on a unit's watch time. */
  readonly capMs: number;
  /** The segment of a unit, as an expression over `unit` and `exposure`. */
  readonly segment: RawBuilder<unknown> | null;
};

export type ValueRow = { readonly variant: number; readonly segment: string | null } & {
  readonly sample: Sample;
};

type SummedRow = {
  variant: number;
  segment: string | null;
  units: number;
  y_mean: number | null;
  y_variance: number;
  x_mean: number | null;
  x_variance: number;
  covariance: number;
  successes: number;
};

export const segmentExpressions = {
  country: sql`coalesce(exposure.country, 'unknown')`,
  device: sql`coalesce(exposure.device, 'unknown')`,
  /** Returning units had a session in the seven days before the day of their exposure. */
  newOrReturning: sql`case when unit.earlier_sessions > 0 then 'returning' else 'new' end`,
  /** The version used at the time of exposure, otherwise the first one reported later. */
  appVersion: sql`coalesce(${versionAt(sql`unit.unit_key`, sql`unit.exposed_at`)}, 'unknown')`,
} as const;

export async function selectValues(db: Db, question: ValueQuestion): Promise<ValueRow[]> {
  const { experimentNumber, until, after, segment } = question;
  const values = valuesOf(question);
  const freedom = sql`nullif(count(*) - 1, 0)`;
  const { rows } = await sql<SummedRow>`
    with seen as (
      select unit.*, ${segment ?? sql`null::text`} as segment
      from experiment_unit unit
      left join exposure on exposure.experiment_number = unit.experiment_number
        and exposure.unit_key = unit.unit_key
      where unit.experiment_number = ${experimentNumber} and exposure.is_crossed is not true
        and unit.exposed_at < ${after ?? until}
    ), ${values.ctes}, measured as (
      select seen.variant, seen.segment, ${values.y} as y, ${values.x} as x
      from seen ${values.joins} where ${values.filter}
    )
    select variant, segment, count(*) as units,
      regr_avgy(y, x) as y_mean, coalesce(regr_syy(y, x) / ${freedom}, 0) as y_variance,
      regr_avgx(y, x) as x_mean, coalesce(regr_sxx(y, x) / ${freedom}, 0) as x_variance,
      coalesce(regr_sxy(y, x) / ${freedom}, 0) as covariance,
      count(*) filter (where y > 0) as successes
    from measured group by variant, segment`.execute(db);
  return rows.map((row) => ({
    variant: row.variant,
    segment: row.segment,
    sample: toSample(row, kindOf(question.metric)),
  }));
}

export function kindOf(metric: MeasuredMetric): Sample['kind'] {
  if (typeof metric === 'string') {
    if (metric === 'retention') return 'share';
    return metric === 'completionRate' ? 'ratio' : 'mean';
  }
  const { type } = metric.definition;
  if (type === 'share') return 'share';
  return type === 'mean' || type === 'ratio' ? 'ratio' : 'mean';
}

function toSample(row: SummedRow, kind: Sample['kind']): Sample {
  const { units } = row;
  const y = { mean: row.y_mean ?? 0, variance: row.y_variance };
  const x = { mean: row.x_mean ?? 0, variance: row.x_variance };
  switch (kind) {
    case 'share':
      return { kind, units, successes: row.successes };
    case 'ratio':
      return { kind, units, numerator: y, denominator: x, covariance: row.covariance };
    case 'mean':
      return { kind, units, outcome: y, covariate: x, covariance: row.covariance };
    default:
      return kind satisfies never;
  }
}

/** The SQL fragments that give units their values. */
type Values = {
  readonly ctes: RawBuilder<unknown>;
  readonly joins: RawBuilder<unknown>;
  readonly y: RawBuilder<unknown>;
  /** The covariate of a mean, or the denominator of a ratio. */
  readonly x: RawBuilder<unknown>;
  readonly filter: RawBuilder<unknown>;
};

/**
 * The viewers that make up units: each unit itself, and the devices on which its user signed in.
 */
function members(experimentNumber: number) {
  return sql`member as (
      select seen.unit_key, seen.unit_key as viewer_key, seen.exposed_at from seen
      union all
      select seen.unit_key, device.unit_key, device.exposed_at
      from seen join exposure device on device.experiment_number = ${experimentNumber}
        and device.merged_into = seen.unit_key
    )`;
}

function valuesOf(question: ValueQuestion): Values {
  const { metric } = question;
  return typeof metric === 'string' ? builtInValues(question, metric) : ownValues(question, metric);
}

/**
 * A unit's totals are known as of now. Its totals at the end of a past day are these minus the
 * activity of later days, which is stored per day.
 */
function builtInValues(question: ValueQuestion, metric: BuiltInMetric): Values {
  const { experimentNumber, until, after, isPast, capMs, lastDay } = question;
  const laterThan = after ?? (isPast ? until : null);
  const later =
    laterThan === null
      ? sql`later as (select null::bytea as unit_key, 0 as plays, 0 as completions,
          0 as watch_ms, 0 as sessions where false)`
      : sql`${members(experimentNumber)}, later as (
          select member.unit_key, sum(days.plays) as plays, sum(days.completions) as completions,
            sum(days.watch_ms) as watch_ms, sum(days.sessions) as sessions
          from member join viewer_day days on days.viewer_key = member.viewer_key
            and days.day >= (${laterThan} at time zone 'UTC')::date
            and days.day <= (${lastDay} at time zone 'UTC')::date
          group by member.unit_key
        )`;
  const of = (column: 'plays' | 'completions' | 'watch_ms' | 'sessions') => {
    const after_ = sql`coalesce(later.${sql.ref(column)}, 0)`;
    if (after !== null) return sql`${after_}::float8`;
    return sql`greatest(seen.${sql.ref(column)} - ${after_}, 0)::float8`;
  };
  const cap = sql`${Number.isFinite(capMs) ? capMs : 2 ** 62}::float8`;
  const all = sql`true`;
  const joins = sql`left join later on later.unit_key = seen.unit_key`;
  switch (metric) {
    case 'completionRate':
      return { ctes: later, joins, y: of('completions'), x: of('plays'), filter: all };
    case 'watchTime': {
      const y = sql`least(${of('watch_ms')}, ${cap}) / 1000`;
      const x = sql`least(seen.earlier_watch_ms, ${cap}) / 1000`;
      return { ctes: later, joins, y, x, filter: all };
    }
    case 'sessionsPerUser': {
      const x = sql`seen.earlier_sessions::float8`;
      return { ctes: later, joins, y: of('sessions'), x, filter: all };
    }
    case 'retention': {
      const matured = sql`seen.exposed_at <= ${until}::timestamptz - interval '2 days'`;
      return { ctes: later, joins, y: sql`seen.returned::int`, x: sql`0`, filter: matured };
    }
    default:
      return metric satisfies never;
  }
}

function ownValues(question: ValueQuestion, { number, definition }: MetricRow): Values {
  const { experimentNumber, until, after } = question;
  const { type, windowHours, cap } = definition;
  const window = windowHours === null ? null : sql`make_interval(hours => ${windowHours}::int)`;
  const day = sql`date_trunc('day', member.exposed_at, 'UTC')`;
  const isCounted = sql`counted.at >= ${after === null ? sql`member.exposed_at` : sql`greatest(member.exposed_at, ${after})`}
    ${window === null ? sql`` : sql`and counted.at < member.exposed_at + ${window}`}`;
  const ctes = sql`${members(experimentNumber)}, total as (
      select member.unit_key,
        sum(counted.numerator) filter (where ${isCounted}) as above,
        sum(counted.denominator) filter (where ${isCounted}) as below,
        count(*) filter (where ${isCounted}) as events,
        sum(counted.numerator) filter (where counted.at < ${day}) as earlier
      from member join ${eventsOfMetric(number)} counted on counted.viewer_key = member.viewer_key
        and counted.at >= ${day} - make_interval(days => ${historyDays}::int)
        and counted.at < ${until}
      group by member.unit_key
    )`;
  const amount = (column: 'above' | 'below' | 'earlier') =>
    sql`coalesce(total.${sql.ref(column)}, 0)::float8 / ${unitOfCounts}::float8`;
  const capped = (column: 'above' | 'earlier') =>
    cap === null || type === 'mean'
      ? amount(column)
      : sql`least(${amount(column)}, ${cap}::float8)`;
  const filter =
    window === null ? sql`true` : sql`seen.exposed_at <= ${until}::timestamptz - ${window}`;
  const joins = sql`left join total on total.unit_key = seen.unit_key`;
  if (type === 'share') {
    return { ctes, joins, y: sql`coalesce(total.events, 0)`, x: sql`0`, filter };
  }
  const isRatio = type === 'mean' || type === 'ratio';
  return {
    ctes,
    joins,
    y: capped('above'),
    x: isRatio ? amount('below') : capped('earlier'),
    filter,
  };
}
