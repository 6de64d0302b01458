/** Tests a rule on past data: when it would have opened, without notifying anyone. */
import type { Db } from '../../platform/database/database.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import { dayMs, hourMs } from '../../platform/values/time.ts';
import type { ZoneClock } from '../../platform/values/zone-clock.ts';
import { isCount, readWindows } from '../analytics/analytics.ts';
import {
  judgeRule,
  newState,
  nextState,
  windowsOf,
  type AlertRule,
  type Judgement,
} from './rule.ts';

export const maxBackDays = 28;

type Opening = { readonly openedAt: string; resolvedAt: string | null } & Omit<
  Judgement,
  'verdict'
>;

/** Evaluates every hour of the last days in order, as the service would have. */
export async function testRule(
  db: Db,
  organizationId: OrganizationId,
  rule: AlertRule,
  { days, clock }: { readonly days: number; readonly clock: ZoneClock },
) {
  const lastMs = Math.floor(clock.localOf(Date.now()) / hourMs) * hourMs;
  const ends = Array.from(
    { length: (days * dayMs) / hourMs },
    (_, index) => lastMs - days * dayMs + (index + 1) * hourMs,
  );
  const windows = ends.map((end) => windowsOf(rule, end));
  const values = await readWindows(db, organizationId, rule, windows.flat());
  const openings: Opening[] = [];
  const hours = { fine: 0, breached: 0, unknown: 0 };
  let state = newState;
  let at = 0;
  for (const [index, endMs] of ends.entries()) {
    const { length } = windows[index] ?? [];
    const judgement = judgeRule(rule, values.slice(at, at + length), isCount(rule));
    at += length;
    const { next, change } = nextState(rule, state, judgement, endMs);
    state = next;
    const moment = new Date(clock.momentOf(endMs)).toISOString();
    const { verdict, ...bounds } = judgement;
    hours[verdict] += 1;
    if (change === 'opened') openings.push({ openedAt: moment, resolvedAt: null, ...bounds });
    const last = openings.at(-1);
    if (change === 'resolved' && last !== undefined) last.resolvedAt = moment;
  }
  return {
    days,
    fired: openings.length,
    hoursJudged: hours.fine + hours.breached,
    hoursBreached: hours.breached,
    hoursUnknown: hours.unknown,
    openings,
  };
}
