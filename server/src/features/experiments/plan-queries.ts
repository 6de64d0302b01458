/** SQL for baselines: the recent behaviour of an organization's viewers. */
import { sql } from 'kysely';
import type { Db } from '../../platform/database/database.ts';

export type BaselineRow = {
  /** Number of complete days with data, or 1 if there is only part of today. */
  days: number;
  units: number;
  plays_mean: number | null;
  plays_variance: number | null;
  completions_mean: number | null;
  completions_variance: number | null;
  plays_completions: number | null;
  watch_mean: number | null;
  watch_variance: number | null;
  sessions_mean: number | null;
  sessions_variance: number | null;
  /** Viewers with a complete following day, and how many of them came back on it. */
  matured: number;
  returned: number;
};

/**
 * Viewers of the last seven complete UTC days with their activity, or of today if no day is
 * complete yet.
 */
export async function readBaseline(db: Db, organizationId: string): Promise<BaselineRow> {
  const { rows } = await sql<BaselineRow>`
    with span as (
      select coalesce(min(day) filter (where day < today), today) as first,
        case when min(day) < today then today - 1 else today end as last
      from (select (clock_timestamp() at time zone 'UTC')::date as today) clock
      left join viewer_day on organization_id = ${organizationId} and day >= today - 7
      group by today
    ), viewer as (
      select viewer_key, sum(plays)::float8 as plays, sum(completions)::float8 as completions,
        sum(watch_ms)::float8 / 1000 as watch, sum(sessions)::float8 as sessions,
        min(day) as first_day, array_agg(day) as days
      from viewer_day, span
      where organization_id = ${organizationId} and day between span.first and span.last
      group by viewer_key
    )
    select (select last - first + 1 from span) as days, count(*) as units,
      avg(plays) as plays_mean, var_samp(plays) as plays_variance,
      avg(completions) as completions_mean, var_samp(completions) as completions_variance,
      covar_samp(plays, completions) as plays_completions,
      avg(watch) as watch_mean, var_samp(watch) as watch_variance,
      avg(sessions) as sessions_mean, var_samp(sessions) as sessions_variance,
      count(*) filter (where first_day < (select last from span)) as matured,
      count(*) filter (where first_day + 1 = any(days)) as returned
    from viewer`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('The count returned no row.');
  return row;
}

/**
 * The number of new viewers on each day, from the first to the last complete UTC day of the last
 * four weeks, or of today if no day is complete yet. Everyone on the first day counts as new.
 */
export async function readArrivals(db: Db, organizationId: string): Promise<number[]> {
  const { rows } = await sql<{ newcomers: number }>`
    with clock as (select (clock_timestamp() at time zone 'UTC')::date as today), span as (
      select coalesce(min(day) filter (where day < today), today) as first,
        case when min(day) < today then today - 1 else today end as last
      from clock
      left join viewer_day on organization_id = ${organizationId} and day >= today - 28
      group by today
    ), arrival as (
      select min(day) as first_day
      from viewer_day, span
      where organization_id = ${organizationId} and day between span.first and span.last
      group by viewer_key
    )
    select count(arrival.first_day) as newcomers
    from span
    cross join generate_series(span.first, span.last, interval '1 day') as each (day)
    left join arrival on arrival.first_day = each.day::date
    group by each.day
    order by each.day`.execute(db);
  return rows.map(({ newcomers }) => newcomers);
}
