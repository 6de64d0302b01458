/**
 * Do a hundred imports, a third of which fail in different ways, leave memory flat and the feed
 * unaffected?
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { generateClip } from '../server/src/features/media/media.ts';
import { insertReadyItems } from './lib/catalogue.ts';
import { startSourcesThread } from './lib/import-sources.ts';
import { pagesPerSecond, readFeed } from './lib/read-feed.ts';
import { report } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';

const imports = 100;
const maxSlowdown = 2;
const maxGrowthMegabytes = 50;
const maxBytes = 30_000_000;
const clipBytes = 10_000_000;

await using cleanup = new AsyncDisposableStack();
const folder = await mkdtemp(path.join(os.tmpdir(), 'reelfeed-bench-'));
cleanup.defer(() => rm(folder, { recursive: true, force: true }));
const file = path.join(folder, 'clip.mp4');
const picture = { source: 'testsrc2', width: 360, height: 640, seconds: 2, frameRate: 30 } as const;
await generateClip({ ...picture, path: file, tone: 440 }, AbortSignal.timeout(120_000));
const small = await readFile(file);
/** Followed by MP4's `free` box, to have something to send. */
const filler = Buffer.alloc(clipBytes - small.length);
filler.writeUInt32BE(filler.length, 0);
filler.write('free', 4, 'latin1');
const clip = Buffer.concat([small, filler]);
await using sources = await startSourcesThread({ clip, maxBytes });
const certificate = path.join(folder, 'authority.pem');
await writeFile(certificate, sources.authority);

// Processing after the import has its own benchmark.
await using service = await startBenchService({
  REELFEED_ROLES: 'api,worker',
  REELFEED_EGRESS_ALLOW: sources.allow,
  REELFEED_MAX_UPLOAD_BYTES: String(maxBytes),
  REELFEED_IMPORT_DEADLINE: '5s',
  NODE_EXTRA_CA_CERTS: certificate,
  // Each import that fails logs a warning.
  REELFEED_LOG_LEVEL: 'error',
});
const { db } = service.database;
await insertReadyItems(db, 1, 1_000);
await readFeed(service, 5);
const idle = await readFeed(service, 10);

let highest = 0;
const memory = async () => {
  const status = await readFile(`/proc/${service.pid}/status`, 'utf8');
  return (Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024) / 1e6;
};
const before = await memory();
const watching = setInterval(() => {
  void memory().then((megabytes) => (highest = Math.max(highest, megabytes)));
}, 100);
const faultOf = (index: number) =>
  index % 3 === 2 ? sources.faultUrls[Math.floor(index / 3) % sources.faultUrls.length] : undefined;
const startedAt = performance.now();
const answer = await fetch(`${service.url}/v1/content/import`, {
  method: 'POST',
  headers: { authorization: `Bearer ${service.secretKey}`, 'content-type': 'application/json' },
  body: JSON.stringify({
    items: Array.from({ length: imports }, (_, index) => ({
      title: `Import ${index}`,
      sourceUrl: faultOf(index) ?? `${sources.goodUrl}${index}`,
    })),
  }),
});
const busy = await readFeed(service, 10);
const { arrived, failed, seconds } = await ended();
clearInterval(watching);

/** Waits until every import has its bytes or has failed. */
async function ended(): Promise<{ arrived: number; failed: number; seconds: number }> {
  for (;;) {
    const rows = await db
      .selectFrom('content')
      .select(['source_key', 'upload_status'])
      .where('upload_status', '!=', 'ready')
      .execute();
    const came = rows.filter((row) => row.source_key !== null).length;
    const errors = rows.filter((row) => row.upload_status === 'error').length;
    const took = (performance.now() - startedAt) / 1_000;
    if (came + errors >= imports || took > 300)
      return { arrived: came, failed: errors, seconds: took };
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

const faulty = Array.from({ length: imports }, (_, index) => faultOf(index)).filter(Boolean).length;
const ratio = busy.p99Ms / Math.max(1, idle.p99Ms);
report([
  { what: 'status of the request', figure: String(answer.status) },
  {
    what: 'imported, failed',
    figure: `${arrived}, ${failed}`,
    limit: `${imports - faulty}, ${faulty}`,
    kept: arrived === imports - faulty && failed === faulty,
  },
  { what: 'seconds for all, including the last retry', figure: seconds.toFixed(0) },
  {
    what: 'maximum memory above the starting point',
    figure: `${(highest - before).toFixed(0)} MB`,
    limit: `≤ ${maxGrowthMegabytes} MB`,
    kept: highest - before <= maxGrowthMegabytes,
  },
  { what: `feed p99 at ${pagesPerSecond}/s, idle`, figure: `${idle.p99Ms} ms` },
  { what: 'feed p99 during imports', figure: `${busy.p99Ms} ms` },
  {
    what: 'as a ratio',
    figure: ratio.toFixed(2),
    limit: `≤ ${maxSlowdown}`,
    kept: ratio <= maxSlowdown,
  },
]);
