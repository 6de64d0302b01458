import { sql } from 'kysely';
import type { Db } from '../../platform/database/database.ts';
import { controlOf, type ExperimentRow } from './experiment.ts';

type Totals = {
  viewers: number;
  returned: number;
  plays: number;
  completions: number;
  watch_ms: number;
  sessions: number;
};

type Found = Pick<
  ExperimentRow,
  | 'experiment_id'
  | 'name'
  | 'type'
  | 'status'
  | 'traffic'
  | 'primary_metric'
  | 'created_at'
  | 'started_at'
  | 'ended_at'
  | 'winner'
  | 'variants'
> & {
  /** By variant index. */
  totals: Record<string, Totals> | null;
};

/**
 * A page of the experiments created within a time range.
 *
 * @returns the rows and the id after which the next page starts, or null after the last page
 */
export async function listVariantsForExport(
  db: Db,
  organizationId: string,
  { from, before }: { from: Date; before: Date },
  { after, limit }: { after: string | null; limit: number },
) {
  const { rows } = await sql<Found>`
    select experiment_id, name, type, status, traffic, primary_metric, created_at, started_at,
      ended_at, winner, variants, (
        select jsonb_object_agg(variant, to_jsonb(arm)) from (
          select variant, count(*) as viewers, count(*) filter (where returned) as returned,
            sum(plays) as plays, sum(completions) as completions, sum(watch_ms) as watch_ms,
            sum(sessions) as sessions
          from experiment_unit where experiment_number = experiment.number group by variant
        ) arm) as totals
    from experiment
    where organization_id = ${organizationId} and deleted_at is null
      and created_at >= ${from} and created_at < ${before}
      and experiment_id > ${after ?? ''}
    order by experiment_id limit ${limit}`.execute(db);
  return {
    rows: rows.flatMap(toRows),
    last: rows.at(-1)?.experiment_id ?? null,
  };
}

function toRows(row: Found) {
  const control = controlOf(row.variants);
  return row.variants.map((variant, index) => {
    const totals = row.totals?.[index];
    return {
      experimentId: row.experiment_id,
      name: row.name,
      type: row.type,
      status: row.status,
      traffic: row.traffic,
      primaryMetric: row.primary_metric,
      createdAt: row.created_at.getTime(),
      startedAt: row.started_at?.getTime(),
      endedAt: row.ended_at?.getTime(),
      winner: row.winner,
      variantId: variant.id,
      variantName: variant.name,
      isControl: variant === control,
      variantTraffic: variant.traffic,
      viewers: totals?.viewers ?? 0,
      returned: totals?.returned ?? 0,
      plays: totals?.plays ?? 0,
      completions: totals?.completions ?? 0,
      watchTime: (totals?.watch_ms ?? 0) / 1_000,
      sessions: totals?.sessions ?? 0,
    };
  });
}
