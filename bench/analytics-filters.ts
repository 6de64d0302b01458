/**
 * Does a report with a filter over a month of ten million events respond within two seconds?
 * Creates the facts of two months, since an overview compares, as projections would write them, and
 * requests each report over HTTP with filters that match many and few events.
 */
import { sql } from 'kysely';
import { encodeFacts } from '../server/src/features/analytics/facts/codec.ts';
import { FactsBuilder, countryNumber } from '../server/src/features/analytics/facts/facts.ts';
import { insertFactChunks } from '../server/src/features/analytics/facts/queries.ts';
import {
  columnIndex,
  emptyAudienceCounts,
} from '../server/src/features/analytics/projections/engagement/contribution.ts';
import { hashLabel } from '../server/src/features/analytics/projections/engagement/label.ts';
import { writeActivity } from '../server/src/features/analytics/projections/retention/activity.ts';
import { memberOf } from '../server/src/features/analytics/statistics/viewer-key.ts';
import { bytesArray } from '../server/src/platform/database/binary-arrays.ts';
import { inTransaction } from '../server/src/platform/database/database.ts';
import { dayMs } from '../server/src/platform/values/time.ts';
import { newUuid7 } from '../server/src/platform/values/uuid7.ts';
import { insertReadyItems } from './lib/catalogue.ts';
import { report } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';

const eventsOfMonth = Number(process.env['EVENTS'] ?? 10_000_000);
const eventsOfView = 8;
const viewsOfSession = 10;
const monthDays = 30;
const viewers = 200_000;
const maxMs = 2_000;
/** The state left by live passes: full chunks, and some that have not been merged yet. */
const fullChunkRows = 10_000;
const smallChunks = { count: 30, rows: 100 };

await using service = await startBenchService({ REELFEED_ROLES: 'api' });
const { db } = service.database;
await insertReadyItems(db, 1, 10_000);
const { rows: items } = await sql<{ organization_id: string; content_id: string }>`
  select organization_id, content_id from content`.execute(db);
const organizationId = items[0]?.organization_id ?? '';

const countries = 'DE FR US BR JP IN GB IT ES MX PL NL SE TR ID VN PH TH AR CO'.split(' ');
const entryPoints = ['feed', 'search', 'share', 'direct', ''];
const versions = ['2.0.0', '2.1.0', '2.2.0', '2.3.0', '3.0.0'];
const keys = Array.from({ length: viewers }, () => Buffer.from(newKey(), 'latin1'));
const members = keys.map((key) => memberOf(key.toString('latin1')));
const firstDayMs = Math.floor(Date.now() / dayMs) * dayMs - (2 * monthDays - 1) * dayMs;

function newKey(): string {
  return String.fromCharCode(...Array.from({ length: 8 }, () => Math.floor(Math.random() * 256)));
}

function pick<T>(values: readonly T[], power = 1): T {
  return values[Math.floor(values.length * Math.random() ** power)] as T;
}

function addView(builder: FactsBuilder): void {
  const counts = emptyAudienceCounts();
  const watchMs = Math.floor(Math.random() * 20_000);
  const set = (name: keyof typeof columnIndex, value: number) => {
    counts[columnIndex[name]] = value;
  };
  for (const name of [
    'impressions',
    'plays',
    'views',
    'attempted_views',
    'startable_views',
  ] as const)
    set(name, 1);
  set('watch_ms', watchMs);
  set('hooked_views', Number(watchMs >= 3_000));
  set('engaged_views', Number(watchMs >= 10_000));
  set('completions', Number(watchMs >= 15_000));
  set('completed_plays', Number(watchMs >= 15_000));
  set('measured_views', 1);
  set('watched_share', Math.floor((watchMs / 15_000) * 1e7));
  if (Math.random() < 0.1) set('likes', 1);
  builder.add({
    ...someone(),
    contentId: pick(items, 3.3).content_id,
    feedId: '',
    sharePlatform: '',
    rendition: hashLabel('rendition', pick(['720p', '1080p', '480p'])),
    codec: hashLabel('codec', 'h264'),
    errorCode: '',
    errorMessage: '',
    position: 1 + Math.floor(Math.random() * 30),
    startup: 80 + Math.floor(Math.random() * 400),
    reached: Math.min(16, Math.floor(watchMs / 1_000) + 1),
    isWatched: 1,
    counts,
  });
}

const noViewLabels = {
  feedId: '',
  sharePlatform: '',
  rendition: '',
  codec: '',
  errorCode: '',
  errorMessage: '',
};

