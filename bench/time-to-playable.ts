/**
 * How soon after its upload does a 15 s clip of 1080×1920 play, and when are all renditions
 * available? What do the first rendition and all of them cost, compared with the `ffmpeg` program
 * making the same renditions in one run, measured alternately? Ours also measures loudness and
 * makes thumbnails, preview, storyboard and a download.
 */
import { openAsBlob } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { planLadder } from '../server/src/features/media/ladder.ts';
import { generateClip, runMediaTask } from '../server/src/features/media/media.ts';
import { costOf, type Cost } from './lib/child-cpu.ts';
import { hasProgram, runProgram } from './lib/ffmpeg-program.ts';
import { median, report } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';

const clipSeconds = 15;
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);
await using service = await startBenchService();
const file = path.join(service.dataDir, 'bench-clip.mp4');
const picture = {
  source: 'testsrc2',
  width: 1080,
  height: 1920,
  seconds: clipSeconds,
  frameRate: 30,
} as const;
await generateClip({ ...picture, path: file, tone: 440 }, AbortSignal.timeout(120_000));

const playable: number[] = [];
const complete: number[] = [];
for (let round = 0; round < rounds; round += 1) {
  const form = new FormData();
  form.set('title', `Round ${round}`);
  form.set('file', await openAsBlob(file), 'clip.mp4');
  const headers = { authorization: `Bearer ${service.secretKey}` };
  const startedAt = performance.now();
  const answer = await fetch(`${service.url}/v1/content/upload`, {
    method: 'POST',
    headers,
    body: form,
  });
  const { data } = (await answer.json()) as { data: { id: string } };
  const streamingUrl = await poll(async () => {
    const one = await fetch(`${service.url}/v1/content/${data.id}`, { headers });
    const { data: item } = (await one.json()) as {
      data: { streamingUrl: string | null; errorReason: unknown };
    };
    if (item.errorReason !== null) throw new Error(JSON.stringify(item.errorReason));
    return item.streamingUrl;
  });
  playable.push((performance.now() - startedAt) / 1_000);
  const local = `${service.url}${new URL(streamingUrl).pathname}`;
  await poll(async () => {
    const master = await (await fetch(local)).text();
    return master.includes('240/index.m3u8') ? master : null;
  });
  complete.push((performance.now() - startedAt) / 1_000);
}

async function poll<T>(probe: () => Promise<T | null>): Promise<T> {
  for (;;) {
    const found = await probe();
    if (found !== null) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

type Pair = { ours: Cost; program: Cost };

/** Pairs of measurements for one clip: the first rendition, and all of them. */
async function pairsOf(seconds: number): Promise<{ first: Pair[]; all: Pair[] }> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'reelfeed-playable-'));
  const input = path.join(folder, 'clip.mp4');
  const signal = new AbortController().signal;
  await generateClip({ ...picture, seconds, path: input, tone: 440 }, signal);
  const { first, remaining } = planLadder({ ...picture, maxFrameRate: 30, hasAudio: true });
  const videos = [first, ...remaining].filter((rung) => rung.kind === 'video');
  const limits = {
    ...{ deadlineMs: 1_200_000, stallMs: 600_000, memoryLimitBytes: 3 * 1024 ** 3, signal },
  };
  const pairs = { first: [] as Pair[], all: [] as Pair[] };
  for (let round = 0; round < rounds; round += 1) {
    const prepared = path.join(folder, `prepared-${round}`);
    const common = { sourcePath: input, maxDurationSeconds: 60, quality: 'basic' } as const;
    let result: Awaited<ReturnType<typeof prepare>>;
    const prepare = () => runMediaTask({ type: 'prepare', ...common, outputDir: prepared }, limits);
    const oursFirst = await costOf(async () => void (result = await prepare()));
    const oursRest = await costOf(() => {
      const outputDir = path.join(folder, `completed-${round}`);
      return runMediaTask(
        { type: 'complete', sourcePath: input, outputDir, prepared: result },
        limits,
      );
    });
    const program = { folder, input, name: `round-${round}` };
    const programFirst = await costOf(() => runProgram(videos.slice(0, 1), program));
    const programAll = await costOf(() => runProgram(videos, program));
    pairs.first.push({ ours: oursFirst, program: programFirst });
    const ours = {
      wallSeconds: oursFirst.wallSeconds + oursRest.wallSeconds,
      cpuSeconds: oursFirst.cpuSeconds + oursRest.cpuSeconds,
    };
    pairs.all.push({ ours, program: programAll });
  }
  await rm(folder, { recursive: true, force: true });
  return pairs;
}

function ratios(what: string, pairs: readonly Pair[], limit: number) {
  return (['wallSeconds', 'cpuSeconds'] as const).map((unit) => {
    const ratio = median(pairs.map(({ ours, program }) => ours[unit] / program[unit]));
    const own = median(pairs.map(({ ours }) => ours[unit]));
    const other = median(pairs.map(({ program }) => program[unit]));
    return {
      what: `${what}, ${unit === 'wallSeconds' ? 'by time' : 'by CPU'}, to the ffmpeg program`,
      figure: `${own.toFixed(1)} s / ${other.toFixed(1)} s = ${ratio.toFixed(2)}`,
      limit: `≤ ${limit}`,
      kept: ratio <= limit,
    };
  });
}

const beside = [];
if (await hasProgram()) {
  for (const seconds of [clipSeconds, 5]) {
    const { all, first } = await pairsOf(seconds);
    beside.push(
      ...ratios(`first rendition of ${seconds} s`, first, 1),
      ...ratios(`all renditions of ${seconds} s`, all, 1.2),
    );
  }
}

const ratio = median(playable) / clipSeconds;
report([
  { what: 'upload to playable', figure: `${median(playable).toFixed(1)} s` },
  { what: 'as a ratio to the clip', figure: ratio.toFixed(2), limit: '≤ 1.00', kept: ratio <= 1 },
  { what: 'upload to all renditions', figure: `${median(complete).toFixed(1)} s` },
  { what: 'as a ratio to the clip', figure: (median(complete) / clipSeconds).toFixed(2) },
  ...(beside.length > 0 ? beside : [{ what: 'the ffmpeg program', figure: 'not installed' }]),
]);
