/** SQL for the projection `realtime`. Only one process writes at a time; see counter-queries.ts. */
import { sql } from 'kysely';
import {
  bytesArray,
  int8Array,
  textArray,
  timestampArray,
  uuidArray,
} from '../../../../platform/database/binary-arrays.ts';
import type { Tx } from '../../../../platform/database/database.ts';
import type { ProjectedItem } from '../../../../platform/projections/projection.ts';

/** The counts of a minute, in the order of a row of counts. */
export const minuteColumns = [
  'impressions',
  'plays',
  'completions',
  'likes',
  'shares',
  'saves',
  'rebuffers',
  'errors',
] as const;
export type MinuteColumn = (typeof minuteColumns)[number];

export type MinuteCounts = {
  readonly organizationId: string;
  readonly minuteMs: number;
  readonly contentId: string;
  /** Indexed by `minuteColumns`. */
  readonly counts: readonly number[];
};

export async function addMinuteCounts(tx: Tx, rows: readonly MinuteCounts[]): Promise<void> {
  if (rows.length === 0) return;
  const names = sql.join(minuteColumns.map((name) => sql.ref(name)));
  const arrays = minuteColumns.map(
    (_, column) => sql`${int8Array(rows.map(({ counts }) => counts[column] ?? 0))}::int8[]`,
  );
  const sums = minuteColumns.map(
    (name) => sql`${sql.ref(name)} = known.${sql.ref(name)} + excluded.${sql.ref(name)}`,
  );
  await sql`
    insert into minute_counter as known (organization_id, minute, content_id, ${names})
    select * from unnest(${textArray(rows.map(({ organizationId }) => organizationId))}::text[],
      ${timestampArray(rows.map(({ minuteMs }) => minuteMs))}::timestamptz[],
      ${uuidArray(rows.map(({ contentId }) => contentId))}::uuid[], ${sql.join(arrays)})
    on conflict (organization_id, minute, content_id) do update set ${sql.join(sums)}`.execute(tx);
}

export type MinuteSet = {
  readonly organizationId: string;
  readonly minuteMs: number;
  readonly sketch: Buffer;
};

export async function selectMinuteSets(
  tx: Tx,
  minutes: readonly Omit<MinuteSet, 'sketch'>[],
): Promise<MinuteSet[]> {
  const { rows } = await sql<MinuteSet>`
    select known.organization_id as "organizationId",
      (extract(epoch from known.minute) * 1000)::int8 as "minuteMs", known.sketch
    from unnest(${textArray(minutes.map(({ organizationId }) => organizationId))}::text[],
      ${timestampArray(minutes.map(({ minuteMs }) => minuteMs))}::timestamptz[])
      as wanted (organization_id, minute)
    join minute_viewer_set known on known.organization_id = wanted.organization_id
      and known.minute = wanted.minute`.execute(tx);
  return rows;
}

export async function selectMinuteSetsOf(tx: Tx, organizationId: string): Promise<MinuteSet[]> {
  const { rows } = await sql<MinuteSet>`
    select organization_id as "organizationId",
      (extract(epoch from minute) * 1000)::int8 as "minuteMs", sketch
    from minute_viewer_set where organization_id = ${organizationId}`.execute(tx);
  return rows;
}

export async function upsertMinuteSets(tx: Tx, sets: readonly MinuteSet[]): Promise<void> {
  if (sets.length === 0) return;
  await sql`
    insert into minute_viewer_set (organization_id, minute, sketch)
    select * from unnest(${textArray(sets.map(({ organizationId }) => organizationId))}::text[],
      ${timestampArray(sets.map(({ minuteMs }) => minuteMs))}::timestamptz[],
      ${bytesArray(sets.map(({ sketch }) => sketch))}::bytea[])
    on conflict (organization_id, minute) do update set sketch = excluded.sketch`.execute(tx);
}

export async function deleteMinutesOfItems(tx: Tx, items: readonly ProjectedItem[]): Promise<void> {
  await sql`
    delete from minute_counter counted
    using unnest(${textArray(items.map(({ organizationId }) => organizationId))}::text[],
      ${uuidArray(items.map(({ contentId }) => contentId))}::uuid[])
      as gone (organization_id, content_id)
    where counted.organization_id = gone.organization_id
      and counted.content_id = gone.content_id`.execute(tx);
}

/** @returns the number of removed rows, at most `limit` */
export async function deleteOldMinutes(
  tx: Tx,
  table: 'minute_counter' | 'minute_viewer_set',
  keptMinutes: number,
  limit: number,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where ctid = any(array(
      select ctid from ${sql.table(table)}
      where minute < now() - make_interval(mins => ${keptMinutes}::int) limit ${limit}))
  `.execute(tx);
  return Number(numAffectedRows);
}
