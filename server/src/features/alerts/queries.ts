import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import type { OrganizationId, TypeId } from '../../platform/values/ids.ts';
import type { AlertRule, AlertState, Judgement } from './rule.ts';

export type AlertId = TypeId<'alr'>;
export type AlertRow = {
  readonly alertId: AlertId;
  readonly organizationId: OrganizationId;
  readonly name: string;
  readonly rule: AlertRule;
  readonly isEnabled: boolean;
  readonly state: AlertState['state'];
  readonly calmWindows: number;
  /** Local times of the organization, like all fields named windows. */
  readonly openedAt: Date | null;
  readonly resolvedAt: Date | null;
  readonly nextWindow: Date;
  readonly lastJudgement: LastJudgement | null;
  readonly revision: number;
  readonly createdAt: Date;
};
/** `windowEnd` is in the organization's local time. */
export type LastJudgement = Judgement & { readonly windowEnd: number };

export const changeReasons = ['breached', 'recovered', 'changed', 'paused'] as const;
export type ChangeReason = (typeof changeReasons)[number];
export type AlertEventRow = {
  readonly number: number;
  readonly state: 'opened' | 'resolved';
  readonly reason: ChangeReason;
  readonly judgement: LastJudgement | null;
  readonly at: Date;
};

const columns = sql`alert_id as "alertId", organization_id as "organizationId", name, rule,
  is_enabled as "isEnabled", state, calm_windows as "calmWindows", opened_at as "openedAt",
  resolved_at as "resolvedAt", next_window as "nextWindow", last_judgement as "lastJudgement",
  revision, created_at as "createdAt"`;

/** Serializes creations within an organization, so that concurrent ones cannot exceed the limit. */
export async function lockAlerts(tx: Tx, organizationId: string): Promise<number> {
  await sql`
    select pg_advisory_xact_lock(hashtextextended(${`alerts ${organizationId}`}, 77))`.execute(tx);
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from alert where organization_id = ${organizationId}`.execute(tx);
  return rows[0]?.count ?? 0;
}

export type NewAlertRow = Pick<
  AlertRow,
  'alertId' | 'organizationId' | 'name' | 'rule' | 'isEnabled' | 'nextWindow'
> & { readonly dueAt: Date };

export async function insertAlert(tx: Tx, alert: NewAlertRow): Promise<AlertRow> {
  const { rows } = await sql<AlertRow>`
    insert into alert (alert_id, organization_id, name, rule, is_enabled, next_window, due_at)
    values (${alert.alertId}, ${alert.organizationId}, ${alert.name},
      ${JSON.stringify(alert.rule)}::jsonb, ${alert.isEnabled}, ${alert.nextWindow}, ${alert.dueAt})
    returning ${columns}`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error('The alert was not written.');
  return row;
}

/** Oldest first. */
export async function listAlerts(db: Db, organizationId: string): Promise<AlertRow[]> {
  const { rows } = await sql<AlertRow>`
    select ${columns} from alert where organization_id = ${organizationId}
    order by created_at, alert_id`.execute(db);
  return rows;
}

export async function findAlert(
  db: Db,
  organizationId: string,
  alertId: AlertId,
): Promise<AlertRow | null> {
  const { rows } = await sql<AlertRow>`
    select ${columns} from alert
    where organization_id = ${organizationId} and alert_id = ${alertId}`.execute(db);
  return rows[0] ?? null;
}

export async function lockAlert(
  tx: Tx,
  organizationId: string,
  alertId: AlertId,
): Promise<AlertRow | null> {
  const { rows } = await sql<AlertRow>`
    select ${columns} from alert
    where organization_id = ${organizationId} and alert_id = ${alertId} for update`.execute(tx);
  return rows[0] ?? null;
}

export async function deleteAlertRow(tx: Tx, alertId: AlertId): Promise<void> {
  await sql`delete from alert where alert_id = ${alertId}`.execute(tx);
}

/** The alert whose next window has been complete for longest at a given time. */
export async function findDueAlert(db: Db, completeUntil: Date): Promise<AlertRow | null> {
  const { rows } = await sql<AlertRow>`
    select ${columns} from alert where is_enabled and due_at <= ${completeUntil}
    order by due_at, alert_id limit 1`.execute(db);
  return rows[0] ?? null;
}

export type AlertChange = Pick<AlertRow, 'name' | 'rule' | 'isEnabled' | 'nextWindow'> & {
  readonly state: AlertState;
  readonly judgement: LastJudgement | null;
  readonly dueAt: Date;
};

/** @returns null if it has changed since it was read */
export async function saveAlert(
  tx: Tx,
  { alertId, revision }: Pick<AlertRow, 'alertId' | 'revision'>,
  change: AlertChange,
): Promise<AlertRow | null> {
  const { state, judgement } = change;
  const dateOf = (ms: number | null) => (ms === null ? null : new Date(ms));
  const { rows } = await sql<AlertRow>`
    update alert set name = ${change.name}, rule = ${JSON.stringify(change.rule)}::jsonb,
      is_enabled = ${change.isEnabled}, state = ${state.state},
      calm_windows = ${state.calmWindows}, opened_at = ${dateOf(state.openedAtMs)},
      resolved_at = ${dateOf(state.resolvedAtMs)}, next_window = ${change.nextWindow},
      due_at = ${change.dueAt}, revision = revision + 1,
      last_judgement = ${judgement === null ? null : JSON.stringify(judgement)}::jsonb
    where alert_id = ${alertId} and revision = ${revision}
    returning ${columns}`.execute(tx);
  return rows[0] ?? null;
}

/** Postpones an alert that could not be evaluated. */
export async function deferAlert(db: Db, alertId: AlertId, byMs: number): Promise<void> {
  await sql`
    update alert set due_at = clock_timestamp() + ${byMs} * interval '1 millisecond'
    where alert_id = ${alertId}`.execute(db);
}

export async function insertAlertEvent(
  tx: Tx,
  alertId: AlertId,
  event: Pick<AlertEventRow, 'state' | 'reason' | 'judgement'>,
): Promise<void> {
  const { state, reason, judgement } = event;
  await sql`
    insert into alert_event (alert_id, state, reason, judgement)
    values (${alertId}, ${state}, ${reason},
      ${judgement === null ? null : JSON.stringify(judgement)}::jsonb)`.execute(tx);
}

export async function countAlertEvents(db: Db, alertId: AlertId): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from alert_event where alert_id = ${alertId}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Newest first. */
export async function listAlertEvents(
  db: Db,
  alertId: AlertId,
  { limit, after }: { readonly limit: number; readonly after: number | null },
): Promise<AlertEventRow[]> {
  const { rows } = await sql<AlertEventRow>`
    select number, state, reason, judgement, at from alert_event
    where alert_id = ${alertId} and (${after}::bigint is null or number < ${after}::bigint)
    order by number desc limit ${limit}`.execute(db);
  return rows;
}

/** An alert changes at most once an hour, so this bounds its history. */
export async function deleteOldAlertEvents(db: Db, keptDays: number): Promise<void> {
  await sql`
    delete from alert_event
    where at < now() - make_interval(days => ${keptDays}::int)`.execute(db);
}
