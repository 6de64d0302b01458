/** The real feed over HTTP: viewers read pages and send events about them. */
import { sql } from 'kysely';
import { createOrganization } from '../../server/src/features/organizations/organizations.ts';
import { inTransaction } from '../../server/src/platform/database/database.ts';
import { QualityCollector, type QualityFigures } from './quality-figures.ts';
import { eventsOf, pageSize, type Visit } from './quality-visits.ts';
import { clipsPerDay, insertClips, makeClip, type Clip, type World } from './quality-world.ts';
import { median } from './report.ts';
import type { BenchService } from './service.ts';

export type Tenant = {
  readonly organizationId: string;
  readonly secretKey: string;
  readonly publishableKey: string;
};

export type OurFigures = QualityFigures & {
  /** Median share of the day's impressions until a new clip has `discoveredAt` of them. */
  readonly discovery: number;
  /** Whether the model of watch time was used, or why not. */
  readonly model: string;
};

export const discoveredAt = 100;
const atATime = 12;

export async function openTenant(service: BenchService, name: string): Promise<Tenant> {
  const made = await inTransaction(service.database.db, (tx) => createOrganization(tx, name));
  if (made.secretKey === null || made.publishableKey === null) throw new Error('keys are missing');
  const { rows } = await sql<{ id: string }>`
    select organization_id as id from organization where name = ${name}`.execute(
    service.database.db,
  );
  const { secretKey, publishableKey } = made;
  return { organizationId: rows[0]?.id ?? '', secretKey, publishableKey };
}

export async function playOurs(
  service: BenchService,
  tenant: Tenant,
  world: World,
  visits: readonly Visit[],
  objective: 'weights' | 'learned',
): Promise<OurFigures> {
  await call(service, tenant.secretKey, '/v1/ranking/config', 'PUT', { objective });
  const { db } = service.database;
  const { organizationId } = tenant;
  await insertClips(db, organizationId, world.clips);
  const byId = new Map(world.clips.map((clip) => [clip.id, clip]));
  const collector = new QualityCollector(world);
  const fresh = new Map<Clip, { since: number; shown: number }>();
  const took: number[] = [];
  const firstRated = visits.findIndex(({ number }) => number >= world.visitsBefore);
  const rated = visits.length - firstRated;
  let impressions = 0;
  for (let from = 0; from < visits.length;) {
    // No viewer's next visit starts before the events of the previous one are processed.
    const until = from < firstRated ? Math.min(from + atATime, firstRated) : from + atATime;
    if (from === firstRated) {
      await untilFitted(service, tenant);
      if (objective === 'learned') await untilTrained(service, tenant);
    }
    const share = (from - firstRated) / rated;
    if (share >= 0 && share < 0.9 && fresh.size < Math.ceil((share / 0.9) * clipsPerDay)) {
      const clip = makeClip(world.name, world.seed, `new-${fresh.size}`, 0);
      await insertClips(db, organizationId, [clip]);
      byId.set(clip.id, clip);
      fresh.set(clip, { since: impressions, shown: 0 });
    }
    const together = visits.slice(from, until);
    const pages = await Promise.all(
      together.map((visit) => playVisit(service, tenant, world, visit, byId)),
    );
    for (const [index, visit] of together.entries()) {
      const page = pages[index] ?? [];
      for (const clip of page) {
        impressions += 1;
        const news = fresh.get(clip);
        if (news === undefined) continue;
        news.shown += 1;
        if (news.shown === discoveredAt) took.push(impressions - news.since);
      }
      collector.addPage(visit.viewer, visit.number, page);
    }
    from = until;
  }
  const never = Array.from({ length: fresh.size - took.length }, () => rated * pageSize);
  const { state, reason } = await readModel(service, tenant);
  return {
    ...collector.figures,
    discovery: median([...took, ...never]) / (rated * pageSize),
    model: reason ?? state,
  };
}

async function playVisit(
  service: BenchService,
  tenant: Tenant,
  world: World,
  visit: Visit,
  byId: ReadonlyMap<string, Clip>,
): Promise<Clip[]> {
  const { viewer } = visit;
  const query = `limit=${pageSize}&userId=${viewer.name}&country=${viewer.country}`;
  const body = (await call(service, tenant.publishableKey, `/v1/feed?${query}`)) as {
    data: { id: string }[];
    meta: { feedId: string };
  };
  const page = body.data.flatMap(({ id }) => byId.get(id) ?? []);
  await send(service, tenant, eventsOf(world, visit, page, body.meta.feedId));
  return page;
}

export async function send(
  service: BenchService,
  { publishableKey }: Tenant,
  events: readonly object[],
): Promise<void> {
  for (let from = 0; from < events.length; from += 100) {
    const body = { events: events.slice(from, from + 100) };
    await call(service, publishableKey, '/v1/events/batch', 'POST', body);
  }
}

export async function call(
  { url }: BenchService,
  key: string,
  path: string,
  method = 'GET',
  body?: object,
): Promise<unknown> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** Waits for the fits that would happen during the night between the days. */
async function untilFitted(service: BenchService, { organizationId }: Tenant): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const { rows } = await sql<{ isFitted: boolean }>`
      select watched_until >= (select max(last_at) from feed_viewer
        where organization_id = ${organizationId}) as "isFitted"
      from taste_model where organization_id = ${organizationId}`.execute(service.database.db);
    if (rows[0]?.isFitted === true) break;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  // Processes check for a new model every second.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
}

type Model = {
  readonly state: string;
  readonly reason: string | null;
  readonly trainedAt: string | null;
};

async function readModel(service: BenchService, { secretKey }: Tenant): Promise<Model> {
  const answer = (await call(service, secretKey, '/v1/ranking/config')) as {
    data: { model: Model };
  };
  return answer.data.model;
}

/** Waits for a model trained on the whole previous day. */
async function untilTrained(service: BenchService, tenant: Tenant): Promise<void> {
  const { db } = service.database;
  await sql`
    update watch_model set train_ms = 0
    where organization_id = ${tenant.organizationId}`.execute(db);
  const since = new Date(Date.now() + 1_000).toISOString();
  for (let tries = 0; tries < 300; tries += 1) {
    const { trainedAt } = await readModel(service, tenant);
    if (trainedAt !== null && trainedAt > since) break;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
