/**
 * Proves that the requests in docs/ten-questions.md work exactly as written, with correct results.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { promisify } from 'node:util';
import { makeItems, startReportService } from './recount/reports.ts';
import { makeTraffic } from './recount/traffic.ts';
import { query } from './seed.ts';

const dayMs = 86_400_000;
const guide = readFileSync(new URL('../../docs/ten-questions.md', import.meta.url), 'utf8');
const service = await startReportService();
const items = makeItems(12, (index) => (index % 2 === 0 ? ['sport'] : ['music', 'news']));
const contentIds = items.map(({ id }) => id);
const today = Math.floor(Date.now() / dayMs) * dayMs;
const events = makeTraffic({
  seed: 7,
  contentIds,
  startMs: today - 40 * dayMs,
  endMs: today,
  viewers: 300,
  sessions: 2_000,
});
// Within the 30 days that end today.
const counted = events.filter(({ at }) => at >= today - 29 * dayMs);

const blocks = [...guide.matchAll(/```sh\n([^]*?)```/g)].map(([, block = '']) => block);
const [define = '', ...questions] = blocks;

async function ask(number: number) {
  const command = `set -eu\n${define}${questions[number - 1]}`
    .replaceAll('http://localhost:4000', service.url)
    .replaceAll('curl -H', 'curl -sS --fail-with-body -H');
  const { stdout } = await promisify(execFile)('sh', ['-c', command], {
    env: {
      PATH: process.env['PATH'],
      SECRET_KEY: service.secretKey,
      ITEM: contentIds[0] ?? '',
    },
  });
  return JSON.parse(stdout).data;
}

before(async () => {
  await service.insertItems(items);
  await query(service, `update content set author = 'Ada'`);
  await service.append(events, [500]);
  await service.projected();
});

test('ten questions, a request for each', () => {
  assert.equal(questions.length, 10);
  assert.equal([...guide.matchAll(/^## \d+\. .+\?$/gm)].length, 10);
});

test('which items do best', async () => {
  const plays = Map.groupBy(
    counted.filter(({ event }) => event === 'playStart'),
    ({ contentId }) => contentId,
  );
  const best = [...plays].map(([, { length }]) => length).toSorted((a, b) => b - a);
  const answer = (await ask(1)) as { metrics: { plays: number } }[];
  assert.deepEqual(
    answer.map(({ metrics }) => metrics.plays),
    best.slice(0, 5),
  );
});

test('which keep people watching, and which openings lose them', async () => {
  type Row = { metrics: { averagePercentWatched: number; swipeAwayRate: number } };
  const watched = ((await ask(2)) as Row[]).map(({ metrics }) => metrics.averagePercentWatched);
  assert.ok(watched.length === 5 && watched.every((share) => share > 0));
  assert.deepEqual(
    watched,
    watched.toSorted((a, b) => b - a),
  );
  const lost = ((await ask(3)) as Row[]).map(({ metrics }) => metrics.swipeAwayRate);
  assert.ok(lost.length === 5 && (lost[0] ?? 0) >= (lost[4] ?? 1));
});

test('where they leave an item', async () => {
  const { dropoffPoints } = (await ask(4)).engagement;
  const retained = dropoffPoints.map((point: { retained: number }) => point.retained);
  assert.ok(retained.length > 2 && retained[0] > retained.at(-1));
});

test('are we growing, and what is taking off', async () => {
  const overview = await ask(5);
  const started = counted.filter(({ event }) => event === 'playStart').length;
  assert.equal(overview.summary.plays, started);
  assert.ok(overview.comparison.plays.direction === 'up');
  const movers = await ask(6);
  assert.ok(movers.length > 0);
});

test('where viewers come from, and do they come back', async () => {
  const { sources } = await ask(7);
  assert.ok(
    sources.some(({ entryPoint }: { entryPoint: string | null }) => entryPoint === 'search'),
  );
  const { cohorts } = await ask(8);
  assert.ok(cohorts.length >= 4);
});

test('which topics hold them, and does playback work', async () => {
  const { segments } = await ask(9);
  const tags = segments.map(({ segment }: { segment: string }) => segment);
  assert.deepEqual(tags.toSorted(), ['music', 'news', 'sport']);
  const { summary } = await ask(10);
  assert.ok(summary.startupTime.p50 > 0);
});
