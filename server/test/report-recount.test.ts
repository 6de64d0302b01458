/**
 * Every number and breakdown in reports equals an independent recount of the events: for two
 * organizations, with logins, late and repeated events, and erased viewers, live and after a
 * rebuild.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { openEventLog, type LoggedEvent } from '../src/features/events/events.ts';
import { openDatabase } from '../src/platform/database/database.ts';
import { atEnd, silentLog } from './database.ts';
import { runCommand } from './processes.ts';
import { compareAnswers, Tally } from './reports/comparison.ts';
import { makeItems } from './reports/items.ts';
import {
  breakDown,
  presentBroken,
  splits,
  within,
  type Broken,
  type ReportName,
} from './reports/breakdown.ts';
import { counts, ofItem, ofVisits, overview, playback, type Happened } from './reports/recount.ts';
import {
  day,
  itemOf,
  nameOf,
  once,
  ownersOf,
  viewsOf,
  visitsOf,
  type Part,
} from './reports/views.ts';
import {
  inArrivalOrder,
  makePeople,
  makeTraffic,
  type Person,
  type TrafficItem,
} from './reports/traffic.ts';
import { isFullScale, scaled } from './scale.ts';
import { createOrganization, query } from './seed.ts';
import { eventually, startService, toUrl, type Reply } from './service.ts';
import { until } from './waiting.ts';

const eventCount = scaled(12_000, 300_000);
const hour = 3_600_000;
const now = Date.now();
const today = Math.floor(now / day) * day;
const startMs = today - 8 * day;
/** Older events go straight into the log: the API rejects events older than a day. */
const sentFromMs = now - 20 * hour;
const asDay = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const range = { startDate: asDay(startMs), endDate: asDay(today) };
const [from, to] = [startMs, today + day];
const top = 100;

const service = await startService();
const database = openDatabase({ connection: service.connection, poolSize: 2, log: silentLog });
atEnd(() => database[Symbol.asyncDispose]());

type Keys = { readonly secretKey: string; readonly publishableKey: string };
type Tenant = Keys & {
  readonly organizationId: string;
  readonly items: Map<string, TrafficItem>;
  readonly people: readonly Person[];
  readonly events: LoggedEvent[];
  /** The variants to which viewers were exposed. */
  readonly variants: Map<string, string>;
  experiment: string;
};

async function makeTenant(keys: Keys, name: string, seed: number, events: number): Promise<Tenant> {
  const [row] = await query(
    service,
    'select organization_id from organization where ($1 = $2) or name = $1',
    [name, 'first'],
  );
  const items = await makeItems(service, keys.secretKey, 20);
  const people = makePeople(scaled(300, 1_500));
  return {
    ...keys,
    organizationId: String(row?.['organization_id']),
    items,
    people,
    events: makeTraffic({
      seed,
      items: [...items.values()],
      people,
      eventCount: events,
      startMs,
      endMs: now - hour,
    }),
    variants: new Map(),
    experiment: '',
  };
}

/** Half of the people are exposed by requesting their configuration, like apps. */
async function expose(tenant: Tenant): Promise<void> {
  const call = (path: string, body?: object) =>
    service.call('POST', path, { key: tenant.secretKey, ...(body !== undefined && { body }) });
  const made = await call('/v1/experiments', {
    name: 'Break-downs',
    type: 'config',
    traffic: 1,
    metrics: ['watchTime'],
    variants: [
      { id: 'control', name: 'Control', traffic: 0.5 },
      { id: 'more', name: 'More', traffic: 0.5, config: { 'player.preload': 3 } },
    ],
  });
  tenant.experiment = String(made.body.data?.id ?? assert.fail(made.text));
  assert.equal((await call(`/v1/experiments/${tenant.experiment}/start`)).status, 200);
  for (const [index, { userId, devices }] of tenant.people.entries()) {
    const [deviceId] = devices;
    if (index % 2 === 0 || deviceId === undefined) continue;
    const ids = new URLSearchParams(userId === undefined ? { deviceId } : { userId });
    const answer = await service.call('GET', `/v1/config?${ids}`, { key: tenant.publishableKey });
    const [found] = answer.body.meta.experiments as { variantId: string }[];
    const name = userId === undefined ? `device ${deviceId}` : `user ${userId}`;
    tenant.variants.set(name, found?.variantId ?? assert.fail(answer.text));
  }
  await until(
    'all exposures to be stored',
    async () => Number((await query(service, 'select count(*) from exposure'))[0]?.['count']),
    (count) => count >= tenant.variants.size,
  );
}

