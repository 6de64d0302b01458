import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';

/** A unit and its first exposure. */
export type AssignmentRow = {
  unit_key: Buffer;
  viewer: string | null;
  variant: number;
  exposed_at: Date;
  country: string | null;
  device: string | null;
  is_crossed: boolean;
};

type AssignmentFilter = {
  readonly variant: number | null;
  readonly unitKey: Buffer | null;
};

function passes({ variant, unitKey }: AssignmentFilter) {
  return sql<boolean>`merged_into is null
    and (${variant}::int is null or variant = ${variant})
    and (${unitKey}::bytea is null or unit_key = ${unitKey})`;
}

/** The order has no meaning but is stable. */
export async function listAssignments(
  db: Db,
  experimentNumber: number,
  filter: AssignmentFilter,
  { limit, after }: { limit: number; after: Buffer | null },
): Promise<AssignmentRow[]> {
  const { rows } = await sql<AssignmentRow>`
    select unit_key, viewer, variant, exposed_at, country, device, is_crossed
    from exposure
    where experiment_number = ${experimentNumber} and ${passes(filter)}
      and (${after}::bytea is null or unit_key > ${after})
    order by unit_key
    limit ${limit}`.execute(db);
  return rows;
}

export async function countAssignments(
  db: Db,
  experimentNumber: number,
  filter: AssignmentFilter,
): Promise<number> {
  const { rows } = await sql<{ units: number }>`
    select count(*) as units from exposure
    where experiment_number = ${experimentNumber} and ${passes(filter)}`.execute(db);
  return rows[0]?.units ?? 0;
}
