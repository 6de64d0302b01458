/**
 * Does encoding leave the feed unaffected, and how many short clips does the service process per
 * minute?
 */
import path from 'node:path';
import { generateClip } from '../server/src/features/media/sample-clips.ts';
import { insertReadyItems } from './lib/catalogue.ts';
import { pagesPerSecond, readFeed } from './lib/read-feed.ts';
import { report } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';
import { isComplete, isPlayable, settled, uploadClip } from './lib/upload-clip.ts';

const clips = 10;
const maxSlowdown = 2;

await using service = await startBenchService({ REELFEED_MEDIA_CONCURRENCY: '2' });
await insertReadyItems(service.database.db, 1, 1_000);
const file = path.join(service.dataDir, 'bench-clip.mp4');
await generateClip(
  {
    path: file,
    source: 'testsrc2',
    width: 1080,
    height: 1920,
    seconds: 6,
    frameRate: 30,
    tone: 440,
  },
  AbortSignal.timeout(120_000),
);
await readFeed(service, 2);
const idle = await readFeed(service, 8);
const startedAt = performance.now();
const minutes = () => (performance.now() - startedAt) / 60_000;
const ids = await Promise.all(
  Array.from({ length: clips }, (_, index) => uploadClip(service, file, `Clip ${index}`)),
);
const [busy] = await Promise.all([
  readFeed(service, 8),
  Promise.all(ids.map((id) => settled(service, id, isPlayable))),
]);
const playable = clips / minutes();
await Promise.all(ids.map((id) => settled(service, id, isComplete)));
const complete = clips / minutes();

const ratio = busy.p99Ms / Math.max(1, idle.p99Ms);
report([
  { what: `feed p99 at ${pagesPerSecond}/s, idle`, figure: `${idle.p99Ms} ms` },
  { what: 'feed p99 while two clips encode', figure: `${busy.p99Ms} ms` },
  {
    what: 'as a ratio',
    figure: ratio.toFixed(2),
    limit: `≤ ${maxSlowdown}`,
    kept: ratio <= maxSlowdown,
  },
  { what: 'ten concurrent clips of 6 s: playable', figure: `${playable.toFixed(1)} a minute` },
  { what: 'with all renditions', figure: `${complete.toFixed(1)} a minute` },
]);