/** In batches of many sizes; a third of the repeats differ from the original. */
async function deliver(tenant: Tenant): Promise<void> {
  const { organizationId, events } = tenant;
  const log = openEventLog(database.db);
  const past = events.filter(({ at }) => at < sentFromMs);
  const arriving = inArrivalOrder(past, { seed: 5, lateMs: 20 * hour });
  const sizes = [700, 30, 2_000, 1];
  for (let at = 0, turn = 0; at < arriving.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 100;
    const repeated = arriving
      .slice(Math.max(0, at - 40), at)
      .filter((_, index) => index % 8 === 0)
      .map((event, index) => (index % 3 === 0 ? { ...event, at: event.at + 7 * hour } : event));
    await log.append([{ organizationId, events: [...arriving.slice(at, at + size), ...repeated] }]);
    at += size;
  }
  const sent = inArrivalOrder(
    events.filter(({ at }) => at >= sentFromMs),
    { seed: 6, lateMs: 5 * hour },
  );
  for (let at = 0; at < sent.length; at += 90) {
    const batch = [...sent.slice(at, at + 90), ...sent.slice(Math.max(0, at - 5), at)];
    const body = {
      events: batch.map(({ at: moment, ...event }) => ({
        ...event,
        timestamp: new Date(moment).toISOString(),
      })),
    };
    const reply = await until(
      'the service to take the events',
      () => service.call('POST', '/v1/events/batch', { key: tenant.publishableKey, body }),
      // Senders must wait while counting lags behind.
      ({ status }) => status !== 503,
    );
    assert.deepEqual([reply.status, reply.body.data?.failed], [200, 0], reply.text);
  }
}

async function untilProjected(): Promise<void> {
  await eventually(
    'the projections to be up with the log',
    async () => {
      const [row] = await query(
        service,
        `select (select coalesce(sum(event_count), 0) from event_block)::int as logged,
           (select min(events) from
             (select sum(events) as events from projection group by name) done)::int as projected`,
      );
      return row?.['logged'] === row?.['projected'] ? true : null;
    },
    600_000,
  );
}

type Counted = {
  readonly part: Part;
  readonly events: readonly LoggedEvent[];
  readonly variantOf: (person: string | null) => string;
};

/** @param erased people whose views remain, without their identity, until a rebuild */
function recount(
  { events, variants }: Tenant,
  { erased = new Set<string>(), isRebuilt = false } = {},
): Counted {
  const all = once(events).filter((event) => !isRebuilt || !erased.has(nameOf(event) ?? ''));
  const owners = ownersOf(all);
  for (const [device, user] of owners) if (erased.has(user)) owners.delete(device);
  const personOf = (name: string) => (erased.has(name) ? null : (owners.get(name) ?? name));
  return {
    part: within({ views: viewsOf(all, personOf), visits: visitsOf(all, personOf) }, from, to),
    events: all,
    variantOf: (person) =>
      person === null || erased.has(person) ? '' : (variants.get(person) ?? ''),
  };
}

const tally = new Tally();

async function ask(tenant: Tenant, path: string, params: object = {}): Promise<Reply> {
  const asked = new URLSearchParams({ ...range, ...params });
  const reply = await service.call('GET', `/v1/analytics/${path}?${asked}`, {
    key: tenant.secretKey,
  });
  assert.equal(reply.status, 200, reply.text);
  return reply;
}

let comparisons = 0;
const reportNames = ['overview', 'quality', 'content', 'sources', 'engagement'] as const;

async function compareBreakdowns(tenant: Tenant, counted: Counted): Promise<void> {
  const hasVariants = tenant.experiment !== '';
  for (const [turn, by] of splits(hasVariants).entries()) {
    const broken = breakDown(counted.part, by, tenant.items, counted.variantOf);
    // All reports by single dimensions. Pairs alternate, with different ones in each comparison.
    const chosen = reportNames[(turn + comparisons) % reportNames.length] ?? 'overview';
    for (const report of by.length === 1 && isFullScale ? reportNames : [chosen]) {
      await compareBreakdown(tenant, report, broken, {});
    }
  }
  comparisons += 1;
  const [contentId = ''] = tenant.items.keys();
  const views = counted.part.views.filter((view) => view.contentId === contentId);
  for (const by of splits(hasVariants).slice(0, 16)) {
    const own = breakDown({ views, visits: [] }, by, tenant.items, counted.variantOf);
    await compareBreakdown(tenant, 'content', own, { path: `content/${contentId}` });
  }
}

