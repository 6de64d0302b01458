/**
 * How good do our renditions look for their bit rate? Measures the SSIM of each rung against the
 * source at its size, compared with common default settings: the same rung at a fixed rate equal to
 * the cap. For each AV1 rung it also measures how many bytes it saves over H.264 of equal SSIM. The
 * packaged FFmpeg has no libvmaf. The comparison needs the `ffmpeg` program.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { planLadder, type VideoRung } from '../server/src/features/media/ladder.ts';
import { runMediaTask } from '../server/src/features/media/media.ts';
import { generateClip } from '../server/src/features/media/sample-clips.ts';

const run = promisify(execFile);
const seconds = 6;
const sources = (['testsrc2', 'mandelbrot', 'gradients'] as const).filter((name) =>
  (process.env['BENCH_SOURCES'] ?? name).includes(name),
);
const signal = new AbortController().signal;
const limits = { deadlineMs: 600_000, stallMs: 120_000, memoryLimitBytes: 3 * 1024 ** 3, signal };

/** The mean SSIM of luma and chroma, 0 to 1, against the source scaled to the rung. */
async function ssim(file: string, source: string, { width, height }: VideoRung): Promise<number> {
  const graph = `[1:v]fps=30,scale=${width}:${height}:flags=bicubic,settb=AVTB,setpts=N/30/TB[r];[0:v]settb=AVTB,setpts=N/30/TB[d];[d][r]ssim`;
  const { stderr } = await run('ffmpeg', [
    ...['-v', 'info', '-i', file, '-i', source],
    ...['-filter_complex', graph, '-f', 'null', '-'],
  ]);
  return Number(/All:([\d.]+)/.exec(stderr)?.[1]);
}

async function plain(source: string, rung: VideoRung, folder: string) {
  const file = join(folder, `plain-${rung.name}.mp4`);
  await run('ffmpeg', [
    ...['-v', 'error', '-y', '-i', source, '-an', '-c:v', 'libx264', '-preset', 'veryfast'],
    ...['-vf', `fps=30,scale=${rung.width}:${rung.height}:flags=bicubic`, '-pix_fmt', 'yuv420p'],
    ...['-b:v', String(rung.maxBitrateBps), '-g', '60', file],
  ]);
  const { size } = await stat(file);
  return { file, bps: (size * 8) / seconds };
}

type Point = { bps: number; ssim: number };

/** H.264 at several quality levels, as points of SSIM and size. */
async function h264Points(source: string, rung: VideoRung, folder: string): Promise<Point[]> {
  const points: Point[] = [];
  for (const crf of [18, 22, 26, 30, 34]) {
    const file = join(folder, `h264-${rung.name}-${crf}.mp4`);
    await run('ffmpeg', [
      ...['-v', 'error', '-y', '-i', source, '-an', '-c:v', 'libx264', '-preset', 'veryfast'],
      ...['-vf', `fps=30,scale=${rung.width}:${rung.height}:flags=bicubic`, '-pix_fmt', 'yuv420p'],
      ...['-crf', String(crf), '-g', '60', file],
    ]);
    const bps = ((await stat(file)).size * 8) / seconds;
    points.push({ bps, ssim: await ssim(file, source, rung) });
  }
  return points.toSorted((a, b) => a.ssim - b.ssim);
}

/**
 * The bit rate of H.264 at a given SSIM, interpolated between the two nearest points on a
 * logarithmic scale.
 */
function rateAt(points: readonly Point[], wanted: number): number | null {
  const index = points.findIndex((point) => point.ssim >= wanted);
  const [below, above] = [points[index - 1], points[index]];
  if (below === undefined || above === undefined) return null;
  const share = (wanted - below.ssim) / (above.ssim - below.ssim);
  return Math.exp(Math.log(below.bps) * (1 - share) + Math.log(above.bps) * share);
}

for (const source of sources) {
  const folder = await mkdtemp(join(os.tmpdir(), 'reelfeed-quality-'));
  const sourcePath = join(folder, 'clip.mp4');
  const picture = { source, width: 1080, height: 1920, frameRate: 30, seconds } as const;
  await generateClip({ ...picture, tone: null, path: sourcePath }, signal);
  const outputDir = join(folder, 'prepared');
  const completed = join(folder, 'completed');
  const prepared = await runMediaTask(
    { type: 'prepare', sourcePath, outputDir, maxDurationSeconds: 60, quality: 'plus' },
    limits,
  );
  const { rungs } = await runMediaTask(
    { type: 'complete', sourcePath, outputDir: completed, prepared },
    limits,
  );
  const ladder = planLadder({ width: 1080, height: 1920, maxFrameRate: 30 }, { quality: 'plus' });
  const planned = [ladder.first, ...ladder.remaining].filter((rung) => rung.kind === 'video');
  process.stdout.write(`\n${source}: rung, kbit/s and SSIM of ours, of a fixed rate\n`);
  for (const rung of planned) {
    // Rungs that a title does not need are not created.
    const made = rungs.find(({ name }) => name === rung.name);
    if (made === undefined) continue;
    const base = made.name === prepared.rungs[0]?.name ? outputDir : completed;
    const own = await ssim(join(base, made.playlist), sourcePath, rung);
    const fixed = await plain(sourcePath, rung, folder);
    const other = await ssim(fixed.file, sourcePath, rung);
    const cells = [
      rung.name.padEnd(8),
      `${(made.averageBandwidthBps / 1_000).toFixed(0).padStart(6)} ${own.toFixed(4)}`,
      `${(fixed.bps / 1_000).toFixed(0).padStart(6)} ${other.toFixed(4)}`,
    ];
    if (rung.codec === 'av1') {
      const equal = rateAt(await h264Points(sourcePath, rung, folder), own);
      const saved = equal === null ? null : 1 - made.averageBandwidthBps / equal;
      const text =
        saved === null ? 'beyond the H.264 that was tried' : `${(saved * 100).toFixed(0)} %`;
      cells.push(`saved at equal SSIM: ${text}`);
    }
    process.stdout.write(`${cells.join('   ')}\n`);
  }
  await rm(folder, { recursive: true, force: true });
}
