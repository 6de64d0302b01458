/**
 * A service that looks as if it had run for many days: three organizations whose events go through
 * the real projections, and copies of the third.
 *
 *   own     the same in every world, so that it shows the cost of age and of neighbours
 *   grown   has sent the same events a day all the time, and has kept all of its items
 *   other   the template of all further organizations
 *
 * Events keep their order of arrival: the log interleaves the blocks of all organizations, as if
 * each transaction had stored a hundred of them.
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { Pool } from 'pg';
import { openEventLog } from '../../server/src/features/events/events.ts';
import { createKey, generateKey } from '../../server/src/features/keys/keys.ts';
import {
  inTransaction,
  poolConnection,
  type Db,
} from '../../server/src/platform/database/database.ts';
import { encodeBlock } from '../../server/src/platform/event-log/block-codec.ts';
import type { OrganizationId } from '../../server/src/platform/values/ids.ts';
import { connectionToRunningServer } from '../../server/src/platform/postgres/running-server.ts';
import { dayMs } from '../../server/src/platform/values/time.ts';
import { eventsOfDay, eventsOfDayOfOthers, fillLedger, storeDay, today } from './aged-log.ts';
import { insertReadyItemsOf } from './catalogue.ts';
import { eventBlocks } from './event-traffic.ts';
import { copyOrganization } from './organization-copies.ts';
import { startBenchService, type BenchService } from './service.ts';

export type WorldSize = {
  readonly days: number;
  /** Besides `own` and `grown`. */
  readonly organizations: number;
  readonly itemsOfOthers: number;
  readonly itemsOfGrown: number;
};

export type AgedOrganization = {
  readonly organizationId: string;
  readonly secretKey: string;
  readonly publishableKey: string;
  /** The items that its viewers watch today, at most 2,000. */
  readonly contentIds: readonly string[];
};

export type AgedWorld = AsyncDisposable & {
  readonly service: BenchService;
  readonly own: AgedOrganization;
  readonly grown: AgedOrganization;
  readonly stored: { readonly events: number; readonly items: number; readonly bytes: number };
};

export const viewersOfOrganization = 2_000;
const ownDays = 14;
const itemsOfOwn = 2_000;
/** Maximum number of events in a block, as after joining. */
const blockEvents = 200;
const partsOfDay = 4;
const partMs = dayMs / partsOfDay;

/** Fills the folder of a world, unless it is already filled. */
export async function seedAgedWorld(dataDir: string, size: WorldSize): Promise<void> {
  const keysFile = path.join(dataDir, keysName);
  if (existsSync(keysFile)) return;
  await mkdir(dataDir, { recursive: true });
  const own = { secretKey: generateKey('secret'), publishableKey: generateKey('publishable') };
  const start = (roles: string, more?: Env) =>
    startIn(dataDir, own, { REELFEED_ROLES: roles, ...more });
  const grown = await fillWith(start, size);
  await multiplyWith(start, size);
  await writeFile(keysFile, JSON.stringify({ own, grown }));
}

