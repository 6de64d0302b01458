/**
 * Reads the counts of the projection `feed-items` for ranking: credible viewers of the last days,
 * with a half-life of two days.
 */
import { sql } from 'kysely';
import { inTransaction, type Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import type { CredibleCounts } from './credibility.ts';

/** Days older than this would weigh less than a hundredth, so they are ignored. */
const days = 14;
const halfLifeDays = 2;
const rowsAtOnce = 5_000;

export type ItemCounts = {
  readonly serialNumber: number;
  /** Viewers known from earlier days. */
  readonly known: CredibleCounts;
  readonly newcomers: CredibleCounts;
};

const today = sql`(now() at time zone 'UTC')::date`;
const firstDay = sql`${today} - ${sql.lit(days - 1)}`;
/** A day fades by the age of its middle. Stored counts are hundredths. */
const faded = sql`0.01 * power(0.5,
  greatest(0, extract(epoch from now() at time zone 'UTC' - day)::float8 / 86400 - 0.5)
    / ${sql.lit(halfLifeDays)})`;

/** Days since 1970, from `first` up to but excluding `end`. */
export type DaySpan = { readonly first: number; readonly end: number };

type CountRow = {
  serial_number: number;
  known_shown: number;
  known_plays: number;
  known_completions: number;
  known_reactions: number;
  new_shown: number;
  new_plays: number;
  new_completions: number;
  new_reactions: number;
};

/** Passes the counts of every item that has any to `take`, in chunks. */
export async function readItemCounts(
  db: Db,
  organizationId: OrganizationId,
  span: DaySpan,
  take: (rows: readonly ItemCounts[]) => void | Promise<void>,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    await sql`
      declare counts no scroll cursor for
        select serial_number, sum(known_shown * faded)::float8 as known_shown,
          sum(known_plays * faded)::float8 as known_plays,
          sum(known_completions * faded)::float8 as known_completions,
          sum(known_reactions * faded)::float8 as known_reactions,
          sum(new_shown * faded)::float8 as new_shown, sum(new_plays * faded)::float8 as new_plays,
          sum(new_completions * faded)::float8 as new_completions,
          sum(new_reactions * faded)::float8 as new_reactions
        from feed_item_day cross join lateral (select ${faded} as faded) fading
        where organization_id = ${organizationId} and day >= ${firstDay}
          and day >= date '1970-01-01' + ${span.first}::int
          and day < date '1970-01-01' + ${span.end}::int
        group by serial_number
    `.execute(tx);
    for (;;) {
      const { rows } = await sql<CountRow>`fetch ${sql.lit(rowsAtOnce)} from counts`.execute(tx);
      await take(rows.map(toCounts));
      if (rows.length < rowsAtOnce) return;
    }
  });
}

function toCounts(row: CountRow): ItemCounts {
  return {
    serialNumber: row.serial_number,
    known: {
      shown: row.known_shown,
      plays: row.known_plays,
      completions: row.known_completions,
      reactions: row.known_reactions,
    },
    newcomers: {
      shown: row.new_shown,
      plays: row.new_plays,
      completions: row.new_completions,
      reactions: row.new_reactions,
    },
  };
}

export type CountryPlays = { readonly country: string; readonly plays: number };

export async function readCountries(
  db: Db,
  organizationId: OrganizationId,
): Promise<CountryPlays[]> {
  const { rows } = await sql<CountryPlays>`
    select country, sum(plays * faded)::float8 as plays
    from feed_item_country cross join lateral (select ${faded} as faded) fading
    where organization_id = ${organizationId} and day >= ${firstDay}
    group by country order by country
  `.execute(db);
  return rows;
}

/** With fewer plays, an item's countries are not significant. */
const leastPlays = 10;
const maxItems = 5_000;
const countryDays = 7;

/** Plays by country of the most played items. */
export async function readItemCountries(
  db: Db,
  organizationId: OrganizationId,
): Promise<(CountryPlays & { serialNumber: number })[]> {
  const { rows } = await sql<CountryPlays & { serialNumber: number }>`
    with played as (
      select serial_number from feed_item_day
      where organization_id = ${organizationId} and day > ${today} - ${sql.lit(countryDays)}
      group by serial_number
      having sum(known_plays + new_plays) >= ${100 * leastPlays}
      order by sum(known_plays + new_plays) desc limit ${maxItems}
    )
    select serial_number as "serialNumber", country, sum(plays * faded)::float8 as plays
    from feed_item_country cross join lateral (select ${faded} as faded) fading
    join played using (serial_number)
    where organization_id = ${organizationId} and day > ${today} - ${sql.lit(countryDays)}
    group by serial_number, country
  `.execute(db);
  return rows;
}
