import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import type { LogPosition } from '../../platform/event-log/event-log.ts';
import type { OrganizationId, TypeId, WebhookId } from '../../platform/values/ids.ts';

export type ForwardingId = TypeId<'efw'>;
export type ForwardingRow = {
  readonly forwardingId: ForwardingId;
  readonly organizationId: OrganizationId;
  readonly webhookId: WebhookId;
  readonly kinds: readonly string[];
  /** Deliveries exist for everything before this position. */
  readonly position: LogPosition;
  /** The end of the current step, or null between two steps. */
  readonly stepEnd: LogPosition | null;
  /** Ids of deliveries that may not have ended. */
  readonly pending: readonly string[];
  readonly batches: number;
  readonly createdAt: Date;
};

const columns = sql`forwarding_id as "forwardingId", organization_id as "organizationId",
  webhook_id as "webhookId", kinds, position, step_end as "stepEnd",
  pending, batches, created_at as "createdAt"`;

/** Serializes creation within an organization, so that concurrent requests respect the limit. */
export async function lockForwardings(tx: Tx, organizationId: string): Promise<number> {
  await sql`select pg_advisory_xact_lock(
    hashtextextended(${`event forwarding ${organizationId}`}, 77))`.execute(tx);
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from event_forwarding
    where organization_id = ${organizationId}`.execute(tx);
  return rows[0]?.count ?? 0;
}

export async function insertForwarding(
  tx: Tx,
  row: Pick<ForwardingRow, 'forwardingId' | 'organizationId' | 'webhookId' | 'kinds' | 'position'>,
): Promise<ForwardingRow> {
  const { rows } = await sql<ForwardingRow>`
    insert into event_forwarding (forwarding_id, organization_id, webhook_id, kinds, position)
    values (${row.forwardingId}, ${row.organizationId}, ${row.webhookId}, ${row.kinds}::text[],
      ${JSON.stringify(row.position)}::jsonb)
    returning ${columns}`.execute(tx);
  const [inserted] = rows;
  if (inserted === undefined) throw new Error('The forwarding was not written.');
  return inserted;
}

/** Oldest first. */
export async function listForwardings(db: Db, organizationId: string): Promise<ForwardingRow[]> {
  const { rows } = await sql<ForwardingRow>`
    select ${columns} from event_forwarding where organization_id = ${organizationId}
    order by created_at, forwarding_id`.execute(db);
  return rows;
}

/** The forwardings of all organizations, page by page. */
export async function pageForwardings(
  db: Db,
  after: string,
  limit: number,
): Promise<ForwardingRow[]> {
  const { rows } = await sql<ForwardingRow>`
    select ${columns} from event_forwarding where forwarding_id > ${after}
    order by forwarding_id limit ${limit}`.execute(db);
  return rows;
}

/**
 * Locks a forwarding until the transaction ends. Returns null if another process has it, or it no
 * longer exists.
 */
export async function lockForwarding(
  tx: Tx,
  forwardingId: ForwardingId,
): Promise<ForwardingRow | null> {
  const { rows } = await sql<ForwardingRow>`
    select ${columns} from event_forwarding where forwarding_id = ${forwardingId}
    for update skip locked`.execute(tx);
  return rows[0] ?? null;
}

export async function moveForwarding(
  tx: Tx,
  { forwardingId, position, stepEnd, pending, batches }: Omit<ForwardingRow, 'createdAt'>,
): Promise<void> {
  await sql`
    update event_forwarding set position = ${JSON.stringify(position)}::jsonb,
      step_end = ${stepEnd === null ? null : JSON.stringify(stepEnd)}::jsonb,
      pending = ${pending}::text[], batches = ${batches}
    where forwarding_id = ${forwardingId}`.execute(tx);
}

/** @returns whether it existed */
export async function deleteForwardingRow(
  tx: Tx,
  organizationId: string,
  forwardingId: ForwardingId,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    delete from event_forwarding
    where organization_id = ${organizationId} and forwarding_id = ${forwardingId}`.execute(tx);
  return numAffectedRows > 0n;
}
