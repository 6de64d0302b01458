/** Runs the `ffmpeg` program to make the same renditions with the same settings in one run. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { join } from 'node:path';
import type { VideoRung } from '../../server/src/features/media/ladder.ts';

const run = promisify(execFile);

export const hasProgram = (): Promise<boolean> =>
  run('ffmpeg', ['-version']).then(
    () => true,
    () => false,
  );

/** Writes HLS renditions of `input` below `folder`, with names that start with `name`. */
export async function runProgram(
  rungs: readonly VideoRung[],
  { folder, input, name }: { folder: string; input: string; name: string },
): Promise<void> {
  const splits = rungs.map((_, index) => `[s${index}]`).join('');
  const scales = rungs.map(
    ({ width, height }, index) => `[s${index}]scale=${width}:${height}:flags=bicubic[v${index}]`,
  );
  const filters = [`[0:v]fps=30,split=${rungs.length}${splits}`, ...scales].join(';');
  const files = rungs.flatMap(({ maxBitrateBps }, index) => [
    ...['-map', `[v${index}]`, '-map', '0:a', '-c:v', 'libx264', '-preset', 'veryfast'],
    ...['-crf', '23', '-maxrate', String(maxBitrateBps), '-bufsize', String(maxBitrateBps * 1.5)],
    ...['-g', '60', '-keyint_min', '60', '-sc_threshold', '0', '-profile:v', 'high'],
    ...['-pix_fmt', 'yuv420p', '-c:a', 'aac', '-b:a', '128k', '-ar', '48000', '-ac', '2'],
    ...['-f', 'hls', '-hls_time', '2', '-hls_playlist_type', 'vod', '-hls_segment_type', 'fmp4'],
    ...['-hls_fmp4_init_filename', `${name}-${index}-init.mp4`],
    ...['-hls_segment_filename', join(folder, `${name}-${index}-%03d.m4s`)],
    join(folder, `${name}-${index}.m3u8`),
  ]);
  await run('ffmpeg', ['-v', 'error', '-y', '-i', input, '-filter_complex', filters, ...files]);
}
