import { sql } from 'kysely';
import {
  bytesArray,
  dateArray,
  int8Array,
  textArray,
} from '../../../platform/database/binary-arrays.ts';
import { inTransaction, type Db, type Tx } from '../../../platform/database/database.ts';
import type { Expiry } from '../../../platform/projections/projection.ts';
import { dayMs } from '../../../platform/values/time.ts';
import { viewerKeys, type Hash } from '../../analytics/analytics.ts';
import { readItems, writeItems, type ViewerDay } from './viewer-day.ts';

/** A row of `feed_viewer_day`. Days are counted from 1970. */
export type StoredDay = {
  readonly key: Hash;
  readonly organizationId: string;
  readonly day: number;
  readonly state: ViewerDay;
};

export type ViewerAndDay = { readonly key: Hash; readonly day: number };

const days = (values: readonly number[]) => dateArray(values.map((day) => day * dayMs));
const dayNumber = sql`(day - date '1970-01-01')`;

/** The days on which viewers were active, from `first` to `last`. */
export async function selectDays(
  tx: Tx,
  keys: readonly Hash[],
  { first, last }: { first: number; last: number },
): Promise<ViewerAndDay[]> {
  const { rows } = await sql<{ key: Buffer; day: number }>`
    select stored.viewer_key as key, ${dayNumber} as day
    from unnest(${viewerKeys(keys)}::bytea[]) as wanted (viewer_key)
    join feed_viewer_day stored on stored.viewer_key = wanted.viewer_key
      and stored.day between date '1970-01-01' + ${first}::int and date '1970-01-01' + ${last}::int
  `.execute(tx);
  return rows.map(({ key, day }) => ({ key: key.toString('latin1'), day }));
}

type DayRow = {
  key: Buffer;
  day: number;
  organization_id: string;
  crowd: number;
  is_vouched: boolean;
  country: string;
  items: Buffer;
};

/** Days of viewers, locked until the transaction ends. */
export async function lockDays(tx: Tx, wanted: readonly ViewerAndDay[]): Promise<StoredDay[]> {
  if (wanted.length === 0) return [];
  const { rows } = await sql<DayRow>`
    select stored.viewer_key as key, ${sql`(stored.day - date '1970-01-01')`} as day,
      organization_id, crowd, is_vouched, country, items
    from unnest(${viewerKeys(wanted.map(({ key }) => key))}::bytea[],
      ${days(wanted.map(({ day }) => day))}::date[]) as wanted (viewer_key, day)
    join feed_viewer_day stored on stored.viewer_key = wanted.viewer_key
      and stored.day = wanted.day
    order by stored.viewer_key, stored.day for update of stored
  `.execute(tx);
  return rows.map(toStored);
}

/** All days of organizations' viewers after a position, in key order, locked. */
export async function lockDaysAfter(
  tx: Tx,
  organizationIds: readonly string[],
  { after, limit }: { after: ViewerAndDay; limit: number },
): Promise<{ stored: StoredDay; bytes: Buffer }[]> {
  const { rows } = await sql<DayRow>`
    select viewer_key as key, ${dayNumber} as day, organization_id, crowd, is_vouched, country, items
    from feed_viewer_day
    where (viewer_key, day) > (${Buffer.from(after.key, 'latin1')},
        date '1970-01-01' + ${after.day}::int)
      and organization_id = any(${organizationIds}::text[])
    order by viewer_key, day limit ${limit} for update
  `.execute(tx);
  return rows.map((row) => ({ stored: toStored(row), bytes: row.items }));
}

function toStored(row: DayRow): StoredDay {
  const { crowd, is_vouched: isVouched, country } = row;
  return {
    key: row.key.toString('latin1'),
    organizationId: row.organization_id,
    day: row.day,
    state: { crowd, isVouched, country, items: readItems(row.items) },
  };
}

/** Stores days as given. Each viewer and day may be given only once. */
export async function upsertDays(tx: Tx, given: readonly StoredDay[]): Promise<void> {
  if (given.length === 0) return;
  // Sorted, so that transactions writing the same rows cannot deadlock.
  const sorted = given.toSorted((a, b) =>
    a.key === b.key ? a.day - b.day : a.key < b.key ? -1 : 1,
  );
  await sql`
    insert into feed_viewer_day
      (viewer_key, day, organization_id, crowd, is_vouched, country, items)
    select * from unnest(${viewerKeys(sorted.map(({ key }) => key))}::bytea[],
      ${days(sorted.map(({ day }) => day))}::date[],
      ${textArray(sorted.map(({ organizationId }) => organizationId))}::text[],
      ${sorted.map(({ state }) => state.crowd)}::smallint[],
      ${sorted.map(({ state }) => state.isVouched)}::boolean[],
      ${textArray(sorted.map(({ state }) => state.country))}::text[],
      ${bytesArray(sorted.map(({ state }) => writeItems(state.items)))}::bytea[])
    on conflict (viewer_key, day) do update set crowd = excluded.crowd,
      is_vouched = excluded.is_vouched, country = excluded.country, items = excluded.items
  `.execute(tx);
}

