/** Alerts: rules on metrics that are evaluated every hour; see `rule.ts` and `evaluate.ts`. */
import type { Static } from 'typebox';
import type { Tx } from '../../platform/database/database.ts';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import { newTypeId, parseTypeId, type OrganizationId } from '../../platform/values/ids.ts';
import { formatTimestamp } from '../../platform/values/time.ts';
import type { ZoneClock } from '../../platform/values/zone-clock.ts';
import { isUnanswerable, readFilter, watchedMetrics } from '../analytics/analytics.ts';
import { readOrganizationClock } from '../organizations/organizations.ts';
import { dueAt, nextWindow, stateOf, tell } from './evaluate.ts';
import {
  deleteAlertRow,
  insertAlert,
  lockAlert,
  lockAlerts,
  saveAlert,
  type AlertEventRow,
  type AlertId,
  type AlertRow,
  type LastJudgement,
} from './queries.ts';
import { newState, type AlertRule, type AlertCondition } from './rule.ts';
import type { AlertPatch, GivenRule, NewAlert } from './schemas.ts';

export const maxAlerts = 100;

/** Fills in defaults and validates a rule. @throws ApiError VALIDATION_ERROR */
export function readRule(given: GivenRule): AlertRule {
  const { report, metric } = given;
  if (!Object.hasOwn(watchedMetrics[report], metric)) {
    const known = Object.keys(watchedMetrics[report]).join(', ');
    throw fieldError(
      'metric',
      `must be one of the metrics of ${report} that can be watched: ${known}`,
    );
  }
  const filter = readFilter(given.filter ?? {}, 'filter');
  const rule = {
    report,
    metric,
    ...(filter !== null && { filter }),
    condition: readCondition(given.condition),
    windowHours: given.windowHours ?? 1,
    minData: given.minData ?? 100,
    cooldownHours: given.cooldownHours ?? 6,
    resolveAfter: given.resolveAfter ?? 2,
  };
  if (isUnanswerable(rule))
    throw fieldError('filter', 'session metrics cannot be filtered by item');
  return rule;
}

function readCondition(given: GivenRule['condition']): AlertCondition {
  if (given.type !== 'band') return given;
  const { direction = 'both', width = 3.5, weeks = 4, minChange = 0.1 } = given;
  return { type: 'band', direction, width, weeks, minChange };
}

/** @throws ApiError VALIDATION_ERROR, LIMIT_EXCEEDED */
export async function createAlert(
  tx: Tx,
  organizationId: OrganizationId,
  { name, isEnabled = true, ...given }: Static<typeof NewAlert>,
): Promise<AlertRow> {
  const rule = readRule(given);
  if ((await lockAlerts(tx, organizationId)) >= maxAlerts) {
    throw new ApiError('LIMIT_EXCEEDED', {
      message: `An organization can have at most ${maxAlerts} alerts.`,
    });
  }
  const schedule = firstWindow(await readOrganizationClock(tx, organizationId));
  const alertId = newTypeId('alr');
  return insertAlert(tx, { alertId, organizationId, name, rule, isEnabled, ...schedule });
}

function firstWindow(clock: ZoneClock) {
  const window = nextWindow(clock, Date.now());
  return { nextWindow: window, dueAt: dueAt(clock, window) };
}

type Place = { readonly publicUrl: string };

/**
 * Changes an alert. A changed rule resets its state; if it was firing, it is announced as resolved.
 *
 * @throws ApiError NOT_FOUND, VALIDATION_ERROR
 */
export async function changeAlert(
  tx: Tx,
  { organizationId, id }: { readonly organizationId: OrganizationId; readonly id: string },
  { name, isEnabled, filter, ...given }: Static<typeof AlertPatch>,
  { publicUrl }: Place,
): Promise<AlertRow> {
  const row = await requireAlert(tx, organizationId, id);
  const clock = await readOrganizationClock(tx, organizationId);
  const { filter: before, ...rest } = row.rule;
  const wanted = filter === undefined ? before : (filter ?? undefined);
  const rule = readRule({ ...rest, ...given, ...(wanted !== undefined && { filter: wanted }) });
  const isOther = JSON.stringify(rule) !== JSON.stringify(readRule(row.rule));
  const change = {
    name: name ?? row.name,
    rule,
    isEnabled: isEnabled ?? row.isEnabled,
  };
  const isPaused = row.isEnabled && !change.isEnabled;
  const startsAnew = isOther || isPaused;
  const saved = await saveAlert(tx, row, {
    ...change,
    state: startsAnew ? newState : stateOf(row),
    judgement: startsAnew ? null : row.lastJudgement,
    ...firstWindow(clock),
  });
  if (saved === null) throw new Error('A locked alert was changed.');
  if (startsAnew && row.state === 'firing') {
    const reason = isPaused ? 'paused' : 'changed';
    await tell(tx, saved, { state: 'resolved', reason, judgement: null }, { clock, publicUrl });
  }
  return saved;
}

/** Deletes an alert. If it was firing, it is announced as resolved. @throws ApiError NOT_FOUND */
export async function deleteAlert(
  tx: Tx,
  { organizationId, id }: { readonly organizationId: OrganizationId; readonly id: string },
  { publicUrl }: Place,
): Promise<AlertId> {
  const row = await requireAlert(tx, organizationId, id);
  if (row.state === 'firing') {
    const clock = await readOrganizationClock(tx, organizationId);
    const change = { state: 'resolved', reason: 'changed', judgement: null } as const;
    await tell(tx, row, change, { clock, publicUrl });
  }
  await deleteAlertRow(tx, row.alertId);
  return row.alertId;
}

async function requireAlert(tx: Tx, organizationId: OrganizationId, id: string): Promise<AlertRow> {
  const row = await lockAlert(tx, organizationId, parseAlertId(id));
  if (row === null) throw noSuchAlert();
  return row;
}

/** @throws ApiError NOT_FOUND */
export function parseAlertId(id: string): AlertId {
  const alertId = parseTypeId('alr', id);
  if (alertId === null) throw noSuchAlert();
  return alertId;
}

export function noSuchAlert(): ApiError {
  return new ApiError('NOT_FOUND', { message: 'There is no alert with this id.' });
}

export function presentAlert(row: AlertRow, clock: ZoneClock) {
  const at = (moment: Date | null) =>
    moment === null ? null : formatTimestamp(new Date(clock.momentOf(moment.getTime())));
  const { filter = {}, ...rule } = row.rule;
  return {
    id: row.alertId,
    name: row.name,
    ...rule,
    filter,
    isEnabled: row.isEnabled,
    state: row.state,
    openedAt: at(row.openedAt),
    resolvedAt: at(row.resolvedAt),
    last: row.lastJudgement && presentJudgement(row.lastJudgement, clock),
    createdAt: formatTimestamp(row.createdAt),
  };
}

function presentJudgement({ windowEnd, ...judgement }: LastJudgement, clock: ZoneClock) {
  return { ...judgement, windowEnd: new Date(clock.momentOf(windowEnd)).toISOString() };
}

export function presentAlertEvent(row: AlertEventRow, clock: ZoneClock) {
  const judgement = row.judgement && presentJudgement(row.judgement, clock);
  return {
    state: row.state,
    reason: row.reason,
    value: judgement?.value ?? null,
    low: judgement?.low ?? null,
    high: judgement?.high ?? null,
    windowEnd: judgement?.windowEnd ?? null,
    at: formatTimestamp(row.at),
  };
}
