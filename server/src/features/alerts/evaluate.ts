/**
 * Evaluates alerts, hour by hour.
 *
 * 1. The new state, its event and the webhook deliveries are one transaction, fenced by the alert's
 *    revision. So each change is announced exactly once, despite crashes and concurrent
 *    evaluations.
 * 2. A window is evaluated once the reports have counted everything acknowledged up to two minutes
 *    after it. Later events count in reports but cause no re-evaluation.
 * 3. Missed hours are made up for, up to one day.
 */
import type { Logger } from 'pino';
import { inTransaction, type Db, type Tx } from '../../platform/database/database.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import { hourMs } from '../../platform/values/time.ts';
import type { ZoneClock } from '../../platform/values/zone-clock.ts';
import { isCount, readAsOf, readWindows } from '../analytics/analytics.ts';
import type { EngagementLog } from '../events/events.ts';
import { readOrganizationClock } from '../organizations/organizations.ts';
import { recordEvent, webhookDeliveries } from '../webhooks/webhooks.ts';
import {
  deferAlert,
  findDueAlert,
  insertAlertEvent,
  saveAlert,
  type AlertRow,
  type ChangeReason,
  type LastJudgement,
} from './queries.ts';
import { judgeRule, nextState, windowsOf, type AlertState } from './rule.ts';

export type EvaluateParts = {
  readonly db: Db;
  readonly eventLog: EngagementLog;
  readonly log: Logger;
  readonly hints: Hints;
  readonly publicUrl: string;
};

/** Clients send their events every few seconds. */
const latenessMs = 2 * 60_000;
const maxHoursBack = 24;
const retryAfterMs = 5 * 60_000;

export function dueAt(clock: ZoneClock, windowEnd: Date): Date {
  return new Date(clock.momentOf(windowEnd.getTime()) + latenessMs);
}

/** The end of the current hour, by the clock. */
export function nextWindow(clock: ZoneClock, nowMs: number): Date {
  return new Date((Math.floor(clock.localOf(nowMs) / hourMs) + 1) * hourMs);
}

/** Evaluates the alerts that are due. */
export async function evaluateAlerts(parts: EvaluateParts, signal: AbortSignal): Promise<void> {
  const { db, log } = parts;
  const completeUntil = new Date(await readAsOf(parts));
  while (!signal.aborted) {
    const row = await findDueAlert(db, completeUntil);
    if (row === null) return;
    try {
      await evaluate(parts, row);
    } catch (error) {
      if (signal.aborted) throw error;
      log.warn({ err: error, alertId: row.alertId }, 'alert could not be evaluated');
      await deferAlert(db, row.alertId, retryAfterMs);
    }
  }
}

async function evaluate({ db, hints, publicUrl }: EvaluateParts, row: AlertRow): Promise<void> {
  const { organizationId, rule } = row;
  const clock = await readOrganizationClock(db, organizationId);
  const lastMs = nextWindow(clock, Date.now()).getTime() - hourMs;
  // Also limits the window after the time zone has changed.
  const endMs = Math.min(
    Math.max(row.nextWindow.getTime(), lastMs - maxHoursBack * hourMs),
    lastMs,
  );
  const values = await readWindows(db, organizationId, rule, windowsOf(rule, endMs));
  const judgement = { ...judgeRule(rule, values, isCount(rule)), windowEnd: endMs };
  const { next, change } = nextState(rule, stateOf(row), judgement, endMs);
  const following = new Date(endMs + hourMs);
  await inTransaction(db, async (tx) => {
    const saved = await saveAlert(tx, row, {
      ...row,
      state: next,
      judgement,
      nextWindow: following,
      dueAt: dueAt(clock, following),
    });
    if (saved === null || change === null) return;
    const reason = change === 'opened' ? 'breached' : 'recovered';
    await tell(tx, saved, { state: change, reason, judgement }, { clock, publicUrl });
  });
  if (change !== null) hints.give(webhookDeliveries);
}

export function stateOf({ state, calmWindows, openedAt, resolvedAt }: AlertRow): AlertState {
  return {
    state,
    calmWindows,
    openedAtMs: openedAt?.getTime() ?? null,
    resolvedAtMs: resolvedAt?.getTime() ?? null,
  };
}

type Change = {
  readonly state: 'opened' | 'resolved';
  readonly reason: ChangeReason;
  readonly judgement: LastJudgement | null;
};

/** Records a change in the history and for webhooks. */
export async function tell(
  tx: Tx,
  { alertId, organizationId, name, rule }: AlertRow,
  change: Change,
  { clock, publicUrl }: { readonly clock: ZoneClock; readonly publicUrl: string },
): Promise<void> {
  const { state, reason, judgement } = change;
  await insertAlertEvent(tx, alertId, change);
  await recordEvent(tx, organizationId, 'analytics.alert', {
    alertId,
    name,
    state,
    reason,
    report: rule.report,
    metric: rule.metric,
    value: judgement?.value ?? null,
    low: judgement?.low ?? null,
    high: judgement?.high ?? null,
    windowEnd:
      judgement === null ? null : new Date(clock.momentOf(judgement.windowEnd)).toISOString(),
    url: `${publicUrl}/console/#/alerts`,
  });
}