export async function deleteDays(tx: Tx, gone: readonly ViewerAndDay[]): Promise<void> {
  if (gone.length === 0) return;
  await sql`
    delete from feed_viewer_day where (viewer_key, day) in (
      select * from unnest(${viewerKeys(gone.map(({ key }) => key))}::bytea[],
        ${days(gone.map(({ day }) => day))}::date[]))
  `.execute(tx);
}

/** A change to the counts of one item on one day: columns in the order of `countColumns`. */
export type CredibleItemChange = {
  readonly organizationId: string;
  readonly day: number;
  readonly serialNumber: number;
  readonly counts: readonly number[];
};
export type CountryChange = Omit<CredibleItemChange, 'counts'> & {
  readonly country: string;
  readonly plays: number;
};

export const countColumns = [
  'known_shown',
  'known_plays',
  'known_completions',
  'known_reactions',
  'new_shown',
  'new_plays',
  'new_completions',
  'new_reactions',
] as const;

const columnList = sql.join(countColumns.map((name) => sql.ref(name)));

/** Adds changes to the counts of items. Each organization, day and item may be given only once. */
export async function updateCredibleItems(
  tx: Tx,
  changes: readonly CredibleItemChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const columns = countColumns.map((_, index) => changes.map(({ counts }) => counts[index] ?? 0));
  await sql`
    insert into feed_item_day as known (organization_id, day, serial_number, ${columnList})
    select * from unnest(${placeOf(changes)},
      ${sql.join(columns.map((values) => sql`${int8Array(values)}::int8[]`))})
    on conflict (organization_id, day, serial_number) do update set
      ${sql.join(
        countColumns.map(
          (name) => sql`${sql.ref(name)} = known.${sql.ref(name)} + excluded.${sql.ref(name)}`,
        ),
      )}
  `.execute(tx);
  if (!changes.some(({ counts }) => counts.some((count) => count < 0))) return;
  await sql`
    delete from feed_item_day
    where (organization_id, day, serial_number) in (select * from unnest(${placeOf(changes)}))
      and ${sql.join(
        countColumns.map((name) => sql`${sql.ref(name)} = 0`),
        sql` and `,
      )}
  `.execute(tx);
}

/** Like `updateCredibleItems`, for plays by country. */
export async function changeCountries(tx: Tx, changes: readonly CountryChange[]): Promise<void> {
  if (changes.length === 0) return;
  const countries = textArray(changes.map(({ country }) => country));
  await sql`
    insert into feed_item_country as known (organization_id, day, serial_number, country, plays)
    select * from unnest(${placeOf(changes)}, ${countries}::text[],
      ${int8Array(changes.map(({ plays }) => plays))}::int8[])
    on conflict (organization_id, day, serial_number, country)
      do update set plays = known.plays + excluded.plays
  `.execute(tx);
  if (!changes.some(({ plays }) => plays < 0)) return;
  await sql`
    delete from feed_item_country
    where (organization_id, day, serial_number, country) in (
        select * from unnest(${placeOf(changes)}, ${countries}::text[]))
      and plays = 0
  `.execute(tx);
}

function placeOf(changes: readonly Omit<CredibleItemChange, 'counts'>[]) {
  return sql`${textArray(changes.map(({ organizationId }) => organizationId))}::text[],
    ${days(changes.map(({ day }) => day))}::date[],
    ${int8Array(changes.map(({ serialNumber }) => serialNumber))}::int8[]`;
}

type Table = 'feed_viewer_day' | 'feed_item_day' | 'feed_item_country';

/** Deletes rows of days older than `keptDays`. */
export function expireAfter(table: Table, keptDays: number): Expiry {
  return async (tx, limit) => {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where ctid = any(array(
        select ctid from ${sql.table(table)}
        where day < (now() at time zone 'UTC')::date - ${keptDays}::int limit ${limit}))
    `.execute(tx);
    return Number(numAffectedRows);
  };
}

/** Copies the days before the log's first into the copies of a rebuild. */
export async function keepEarlierDays({
  db,
  schema,
  firstDayMs,
}: {
  readonly db: Db;
  readonly schema: string;
  readonly firstDayMs: number;
}): Promise<void> {
  if (firstDayMs === -Infinity) return;
  const firstDay = firstDayMs === Infinity ? 'infinity' : new Date(firstDayMs).toISOString();
  await inTransaction(db, async (tx) => {
    await sql`set local statement_timeout = 0`.execute(tx);
    for (const table of ['feed_viewer_day', 'feed_item_day', 'feed_item_country']) {
      await sql`
        insert into ${sql.id(schema, table)}
        select * from ${sql.table(table)}
        where day < (${firstDay}::timestamptz at time zone 'UTC')::date`.execute(tx);
    }
  });
}

export async function deleteItemCounts(
  tx: Tx,
  items: readonly { readonly organizationId: string; readonly serialNumber: number }[],
): Promise<void> {
  for (const table of ['feed_item_day', 'feed_item_country']) {
    await sql`
      delete from ${sql.table(table)}
      where (organization_id, serial_number) in (select * from unnest(
        ${textArray(items.map(({ organizationId }) => organizationId))}::text[],
        ${int8Array(items.map(({ serialNumber }) => serialNumber))}::int8[]))
    `.execute(tx);
  }
}
