/**
 * How good is the feed? Simulated viewers with hidden tastes read the real feed and send the real
 * events; a day later they come back, and that day is rated, against newest first, random and popular,
 * each without what a viewer has seen. New clips come in all day.
 *
 * BENCH_SEEDS, BENCH_VIEWERS and BENCH_CLIPS change the size.
 */
import type { DemoViewer } from '../server/src/cli/demo/viewers.ts';
import { momentsOf } from '../server/src/cli/demo/visit.ts';
import { FigureCollector, type FeedFigures } from './lib/feed-figures.ts';
import { post } from './lib/feed-viewers.ts';
import { median, report, type Row } from './lib/report.ts';
import { startBenchService, type BenchService } from './lib/service.ts';
import {
  clipsPerDay,
  decisionOf,
  insertClips,
  makeClip,
  makeWorld,
  type Clip,
} from './lib/taste-world.ts';

const seeds = (process.env['BENCH_SEEDS'] ?? 'ada,bob,cy').split(',');
const viewerCount = Number(process.env['BENCH_VIEWERS'] ?? 600);
const clipCount = Number(process.env['BENCH_CLIPS'] ?? 800);
const pageSize = 10;
/** Visits of one page by each viewer: the day before, and the day that is rated. */
const visitsBefore = 3;
const visitsRated = 6;
const discoveredAt = 100;
const atATime = 12;
const hourMs = 3_600_000;

type Visit = { viewer: DemoViewer; name: string; startMs: number; isRated: boolean };
type Result = Record<'ours' | 'newest' | 'random' | 'popular', FeedFigures> & {
  discovery: number;
};

const results: Result[] = [];
for (const seed of seeds) results.push(await simulate(seed));
report(results.flatMap(toRows));

async function simulate(seed: string): Promise<Result> {
  const world = makeWorld(seed, { viewers: viewerCount, clips: clipCount });
  await using service = await startBenchService({
    REELFEED_ROLES: 'api,worker',
    // A page that falls back on a busy machine would say nothing about ranking.
    REELFEED_FEED_RANKING_BUDGET: '10s',
  });
  world.clips.splice(0, Infinity, ...(await insertClips(service.database.db, world.clips)));
  const visits = planVisits(world.viewers, world.random);
  const rivals = {
    newest: playRival(seed, visits, (clips) => clips.toSorted((a, b) => a.ageHours - b.ageHours)),
    random: playRival(seed, visits, (clips, random) =>
      clips
        .map((clip) => ({ clip, key: random() }))
        .toSorted((a, b) => a.key - b.key)
        .map(({ clip }) => clip),
    ),
    popular: playRival(seed, visits, (clips, _random, rateOf) =>
      clips.toSorted((a, b) => rateOf(b) - rateOf(a)),
    ),
  };
  return { ...rivals, ...(await playOurs(service, seed, visits)) };

  /** The same viewers with a feed of another order. */
  function playRival(
    name: string,
    all: readonly Visit[],
    order: (clips: Clip[], random: () => number, rateOf: (clip: Clip) => number) => Clip[],
  ): FeedFigures {
    const collector = new FigureCollector(world);
    const counts = new Map<string, { shown: number; liked: number }>();
    const rateOf = ({ title }: Clip) => {
      const { shown, liked } = counts.get(title) ?? { shown: 0, liked: 0 };
      return (liked + 5) / (shown + 10);
    };
    const random = makeWorld(`${name} rival`, { viewers: 0, clips: 0 }).random;
    let ordered: Clip[] = [];
    for (const [index, { viewer, name: visit, isRated }] of all.entries()) {
      if (index % atATime === 0) ordered = order([...world.clips], random, rateOf);
      const seen = collector.seenBy(viewer);
      const page = ordered.filter(({ title }) => !seen.has(title)).slice(0, pageSize);
      collector.addPage(viewer, visit, page, isRated);
      for (const clip of page) {
        const { watchSeconds, likes } = decisionOf(viewer, visit, clip);
        const known = counts.get(clip.title) ?? { shown: 0, liked: 0 };
        known.shown += 1;
        known.liked += (watchSeconds >= clip.duration ? 1 : 0) + (likes ? 1 : 0);
        counts.set(clip.title, known);
      }
    }
    return collector.figures();
  }

  /** The real feed. New clips are inserted on the way; they are no part of the rated library. */
  async function playOurs(bench: BenchService, name: string, all: readonly Visit[]) {
    const collector = new FigureCollector(world);
    const byId = new Map(world.clips.map((clip) => [clip.id, clip]));
    const fresh = new Map<string, { sinceImpression: number; shown: number }>();
    const took: number[] = [];
    const firstRated = all.findIndex(({ isRated }) => isRated);
    const ratedImpressions = (all.length - firstRated) * pageSize;
    let impressions = 0;
    for (let from = 0; from < all.length; from += atATime) {
      const share = (from - firstRated) / (all.length - firstRated);
      if (share >= 0 && share < 0.9 && fresh.size < Math.ceil((share / 0.9) * clipsPerDay)) {
        const made = makeClip(name, `new-${fresh.size}`, 0);
        const [clip] = await insertClips(bench.database.db, [made]);
        if (clip !== undefined) {
          byId.set(clip.id, clip);
          fresh.set(clip.id, { sinceImpression: impressions, shown: 0 });
        }
      }
      const together = all.slice(from, from + atATime);
      const pages = await Promise.all(together.map((visit) => playVisit(bench, visit, byId)));
      for (const [index, page] of pages.entries()) {
        const visit = together[index];
        if (visit === undefined) continue;
        for (const { id } of page) {
          impressions += 1;
          const news = fresh.get(id);
          if (news === undefined) continue;
          news.shown += 1;
          if (news.shown === discoveredAt) took.push(impressions - news.sinceImpression);
        }
        collector.addPage(visit.viewer, visit.name, page, visit.isRated);
      }
    }
    const undiscovered = Array.from({ length: fresh.size - took.length }, () => ratedImpressions);
    return {
      ours: collector.figures(),
      discovery: median([...took, ...undiscovered]) / ratedImpressions,
    };
  }
}