async function compareBreakdown(
  tenant: Tenant,
  report: ReportName,
  broken: Broken,
  { path = report as string },
): Promise<void> {
  const breakdown = broken.by.join(',');
  const isByVariant = broken.by.includes('experimentVariant');
  const { body } = await ask(tenant, path, {
    breakdown,
    top,
    ...(isByVariant && { experiment: tenant.experiment }),
  });
  const found: unknown = path === 'content' ? body.meta['breakdown'] : body.data['breakdown'];
  compareAnswers(tally, found, presentBroken(report, broken, top), `${path} by ${breakdown}`);
}

/** Without a filter, events count in their own hour, including those without a viewer. */
async function compareSummaries(tenant: Tenant, { part, events }: Counted): Promise<void> {
  const happenedIn =
    (start: number, end: number, about?: string): Happened =>
    (kind) =>
      events.filter(
        (event) =>
          event.event === kind &&
          event.at >= start &&
          event.at < end &&
          (about === undefined || itemOf(event) === about),
      ).length;
  const buckets = (length: number, write: (at: number) => string) =>
    Array.from({ length: (to - from) / length }, (_, index) => {
      const begin = from + index * length;
      return {
        date: write(begin),
        begin,
        end: begin + length,
        part: within(part, begin, begin + length),
      };
    });
  const startups = (begin: number, end: number) =>
    events
      .filter(({ event, at }) => event === 'playStart' && at >= begin && at < end)
      .map(({ data }) => Number(data['startupTime']));
  for (const granularity of ['day', 'hour'] as const) {
    const times =
      granularity === 'day'
        ? buckets(day, asDay)
        : buckets(hour, (at) => new Date(at).toISOString());
    const compare = async (
      path: string,
      summary: unknown,
      point: (one: (typeof times)[number]) => object,
    ) => {
      const { data } = (await ask(tenant, path, { granularity })).body;
      const expected = {
        summary,
        timeseries: times.map((one) => ({ date: one.date, ...point(one) })),
      };
      const { summary: foundSummary, timeseries } = data as Record<string, unknown>;
      compareAnswers(
        tally,
        { summary: foundSummary, timeseries },
        expected,
        `${path} ${granularity}`,
      );
    };
    await compare('overview', overview(part, true, happenedIn(from, to)), (one) =>
      overview(one.part, true, happenedIn(one.begin, one.end)),
    );
    await compare('engagement', ofVisits(part, true), (one) => ofVisits(one.part, true));
    await compare('quality', playback(part, startups(from, to)), (one) =>
      playback(one.part, startups(one.begin, one.end)),
    );
  }
  const list = (await ask(tenant, 'content', { limit: 100 })).body.data as {
    contentId: string;
    metrics: unknown;
  }[];
  for (const { contentId, metrics } of list) {
    const views = part.views.filter((view) => view.contentId === contentId);
    const expected = ofItem({ views, visits: [] }, happenedIn(from, to, contentId));
    compareAnswers(tally, metrics, expected, `content ${contentId}`);
  }
}

/** A filter by each parameter, with its most frequent value. */
async function compareFilters(tenant: Tenant, counted: Counted): Promise<void> {
  const names = ['device', 'country', 'entryPoint', 'appVersion', 'tag', 'author', 'section'];
  for (const name of names) {
    const broken = breakDown(counted.part, [name], tenant.items, counted.variantOf);
    const [group] = broken.groups
      .filter((one) => one.names[0] !== '' && one.names[0] !== 'other')
      .toSorted((a, b) => b.views.length - a.views.length);
    assert.ok(group !== undefined);
    const filter = { [name]: group.names[0] };
    const { hasVisits } = broken;
    const summaryOf = async (path: string): Promise<unknown> =>
      (await ask(tenant, path, filter)).body.data.summary;
    const about = JSON.stringify(filter);
    compareAnswers(tally, await summaryOf('overview'), overview(group, hasVisits), about);
    compareAnswers(tally, await summaryOf('engagement'), ofVisits(group, hasVisits), about);
    compareAnswers(tally, await summaryOf('quality'), playback(group), about);
  }
}

