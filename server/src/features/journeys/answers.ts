/** Converts a request body into a question, and answers it. */
import type { Static } from 'typebox';
import type { Db } from '../../platform/database/database.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import { dayMs } from '../../platform/values/time.ts';
import {
  readFirstDays,
  readLocalNow,
  readPeriod,
  type Period,
  type VariantsOf,
} from '../analytics/analytics.ts';
import { Cohorts } from './cohorts.ts';
import { CustomReport } from './custom.ts';
import { askOnly, readSelection } from './dimensions.ts';
import { Funnel } from './funnel.ts';
import { checkProperty, readDeclared, readMatcher } from './matcher.ts';
import { Paths } from './paths.ts';
import { selectItemLabels, type Days } from './queries.ts';
import { ask } from './scan.ts';
import type { CohortBody, CustomBody, FunnelBody, PathBody } from './schemas.ts';

export type Asking = {
  readonly db: Db;
  readonly organizationId: OrganizationId;
  readonly sessionTimeoutMs: number;
  readonly variantsOf: VariantsOf;
};

const defaultLimit = 10;

/** The period of a body, also as absolute times and with the organization's clock. */
async function readRange({ db, organizationId }: Asking, body: Parameters<typeof readPeriod>[0]) {
  const now = await readLocalNow(db, organizationId);
  const period: Period = readPeriod(body, now, '');
  const { clock } = now;
  const moments: Days = {
    startMs: clock.momentOf(period.startMs),
    endMs: clock.momentOf(period.endMs),
  };
  return { period, moments, clock, nowMs: now.nowMs };
}

export async function answerFunnel(asking: Asking, body: Static<typeof FunnelBody>) {
  const { db, organizationId, sessionTimeoutMs } = asking;
  const { moments } = await readRange(asking, body);
  const given = { db, organizationId, declared: await readDeclared(db, organizationId) };
  const steps = [];
  for (const [index, step] of body.steps.entries()) {
    steps.push(await readMatcher(given, step, `steps[${index}].`));
  }
  const { windowHours = null, limit = defaultLimit } = body;
  const { breakdown, wanted } = await readSelection(asking, body, body.breakdown);
  const funnel = new Funnel({ moments, steps, windowHours, breakdown, limit, sessionTimeoutMs });
  await ask(db, organizationId, askOnly(funnel.question, wanted));
  return funnel.answer();
}

export async function answerPaths(asking: Asking, body: Static<typeof PathBody>) {
  const { db, organizationId, sessionTimeoutMs } = asking;
  const { moments } = await readRange(asking, body);
  const given = { db, organizationId, declared: await readDeclared(db, organizationId) };
  const { direction = 'after', steps = 3, byItem = false, collapse = true } = body;
  const { breakdown, wanted } = await readSelection(asking, body, body.breakdown);
  const paths = new Paths({
    moments,
    anchor: await readMatcher(given, body.anchor, 'anchor.'),
    direction,
    steps,
    byItem,
    exclude: new Set(body.exclude ?? ['watchProgress']),
    collapse,
    breakdown,
    limit: body.limit ?? defaultLimit,
    sessionTimeoutMs,
  });
  await ask(db, organizationId, askOnly(paths.question, wanted));
  return paths.answer();
}

export async function answerCohorts(asking: Asking, body: Static<typeof CohortBody>) {
  const { db, organizationId } = asking;
  const { period, moments, clock, nowMs } = await readRange(asking, body);
  const given = { db, organizationId, declared: await readDeclared(db, organizationId) };
  const { by = 'day', viewers = 'new', granularity = 'day', periods = 7 } = body;
  const { breakdown, wanted } = await readSelection(asking, body, body.breakdown);
  const firstDay = period.startMs / dayMs;
  const firstDays = viewers === 'new' ? await readFirstDays(db, organizationId) : null;
  const cohorts = new Cohorts({
    moments,
    clock,
    by,
    first: await readMatcher(given, body.first ?? {}, 'first.'),
    returning: await readMatcher(given, body.returning ?? {}, 'returning.'),
    daysOfPeriod: granularity === 'week' ? 7 : 1,
    periods,
    lastDay: Math.floor(Math.min(period.endMs - 1, nowMs) / dayMs),
    takes: (member) => (firstDays?.get(member) ?? firstDay) >= firstDay,
    breakdown,
    limit: body.limit ?? defaultLimit,
  });
  await ask(db, organizationId, askOnly(cohorts.question, wanted));
  if (by === 'tag' || by === 'author') {
    cohorts.relabel(await selectItemLabels(db, organizationId, by, cohorts.names));
  }
  return cohorts.answer();
}

export async function answerCustom(asking: Asking, body: Static<typeof CustomBody>) {
  const { db, organizationId } = asking;
  const { period, moments, clock } = await readRange(asking, body);
  const declared = await readDeclared(db, organizationId);
  const { event } = body.events;
  for (const name of ['property', 'breakdown'] as const) {
    const field = body[name];
    if (field !== undefined) checkProperty(declared, { event, field }, name);
  }
  const { property = null, breakdown = null, limit = defaultLimit } = body;
  const { wanted } = await readSelection(asking, body);
  const report = new CustomReport({
    moments,
    period,
    clock,
    events: await readMatcher({ db, organizationId, declared }, body.events, 'events.'),
    property,
    breakdown,
    limit,
  });
  await ask(db, organizationId, askOnly(report.question, wanted));
  return report.answer();
}