/** Viewers come in a random order; the day before is twenty hours ago. */
function planVisits(viewers: readonly DemoViewer[], random: () => number): Visit[] {
  const day = (visitsEach: number, isRated: boolean): Visit[] =>
    viewers
      .flatMap((viewer) =>
        Array.from({ length: visitsEach }, (_, number) => ({ viewer, number, key: random() })),
      )
      .toSorted((a, b) => a.key - b.key)
      .map(({ viewer, number }) => {
        const startMs = Date.now() - (isRated ? 0 : 20 * hourMs);
        const name = `${viewer.name}-${isRated ? 'rated' : 'before'}-${number}`;
        return { viewer, name, startMs, isRated };
      });
  return [...day(visitsBefore, false), ...day(visitsRated, true)];
}

/** Reads a page and sends what the viewer does with it, as the demo's viewers do. */
async function playVisit(
  service: BenchService,
  { viewer, name, startMs }: Visit,
  byId: ReadonlyMap<string, Clip>,
): Promise<Clip[]> {
  const query = `limit=${pageSize}&userId=${viewer.name}&country=${viewer.identity.country}`;
  const answer = await fetch(`${service.url}/v1/feed?${query}`, {
    headers: { authorization: `Bearer ${service.publishableKey}` },
  });
  const { data, meta } = (await answer.json()) as {
    data: { id: string }[];
    meta: { feedId: string };
  };
  const page = data.flatMap(({ id }) => byId.get(id) ?? []);
  const visit = { viewer: { ...viewer, staying: 1 }, startMs };
  const moments = momentsOf(visit, { feedId: meta.feedId, clips: page });
  const events = moments.map(({ atMs, event }, index) => ({
    ...event,
    ...viewer.identity,
    userId: viewer.name,
    sessionId: name,
    eventId: `${name}-${index}`,
    timestamp: new Date(Math.min(Date.now(), startMs + atMs)).toISOString(),
  }));
  for (let from = 0; from < events.length; from += 100) {
    await post(service, '/v1/events/batch', { events: events.slice(from, from + 100) });
  }
  return page;
}

function toRows(result: Result, index: number): Row[] {
  const { ours, newest, random, popular, discovery } = result;
  const name = seeds[index] ?? '';
  const line = (what: string, figures: FeedFigures): Row => ({
    what: `${name}: ${what}`,
    figure:
      `NDCG@10 ${figures.ndcg.toFixed(3)}, watched ${figures.watchShare.toFixed(3)}, ` +
      `coverage ${figures.coverage.toFixed(2)}, authors ${figures.authorEntropy.toFixed(2)} bits`,
  });
  const ratio = (what: string, value: number, least: number): Row => ({
    what: `${name}: ${what}`,
    figure: `${value.toFixed(2)}×`,
    limit: `≥ ${least}×`,
    kept: value >= least,
  });
  return [
    line('newest first', newest),
    line('random', random),
    line('popular', popular),
    line('ours', ours),
    ratio('NDCG against newest first', ours.ndcg / newest.ndcg, 1.3),
    ratio('NDCG against popular', ours.ndcg / popular.ndcg, 1.15),
    ratio('coverage against random', ours.coverage / random.coverage, 0.8),
    {
      what: `${name}: a new clip has ${discoveredAt} impressions after`,
      figure: `${(discovery * 100).toFixed(1)} % of the day`,
      limit: '≤ 5 %',
      kept: discovery <= 0.05,
    },
  ];
}
