import { sql } from 'kysely';
import {
  int8Array,
  textArray,
  timestampArray,
} from '../../../../platform/database/binary-arrays.ts';
import type { Tx } from '../../../../platform/database/database.ts';
import type { Viewer } from '../../../../platform/feature/feature.ts';
import { otherLabel } from '../../../events/events.ts';
import { earlierLabel } from '../engagement/label.ts';

export type LabelKey = { organizationId: string; periodMs: number; measure: string };
export type QualityRow = LabelKey & {
  grain: 'hour' | 'day';
  label: string;
  count: number;
  total: number;
};

/** The labels of measures on given days. */
export async function selectLabels(
  tx: Tx,
  keys: readonly LabelKey[],
): Promise<(LabelKey & { label: string })[]> {
  const { rows } = await sql<{
    organization_id: string;
    period: Date;
    measure: string;
    label: string;
  }>`
    select found.organization_id, found.period, found.measure, found.label
    from unnest(${textArray(keys.map(({ organizationId }) => organizationId))}::text[],
      ${timestampArray(keys.map(({ periodMs }) => periodMs))}::timestamptz[],
      ${textArray(keys.map(({ measure }) => measure))}::text[])
      as wanted (organization_id, period, measure)
    join quality_counter found on found.organization_id = wanted.organization_id
      and found.grain = 'day' and found.period = wanted.period and found.measure = wanted.measure
  `.execute(tx);
  return rows.map((row) => ({
    organizationId: row.organization_id,
    periodMs: row.period.getTime(),
    measure: row.measure,
    label: row.label,
  }));
}

export async function addQuality(tx: Tx, rows: readonly QualityRow[]): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    insert into quality_counter as counter
      (organization_id, grain, period, measure, label, count, total)
    select * from unnest(${textArray(rows.map(({ organizationId }) => organizationId))}::text[],
      ${textArray(rows.map(({ grain }) => grain))}::text[],
      ${timestampArray(rows.map(({ periodMs }) => periodMs))}::timestamptz[],
      ${textArray(rows.map(({ measure }) => measure))}::text[],
      ${textArray(rows.map(({ label }) => label))}::text[],
      ${int8Array(rows.map(({ count }) => count))}::int8[],
      ${int8Array(rows.map(({ total }) => total))}::int8[])
    on conflict (organization_id, grain, period, measure, label)
      do update set count = counter.count + excluded.count, total = counter.total + excluded.total
  `.execute(tx);
}

/** Moves counts under the viewer's id to `other`. @returns the number of rows */
export async function forgetLabel(
  tx: Tx,
  { organizationId, userId }: Viewer,
  measure: string,
): Promise<number> {
  const { rows } = await sql<{ gone: number }>`
    with gone as (
      delete from quality_counter
      where organization_id = ${organizationId} and measure = ${measure} and label = ${earlierLabel(userId)}
      returning *
    ), added as (
      insert into quality_counter as counter
        (organization_id, grain, period, measure, label, count, total)
      select organization_id, grain, period, measure, ${otherLabel}, count, total from gone
      on conflict (organization_id, grain, period, measure, label)
        do update set count = counter.count + excluded.count, total = counter.total + excluded.total
    )
    select count(*)::int4 as gone from gone`.execute(tx);
  return rows[0]?.gone ?? 0;
}
