/**
 * How long does loading an index of 100,000 items take, and how much memory do items and viewers
 * use?
 */
import { sql } from 'kysely';
import v8 from 'node:v8';
import vm from 'node:vm';
import { FeedIndex } from '../server/src/features/feed/items/feed-index.ts';
import { loadStatistics } from '../server/src/features/feed/items/statistics-loader.ts';
import { ViewerProfiles } from '../server/src/features/feed/viewers/viewer-profiles.ts';
import { emptyEncounter, writeEncounters } from '../server/src/features/feed/viewers/encounter.ts';
import { viewerKeyOf } from '../server/src/features/analytics/analytics.ts';
import { ViewerSecrets } from '../server/src/features/organizations/organizations.ts';
import type { OrganizationId } from '../server/src/platform/values/ids.ts';
import { createLogger } from '../server/src/platform/logging/logging.ts';
import { insertReadyItems } from './lib/catalogue.ts';
import { report } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';

const items = 100_000;
const viewers = Number(process.env['BENCH_VIEWERS'] ?? 10_000);
const itemsEach = 100;

v8.setFlagsFromString('--expose-gc');
const collectGarbage = vm.runInNewContext('gc') as () => void;
/** Bytes in use after a garbage collection, on the heap and outside it. */
function usedBytes(): number {
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

await using service = await startBenchService({ REELFEED_ROLES: 'api,worker' });
const { db } = service.database;
await insertReadyItems(db, 1, items);
// Every item has been seen, so that the counters are read as well.
await sql`
  insert into content_counter (organization_id, grain, period, content_id, impressions, plays,
    completions, completed_plays, likes)
  select organization_id, 'day', date_trunc('day', now() at time zone 'UTC') at time zone 'UTC',
    content_id, 50, 30, 20, 20, 3 from content`.execute(db);
const { rows } = await sql<{ organization_id: OrganizationId }>`
  select organization_id from organization`.execute(db);
const organizationId = rows[0]?.organization_id ?? 'org_';

const before = usedBytes();
await using index = new FeedIndex(db, createLogger('error'));
let readyMs = 0;
index.prepareWith(
  async (id, loaded) => {
    await loadStatistics(db, id, loaded.statistics);
    loaded.statistics.refresh(Date.now());
  },
  () => undefined,
);
const startedAt = performance.now();
const view = await index.view(organizationId);
readyMs = performance.now() - startedAt;
const withItems = usedBytes();

const serialNumbers = Array.from(view.index.newestFirst, ({ serialNumber }) => serialNumber);
const history = () =>
  writeEncounters(
    Array.from({ length: itemsEach }, () => {
      const serialNumber = serialNumbers[Math.floor(Math.random() * serialNumbers.length)] ?? 0;
      const second = Math.floor(Date.now() / 1_000) - Math.floor(Math.random() * 100_000);
      return [serialNumber, { ...emptyEncounter(), second, seenSecond: second, flags: 2 }] as const;
    }),
  );
const profiles = new ViewerProfiles(db);
const secrets = new ViewerSecrets();
for (let number = 0; number < viewers; number += 1) {
  const ids = { userId: `viewer-${number}` };
  await sql`
    insert into feed_viewer (viewer_key, organization_id, last_at, folded)
    values (${await viewerKeyOf(db, secrets, organizationId, ids)}, ${organizationId}, now(), ${history()})`.execute(
    db,
  );
  await profiles.load(organizationId, ids, view.index);
}
const withViewers = usedBytes();

report([
  {
    what: `index of ${items} items is ready after`,
    figure: `${readyMs.toFixed(0)} ms`,
    limit: '≤ 2 s',
    kept: readyMs <= 2_000,
  },
  { what: 'memory of an item', figure: `${((withItems - before) / items).toFixed(0)} bytes` },
  {
    what: `memory of a viewer who has seen ${itemsEach} items`,
    figure: `${((withViewers - withItems) / viewers).toFixed(0)} bytes`,
  },
  {
    what: `${profiles.sizes.profiles} viewers in total`,
    figure: `${((withViewers - withItems) / 2 ** 20).toFixed(0)} MiB`,
  },
]);