function addSession(builder: FactsBuilder): void {
  const counts = emptyAudienceCounts();
  counts[columnIndex.sessions] = 1;
  counts[columnIndex.session_ms] = Math.floor(Math.random() * 600_000);
  builder.add({
    ...someone(),
    contentId: '',
    startup: 0,
    reached: 0,
    isWatched: 0,
    position: 0,
    ...noViewLabels,
    counts,
  });
}

function someone() {
  const entryPoint = pick(entryPoints);
  return {
    weight: 1,
    member: pick(members, 2),
    hour: Math.floor(Math.random() * 24),
    device: 1 + Math.floor(Math.random() * 3),
    country: countryNumber(pick(countries, 2)),
    entryPoint: entryPoint === '' ? '' : hashLabel('entryPoint', entryPoint),
    appVersion: hashLabel('appVersion', pick(versions)),
  };
}

async function fillDay(day: number): Promise<number> {
  const views = Math.round(eventsOfMonth / monthDays / eventsOfView);
  const small = smallChunks.count * smallChunks.rows;
  const sizes = Array.from({ length: smallChunks.count }, () => smallChunks.rows);
  for (let left = views - small; left > 0; left -= fullChunkRows) {
    sizes.push(Math.min(left, fullChunkRows));
  }
  let bytes = 0;
  for (const size of sizes) {
    const builder = new FactsBuilder();
    for (let view = 0; view < size; view += 1) {
      addView(builder);
      if (view % viewsOfSession === 0) addSession(builder);
    }
    const body = encodeFacts(builder.build());
    bytes += body.length;
    const level = size < fullChunkRows ? 0 : 2;
    const chunk = {
      organizationId,
      dayMs: day,
      chunk: newUuid7(),
      level,
      rows: builder.rows,
      body,
    };
    await inTransaction(db, (tx) => insertFactChunks(tx, [chunk]));
  }
  return bytes;
}

async function fillActivity(): Promise<void> {
  const first = firstDayMs / dayMs;
  const days = Array.from({ length: 2 * monthDays }, (_, index) => first + index);
  const activities = keys.map(() => writeActivity(days.slice(Math.floor(Math.random() * 40))));
  await sql`
    insert into viewer_activity (viewer_key, organization_id, activity)
    select key, ${organizationId}, activity
    from unnest(${bytesArray(keys)}::bytea[], ${bytesArray(activities)}::bytea[]) as given (key, activity)
    on conflict do nothing`.execute(db);
}

let bytes = 0;
for (let day = 0; day < 2 * monthDays; day += 1) bytes += await fillDay(firstDayMs + day * dayMs);
await fillActivity();

async function ask(path: string): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(`${service.url}/v1/analytics/${path}`, {
    headers: { authorization: `Bearer ${service.secretKey}` },
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
  return performance.now() - startedAt;
}

/** The first response time, and the median of five more. */
async function measure(path: string): Promise<{ first: number; middle: number }> {
  const first = await ask(path);
  const more: number[] = [];
  for (let turn = 0; turn < 5; turn += 1) more.push(await ask(path));
  return { first, middle: more.toSorted((a, b) => a - b)[2] ?? Number.NaN };
}

const asked = [
  'overview?device=ios',
  'overview?entryPoint=search&appVersion=3.0.0&country=DE',
  'overview?tag=tag-3&granularity=hour',
  'content?appVersion=2.1.0&sort=uniqueViewers',
  `content/${items[0]?.content_id}?entryPoint=feed`,
  'engagement?device=ios&segment=tag',
  'quality?appVersion=3.0.0',
  'movers?entryPoint=feed',
  'sources?country=US',
  'audience?entryPoint=search',
  'retention?entryPoint=search',
  'overview?breakdown=author,country',
  'overview?breakdown=position,appVersion&device=ios',
  'content?breakdown=device,country&limit=1',
  'engagement?breakdown=country,appVersion',
  'quality?breakdown=appVersion,device',
  'sources?breakdown=entryPoint,country&top=100',
];
const lines = [];
for (const path of asked) {
  const endDate = new Date(firstDayMs + (2 * monthDays - 1) * dayMs).toISOString().slice(0, 10);
  const startDate = new Date(firstDayMs + monthDays * dayMs).toISOString().slice(0, 10);
  // Hourly reports cover at most a month.
  const { first, middle } = await measure(`${path}&startDate=${startDate}&endDate=${endDate}`);
  lines.push({
    what: path.replace(/[0-9a-f-]{36}/, '{id}'),
    figure: `${Math.round(middle)} ms, the first ${Math.round(first)} ms`,
    limit: `≤ ${maxMs} ms`,
    kept: Math.max(first, middle) <= maxMs,
  });
}
report([
  { what: 'events of a month', figure: eventsOfMonth.toLocaleString('en') },
  { what: 'facts of two months', figure: `${Math.round(bytes / 2 ** 20)} MiB` },
  ...lines,
]);
