/**
 * What does the whole ladder of a clip cost, compared with the `ffmpeg` program making the same
 * rungs in one run? Ours also measures loudness and makes thumbnails, preview, storyboard and a
 * download. A long clip, which is encoded in concurrent parts, is compared as well.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import { join } from 'node:path';
import { planLadder } from '../server/src/features/media/ladder.ts';
import { runMediaTask } from '../server/src/features/media/media.ts';
import { generateClip } from '../server/src/features/media/sample-clips.ts';
import { hasProgram, runProgram } from './lib/ffmpeg-program.ts';
import { median, report } from './lib/report.ts';

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);
const seconds = 15;
const maxCost = 1.2;
const limits = {
  deadlineMs: 600_000,
  stallMs: 120_000,
  memoryLimitBytes: 3 * 1024 ** 3,
  signal: new AbortController().signal,
};

const folder = await mkdtemp(join(os.tmpdir(), 'reelfeed-ladder-'));
const sourcePath = join(folder, 'clip.mp4');
const picture = { source: 'testsrc2', width: 1080, height: 1920, frameRate: 30 } as const;
await generateClip({ ...picture, seconds, tone: 440, path: sourcePath }, limits.signal);
const ladder = planLadder({ width: 1080, height: 1920, maxFrameRate: 30 });
const rungs = [ladder.first, ...ladder.remaining].filter((rung) => rung.kind === 'video');
const isInstalled = await hasProgram();

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1_000;
}

let round = 0;
async function ours(): Promise<{ first: number; all: number }> {
  round += 1;
  const prepared = join(folder, `prepared-${round}`);
  const outputDir = join(folder, `completed-${round}`);
  const task = {
    sourcePath,
    outputDir: prepared,
    maxDurationSeconds: 60,
    quality: 'basic',
  } as const;
  const startedAt = performance.now();
  const result = await runMediaTask({ type: 'prepare', ...task }, limits);
  const first = (performance.now() - startedAt) / 1_000;
  await runMediaTask({ type: 'complete', sourcePath, outputDir, prepared: result }, limits);
  return { first, all: (performance.now() - startedAt) / 1_000 };
}

const program = (): Promise<number> =>
  timed(() => runProgram(rungs, { folder, input: sourcePath, name: 'whole' }));

/** A clip long enough to be split into parts, and the rendition that is ready first. */
const longSeconds = 90;
const longPath = join(folder, 'long.mp4');
await generateClip({ ...picture, seconds: longSeconds, tone: 440, path: longPath }, limits.signal);
const firstRung = rungs.filter(({ name }) => name === ladder.first.name);
const longProgram = (): Promise<number> =>
  timed(() => runProgram(firstRung, { folder, input: longPath, name: 'long' }));
const longOurs = (): Promise<number> =>
  timed(() => {
    round += 1;
    const outputDir = join(folder, `long-${round}`);
    const source = { sourcePath: longPath, maxDurationSeconds: 600, quality: 'basic' } as const;
    return runMediaTask({ type: 'prepare', outputDir, ...source }, limits);
  });

const times = { first: [] as number[], all: [] as number[], program: [] as number[] };
const long = { ours: [] as number[], program: [] as number[] };
for (let n = 0; n < rounds; n += 1) {
  const { first, all } = await ours();
  times.first.push(first);
  times.all.push(all);
  long.ours.push(await longOurs());
  if (!isInstalled) continue;
  times.program.push(await program());
  long.program.push(await longProgram());
}
await rm(folder, { recursive: true, force: true });

const figure = (values: readonly number[]): string => `${median(values).toFixed(1)} s`;
const first = median(times.first) / seconds;
const cost = median(times.all) / median(times.program);
report([
  { what: `first rendition of ${seconds} s of 1080×1920`, figure: figure(times.first) },
  { what: 'as a ratio to the clip', figure: first.toFixed(2), limit: '≤ 1', kept: first <= 1 },
  { what: `all ${rungs.length} renditions and derived files`, figure: figure(times.all) },
  { what: `first rendition of ${longSeconds} s, in parts`, figure: figure(long.ours) },
  ...(isInstalled
    ? [
        { what: 'the ffmpeg program, renditions alone', figure: figure(times.program) },
        {
          what: 'as a ratio',
          figure: cost.toFixed(2),
          limit: `≤ ${maxCost}`,
          kept: cost <= maxCost,
        },
        {
          what: `first rendition of ${longSeconds} s, the program`,
          figure: figure(long.program),
        },
        {
          what: 'ours, in parts, as a ratio',
          figure: (median(long.ours) / median(long.program)).toFixed(2),
        },
      ]
    : [{ what: 'the ffmpeg program', figure: 'not installed' }]),
]);
