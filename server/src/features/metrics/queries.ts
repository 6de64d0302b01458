import { sql } from 'kysely';
import { bytesArray, int8Array, timestampArray } from '../../platform/database/binary-arrays.ts';
import type { Db, Tx } from '../../platform/database/database.ts';
import type { TypeId } from '../../platform/values/ids.ts';
import type { MetricDefinition } from './definition.ts';

export type MetricId = TypeId<'met'>;

export type MetricRow = {
  readonly number: number;
  readonly organizationId: string;
  readonly metricId: string;
  readonly name: string;
  readonly description: string | null;
  readonly definition: MetricDefinition;
  readonly createdAt: Date;
  readonly computedAt: Date | null;
};

const columns = sql`number, organization_id as "organizationId", metric_id as "metricId", name,
  description, definition, created_at as "createdAt", computed_at as "computedAt"`;

/** The metrics of an organization, oldest first. */
export async function selectMetrics(db: Db, organizationId: string): Promise<MetricRow[]> {
  const { rows } = await sql<MetricRow>`
    select ${columns} from metric
    where organization_id = ${organizationId} and deleted_at is null order by number`.execute(db);
  return rows;
}

export async function selectAllMetrics(
  db: Db,
  organizationIds: readonly string[],
): Promise<MetricRow[]> {
  const { rows } = await sql<MetricRow>`
    select ${columns} from metric
    where organization_id = any(${organizationIds}::text[]) and deleted_at is null
    order by number`.execute(db);
  return rows;
}

/** Metrics by name, locked against deletion until the transaction ends. */
export async function holdMetrics(
  tx: Tx,
  organizationId: string,
  names: readonly string[],
): Promise<MetricRow[]> {
  const { rows } = await sql<MetricRow>`
    select ${columns} from metric
    where organization_id = ${organizationId} and name = any(${names}::text[])
      and deleted_at is null
    order by number for share`.execute(tx);
  return rows;
}

export async function lockMetric(
  tx: Tx,
  organizationId: string,
  metricId: MetricId,
): Promise<MetricRow | null> {
  const { rows } = await sql<MetricRow>`
    select ${columns} from metric
    where organization_id = ${organizationId} and metric_id = ${metricId} and deleted_at is null
    for update`.execute(tx);
  return rows[0] ?? null;
}

/** @returns null if a metric of that name exists */
export async function insertMetric(
  tx: Tx,
  metric: Pick<MetricRow, 'organizationId' | 'metricId' | 'name' | 'description' | 'definition'>,
): Promise<MetricRow | null> {
  const { rows } = await sql<MetricRow>`
    insert into metric (organization_id, metric_id, name, description, definition)
    values (${metric.organizationId}, ${metric.metricId}, ${metric.name}, ${metric.description},
      ${JSON.stringify(metric.definition)}::jsonb)
    on conflict (organization_id, name) where deleted_at is null do nothing
    returning ${columns}`.execute(tx);
  return rows[0] ?? null;
}

export async function markDeleted(tx: Tx, number: number): Promise<void> {
  await sql`update metric set deleted_at = clock_timestamp() where number = ${number}`.execute(tx);
}

export async function markComputed(tx: Tx, numbers: readonly number[]): Promise<void> {
  await sql`
    update metric set computed_at = clock_timestamp()
    where number = any(${int8Array(numbers)}::int8[]) and computed_at is null`.execute(tx);
}

/** Marks metrics to be computed again, because a rebuild may have missed new ones. */
export async function markUncomputed(tx: Tx): Promise<string[]> {
  const { rows } = await sql<{ organization_id: string }>`
    update metric set computed_at = null where deleted_at is null
    returning organization_id`.execute(tx);
  return [...new Set(rows.map((row) => row.organization_id))];
}

export type CountedEvent = {
  readonly metricNumber: number;
  readonly viewerKey: Buffer;
  readonly atMs: number;
  readonly eventKey: Buffer;
  readonly numerator: number;
  readonly denominator: number;
};

/** Each event counts once; it is identified by its key. */
export async function insertEvents(tx: Tx, events: readonly CountedEvent[]): Promise<void> {
  if (events.length === 0) return;
  await sql`
    insert into metric_event (metric_number, viewer_key, at, event_key, numerator, denominator)
    select * from unnest(
      ${int8Array(events.map(({ metricNumber }) => metricNumber))}::int8[],
      ${bytesArray(events.map(({ viewerKey }) => viewerKey))}::bytea[],
      ${timestampArray(events.map(({ atMs }) => atMs))}::timestamptz[],
      ${bytesArray(events.map(({ eventKey }) => eventKey))}::bytea[],
      ${int8Array(events.map(({ numerator }) => numerator))}::int8[],
      ${int8Array(events.map(({ denominator }) => denominator))}::int8[])
    on conflict do nothing`.execute(tx);
}

export async function deleteEventsOf(tx: Tx, viewerKeys: readonly Buffer[]): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from metric_event where viewer_key = any(${viewerKeys}::bytea[])`.execute(tx);
  return Number(numAffectedRows);
}

/** Changes the key of an event. Erasures are rare, so this scans the rows of the organization. */
export async function replaceEventKey(
  tx: Tx,
  organizationId: string,
  { before, after }: { before: Buffer; after: Buffer },
): Promise<void> {
  await sql`
    update metric_event set event_key = ${after}
    where event_key = ${before} and metric_number in (
      select number from metric where organization_id = ${organizationId})`.execute(tx);
}

export async function deleteEventsOfDeleted(tx: Tx, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from metric_event where ctid = any(array(
      select counted.ctid from metric gone
      join metric_event counted on counted.metric_number = gone.number
      where gone.deleted_at is not null limit ${limit}))`.execute(tx);
  return Number(numAffectedRows);
}

export async function deleteOldEvents(tx: Tx, keptDays: number, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from metric_event where ctid = any(array(
      select ctid from metric_event
      where at < now() - make_interval(days => ${keptDays}::int) limit ${limit}))`.execute(tx);
  return Number(numAffectedRows);
}

/** Copies rows from before the first day of the log. */
export async function keepOldEvents(tx: Tx, schema: string, firstDayMs: number): Promise<void> {
  if (!Number.isFinite(firstDayMs)) return;
  const firstDay = sql`(${timestampArray([firstDayMs])}::timestamptz[])[1]`;
  await sql`
    insert into ${sql.id(schema, 'metric_event')}
    select counted.* from metric_event counted
    join metric on metric.number = counted.metric_number and metric.deleted_at is null
    where counted.at < ${firstDay}
    on conflict do nothing`.execute(tx);
}

/** The events that a metric counts, as a subquery: viewer_key, at, numerator, denominator. */
export function eventsOfMetric(metricNumber: number) {
  return sql`(select viewer_key, at, numerator, denominator from metric_event
    where metric_number = ${metricNumber}::int)`;
}