export async function openAgedWorld(dataDir: string): Promise<AgedWorld> {
  const text = await readFile(path.join(dataDir, keysName), 'utf8');
  const keys = JSON.parse(text) as { own: Keys; grown: Keys };
  const service = await startIn(dataDir, keys.own, { REELFEED_ROLES: 'api,worker' });
  const { db } = service.database;
  return {
    service,
    own: await organizationOf(db, await ownId(db), keys.own),
    grown: await organizationOf(db, 'org_grown', keys.grown),
    stored: await countStored(db),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

const keysName = 'bench-keys.json';
type Keys = { secretKey: string; publishableKey: string };
type Env = Record<string, string>;

function startIn(dataDir: string, keys: Keys, env: Env): Promise<BenchService> {
  return startBenchService({
    REELFEED_DATA_DIR: dataDir,
    REELFEED_SECRET_KEY: keys.secretKey,
    REELFEED_PUBLISHABLE_KEY: keys.publishableKey,
    REELFEED_RTMP_PORT: '0',
    ...env,
  });
}

type Start = (roles: string, more?: Env) => Promise<BenchService>;

/**
 * Makes the service count the events of the three organizations.
 *
 * @returns the keys of `grown`
 */
async function fillWith(start: Start, size: WorldSize) {
  await using service = await start('api,worker', { REELFEED_LEARNING_INTERVAL: '20s' });
  const { db } = service.database;
  await sql`
    create unlogged table seeded (organization_id text, received_at timestamptz,
      event_count integer, events bytea)`.execute(db);
  const own = await ownId(db);
  await sql`insert into organization (organization_id, name) values ('org_grown', 'Grown'),
    ('org_other', 'Other')`.execute(db);
  const items = { [own]: itemsOfOwn, org_grown: size.itemsOfGrown, org_other: size.itemsOfOthers };
  for (const [organizationId, to] of Object.entries(items)) {
    const prefix = organizationId.slice(4, 9).padEnd(5, '0');
    await insertReadyItemsOf(db, organizationId, { from: 1, to, prefix });
  }
  const ownShare = Math.min(ownDays, size.days);
  await appendDays(db, { organizationId: own, days: ownShare, perDay: eventsOfDay });
  await appendDays(db, { organizationId: 'org_grown', days: size.days, perDay: eventsOfDay });
  await appendDays(db, {
    organizationId: 'org_other',
    days: size.days,
    perDay: eventsOfDayOfOthers,
  });
  note('events are appended');
  await untilProjected(service);
  note('events are counted');
  await untilModelled(db);
  return {
    secretKey: await keyOf(db, 'org_grown', 'secret'),
    publishableKey: await keyOf(db, 'org_grown', 'publishable'),
  };
}

async function keyOf(db: Db, organizationId: OrganizationId, type: 'secret' | 'publishable') {
  const request = { type, name: 'bench', expiresAt: null };
  return (await inTransaction(db, (tx) => createKey(tx, organizationId, request))).key;
}

type Days = { organizationId: string; days: number; perDay: number };

/**
 * Stores the events of several days up to yesterday. Their reception time is now, because
 * projections do not look for new blocks of past days. The table `seeded` contains the time at
 * which they would have been received, soon after they happened.
 */
async function appendDays(db: Db, { organizationId, days, perDay }: Days): Promise<void> {
  const all = await contentIdsOf(db, organizationId);
  for (let day = days; day >= 1; day -= 1) {
    const contentIds = watchedOn(all, (days - day) / Math.max(1, days - ownDays));
    for (let part = 1; part <= partsOfDay; part += 1) {
      const endMs = today - day * dayMs + part * partMs - 60_000;
      const total = Math.round(perDay / partsOfDay);
      const sessions = Math.ceil(total / 250);
      const viewers = viewersOfOrganization;
      const traffic = { total, blockEvents, sessions, contentIds, endMs, viewers };
      const blocks = [];
      for (const events of eventBlocks(traffic)) {
        blocks.push({ count: events.length, bytes: await encodeBlock(events) });
      }
      await sql`
        with given as (
          insert into seeded (organization_id, received_at, event_count, events)
          select ${organizationId}, to_timestamp(${endMs}::float8 / 1000), count, bytes
          from unnest(${blocks.map(({ count }) => count)}::int[],
            ${blocks.map(({ bytes }) => bytes)}::bytea[]) as block (count, bytes)
          returning organization_id, event_count, events)
        insert into event_block (organization_id, event_count, events)
        select * from given`.execute(db);
    }
  }
}

/**
 * Viewers watch the newest items that existed at `moment`, which is 0 at the beginning and 1 from
 * two weeks ago on, so that reports of these two weeks do not depend on the age.
 */
function watchedOn(contentIds: readonly string[], moment: number): readonly string[] {
  const from = Math.round(Math.max(0, contentIds.length - itemsOfOwn) * Math.min(1, moment));
  // `eventBlocks` prefers the first items.
  return contentIds.slice(from, from + itemsOfOwn).toReversed();
}

/** Copies `other`, and rewrites the log of all organizations in the order of arrival. */
async function multiplyWith(start: Start, size: WorldSize): Promise<void> {
  await using service = await start('api');
  const pool = new Pool({
    ...poolConnection(await connectionToRunningServer(service.dataDir)),
    max: 1,
    idleTimeoutMillis: 0,
    options: '-c synchronous_commit=off -c maintenance_work_mem=512MB -c timezone=UTC',
  });
  // Not `openDatabase`, which cancels statements that take longer than the service allows.
  const db: Db = new Kysely({ dialect: new PostgresDialect({ pool }) });
  await using _ = { [Symbol.asyncDispose]: () => db.destroy() };
  const copies = Array.from({ length: size.organizations - 1 }, (_, index) => `org_other${index}`);
  await copyOrganization(db, 'org_other', copies);
  note('organizations are copied');
  await sql`truncate event_block`.execute(db);
  let transaction = 100;
  for (let day = size.days; day >= 1; day -= 1) {
    transaction += await storeDay(db, { day, transaction, copies });
    if (day % 10 === 1) note(`the log is stored up to day ${day}`);
  }
  await sql`drop table seeded`.execute(db);
  await fillLedger(db, size.organizations);
  // Marks the rewritten log as read and joined.
  await sql`update event_block_joining set joined_to = pg_current_xact_id()`.execute(db);
  const position = JSON.stringify(await openEventLog(db).end());
  await sql`
    update projection set position = ${position}::jsonb, revision = revision + 1,
      fence = revision + 1`.execute(db);
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public'`.execute(db);
  await sql`vacuum analyze ${sql.join(rows.map(({ name }) => sql.table(name)))}`.execute(db);
  await sql`checkpoint`.execute(db);
}

async function ownId(db: Db): Promise<string> {
  const { rows } = await sql<{ organization_id: string }>`
    select organization_id from organization order by created_at limit 1`.execute(db);
  return rows[0]?.organization_id ?? '';
}

async function contentIdsOf(db: Db, organizationId: string): Promise<string[]> {
  const { rows } = await sql<{ content_id: string }>`
    select content_id from content where organization_id = ${organizationId}
    order by created_at`.execute(db);
  return rows.map((row) => row.content_id);
}

async function organizationOf(
  db: Db,
  organizationId: string,
  { secretKey, publishableKey }: Keys,
): Promise<AgedOrganization> {
  const contentIds = watchedOn(await contentIdsOf(db, organizationId), 1);
  return { organizationId, secretKey, publishableKey, contentIds };
}

async function countStored(db: Db) {
  const { rows } = await sql<{ events: number; items: number; bytes: number }>`
    select (select sum(event_count) from event_block)::float8 as events,
      (select count(*) from content)::float8 as items,
      pg_database_size(current_database())::float8 as bytes`.execute(db);
  return rows[0] ?? { events: 0, items: 0, bytes: 0 };
}

/** Waits until all projections have counted everything. */
export async function untilProjected({ url }: BenchService): Promise<void> {
  for (let calm = 0; calm < 2;) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const text = await (await fetch(`${url}/metrics`)).text();
    const behind = [...text.matchAll(/^projection_lag_blocks\{.*\} (\d+)/gm)];
    const isDone = behind.length > 0 && behind.every((match) => match[1] === '0');
    calm = isDone ? calm + 1 : 0;
  }
}

/** Waits until the template has its models, which are copied as well. */
async function untilModelled(db: Db): Promise<void> {
  for (let turn = 0; turn < 180; turn += 1) {
    const { rows } = await sql<{ done: boolean }>`
      select exists (select from watch_model where organization_id = 'org_other')
        and exists (select from taste_model where organization_id = 'org_other') as done`.execute(
      db,
    );
    if (rows[0]?.done === true) return;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  throw new Error('the models of the template were not made');
}

/** Seeding takes a long time, so it reports its progress. */
function note(what: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${what}\n`);
}