/** New and returning viewers, and their days. */
async function comparePeople(tenant: Tenant, { part, events }: Counted): Promise<void> {
  const owners = ownersOf(events);
  const activeDays = new Map<string, Set<number>>();
  for (const event of events) {
    const name = nameOf(event);
    if (name === null) continue;
    const person = owners.get(name) ?? name;
    const days = activeDays.get(person) ?? new Set();
    activeDays.set(person, days.add(Math.floor(event.at / day) * day));
  }
  const all = [...activeDays.values()].map((days) => ({ days, first: Math.min(...days) }));
  const starts = Array.from({ length: (to - from) / day }, (_, index) => from + index * day);
  const cohorts = starts.map((start) => {
    const own = all.filter(({ first }) => first === start);
    const retention = [];
    for (let at = start; own.length > 0 && at <= today; at += day) {
      retention.push(own.filter(({ days }) => days.has(at)).length / own.length);
    }
    return { date: asDay(start), size: own.length, retention };
  });
  const retention = (await ask(tenant, 'retention')).body.data as unknown;
  compareAnswers(tally, retention, { cohorts }, 'retention');
  const watching = (days: number) => counts(within(part, to - days * day, to).views).uniqueViewers;
  const timeseries = starts.map((start) => {
    const active = all.filter(({ days }) => days.has(start));
    const newViewers = active.filter(({ first }) => first === start).length;
    return { date: asDay(start), newViewers, returningViewers: active.length - newViewers };
  });
  const expected = {
    date: asDay(today),
    dailyActiveViewers: watching(1),
    weeklyActiveViewers: watching(7),
    monthlyActiveViewers: watching(30),
    stickiness: watching(1) / watching(30),
    newViewers: all.length,
    timeseries,
  };
  const audience = (await ask(tenant, 'audience')).body.data as unknown;
  compareAnswers(tally, audience, expected, 'audience');
}

/** Written directly, because the runner omits diagnostics. */
function judge(): void {
  process.stdout.write(`${tally.report()}\n`);
  tally.assertNone();
}

const tenants: Tenant[] = [];

/** Three people who log in, on one device and on two. */
const erasedUsers = (tenant: Tenant): string[] =>
  tenant.people.flatMap(({ userId }, index) => (index < 3 && userId !== undefined ? [userId] : []));

async function erase(tenant: Tenant): Promise<void> {
  for (const userId of erasedUsers(tenant)) {
    const path = `/v1/users/${userId}/data`;
    const key = tenant.secretKey;
    assert.equal((await service.call('DELETE', path, { key })).status, 200);
    await eventually(
      `the erasure of ${userId}`,
      async () => {
        const { body } = await service.call('GET', path, { key });
        return body.data.status === 'complete' ? true : null;
      },
      300_000,
    );
  }
}

const namesOfErased = (tenant: Tenant) =>
  new Set(erasedUsers(tenant).map((userId) => `user ${userId}`));

describe(`${eventCount} events are reported as recounted`, () => {
  before(async () => {
    const other = await createOrganization(service, 'other');
    tenants.push(
      await makeTenant(service, 'first', 11, Math.ceil(eventCount * 0.7)),
      await makeTenant(other, 'other', 12, Math.ceil(eventCount * 0.3)),
    );
    const [first] = tenants;
    if (first !== undefined) await expose(first);
    await Promise.all(tenants.map((tenant) => deliver(tenant)));
    await untilProjected();
  });

  test('live', async () => {
    for (const tenant of tenants) {
      const counted = recount(tenant);
      await compareSummaries(tenant, counted);
      await comparePeople(tenant, counted);
      await compareFilters(tenant, counted);
      await compareBreakdowns(tenant, counted);
    }
    judge();
  });

  test('after erasures, which keep what was watched but not by whom', async () => {
    for (const tenant of tenants) {
      await erase(tenant);
      const counted = recount(tenant, { erased: namesOfErased(tenant) });
      await compareFilters(tenant, counted);
      await compareBreakdowns(tenant, counted);
    }
    judge();
  });

  test('after a rebuild, which finds nothing of erased viewers', async () => {
    const env = { DATABASE_URL: toUrl(service.connection), REELFEED_DATA_DIR: service.dataDir };
    const { code, stderr } = await runCommand(['rebuild', 'all'], { env });
    assert.equal(code, 0, stderr);
    await untilProjected();
    for (const tenant of tenants) {
      const counted = recount(tenant, { erased: namesOfErased(tenant), isRebuilt: true });
      await compareSummaries(tenant, counted);
      await comparePeople(tenant, counted);
      await compareFilters(tenant, counted);
      await compareBreakdowns(tenant, counted);
    }
    judge();
  });
});
