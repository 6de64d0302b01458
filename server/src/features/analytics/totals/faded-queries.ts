/** What ranking asks of the counters: counts of the last days that fade by half every two days. */
import { sql } from 'kysely';
import { inTransaction, type Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';

/** Older days count less than a hundredth. */
const days = 14;
const halfLifeDays = 2;
const rowsAtOnce = 5_000;

export type FadedCounts = {
  contentId: string;
  impressions: number;
  plays: number;
  completions: number;
  likes: number;
  shares: number;
  saves: number;
};

const since = sql`date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' - make_interval(days => ${sql.lit(days - 1)})`;
const faded = sql`power(0.5, greatest(0, extract(epoch from now() - period)::float8 / 86400 - 0.5) / ${sql.lit(halfLifeDays)})`;

/** Gives the counts of every item that has any to `take`, in pieces. */
export async function readFadedCounts(
  db: Db,
  organizationId: OrganizationId,
  take: (rows: readonly FadedCounts[]) => void | Promise<void>,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    await sql`
      declare counts no scroll cursor for
        select content_id as "contentId", sum(impressions * faded)::float8 as impressions,
          sum(plays * faded)::float8 as plays, sum(completed_plays * faded)::float8 as completions,
          sum(likes * faded)::float8 as likes, sum(shares * faded)::float8 as shares,
          sum(saves * faded)::float8 as saves
        from content_counter cross join lateral (select ${faded} as faded) fading
        where organization_id = ${organizationId} and grain = 'day' and period >= ${since}
        group by content_id
    `.execute(tx);
    for (;;) {
      const { rows } = await sql<FadedCounts>`fetch ${sql.lit(rowsAtOnce)} from counts`.execute(tx);
      await take(rows);
      if (rows.length < rowsAtOnce) return;
    }
  });
}

export type CountryPlays = { country: string; plays: number };

/** Plays of the whole organization by country; the unknown one is ''. */
export async function readFadedCountries(
  db: Db,
  organizationId: OrganizationId,
): Promise<CountryPlays[]> {
  const { rows } = await sql<CountryPlays>`
    select country, sum(plays * faded)::float8 as plays
    from audience_counter cross join lateral (select ${faded} as faded) fading
    where organization_id = ${organizationId} and grain = 'day' and period >= ${since}
    group by country
  `.execute(db);
  return rows;
}

/** Below this, an item's plays say nothing about where it is liked. */
const leastPlays = 20;
const maxItems = 5_000;
const countryDays = 7;

/** Plays by country of those items that were played most. */
export async function readItemCountries(
  db: Db,
  organizationId: OrganizationId,
): Promise<(CountryPlays & { contentId: string })[]> {
  const { rows } = await sql<CountryPlays & { contentId: string }>`
    with played as (
      select content_id from content_counter
      where organization_id = ${organizationId} and grain = 'total' and period = 'epoch'
        and plays >= ${leastPlays}
      order by plays desc limit ${maxItems}
    )
    select played.content_id as "contentId", part.key as country,
      sum((part.value ->> 0)::float8 * power(0.5, (current_date - day)::float8 / ${halfLifeDays}::float8))::float8
        as plays
    from played
    join content_day on content_day.organization_id = ${organizationId}
      and content_day.content_id = played.content_id
      and content_day.day > current_date - ${countryDays}::int
    cross join lateral json_each(content_day.detail -> 'countries') part
    group by played.content_id, part.key
  `.execute(db);
  return rows;
}
