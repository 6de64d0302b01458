import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ClipName } from '../../../test/media-samples.ts';
import { parseMediaPlaylist } from './media-playlist.ts';
import { readRendition, readSegments, type ReadFrame } from './testing/media-reader.ts';
import { prepareSample, workFolder } from './testing/run-task.ts';

const BRIGHT = 40;
const LOUD = 0.01;

function assertClose(actual: number, expected: number, tolerance: number, what: string): void {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${what}: ${actual}, not ${expected}`);
}

/** When a rendition's frames first exceed a level, relative to its start. */
function onset(frames: readonly ReadFrame[], level: number): number {
  const first = frames.find((frame) => frame.level > level);
  return (first?.seconds ?? Infinity) - (frames[0]?.seconds ?? 0);
}

/** Prepares a clip and reads its only rendition back. */
async function play(name: ClipName) {
  await using folder = await workFolder();
  const { info, outputDir, rungs } = await prepareSample(folder, name);
  const rung = rungs[0]?.name ?? '';
  const { pictures, sounds } = await readRendition(join(outputDir, rung));
  return { info, pictures, sounds };
}

test('interlaced video keeps its length, its rate and all of its sound', async () => {
  const { info, pictures, sounds } = await play('interlaced.mp4');
  assertClose(info.durationSeconds, 5, 0.06, 'length');
  assert.equal(info.maxFrameRate, 25);
  assertClose(pictures.length, 125, 1, 'pictures');
  assertClose((pictures.at(-1)?.seconds ?? 0) - (pictures[0]?.seconds ?? 0), 4.96, 0.05, 'end');
  assertClose((sounds.at(-1)?.seconds ?? 0) - (sounds[0]?.seconds ?? 0), 4.98, 0.05, 'sound');
});

for (const [name, seconds, at] of [
  ['varying-rate.mp4', 16, 10],
  ['fragmented.mp4', 6, 3],
  ['sound-losses.mkv', 6, 5],
] as const) {
  test(`picture and sound of ${name} stay together`, async () => {
    const { info, pictures, sounds } = await play(name);
    assertClose(info.durationSeconds, seconds, 0.1, 'length');
    assertClose(onset(pictures, BRIGHT), at, 0.07, 'picture');
    // An AAC frame lasts 21 ms, and its onset may be anywhere in it.
    assertClose(onset(sounds, LOUD) - onset(pictures, BRIGHT), 0, 0.045, 'sound against picture');
  });
}

test('a picture that stands still for minutes is not taken for a task that does', async () => {
  await using folder = await workFolder();
  const { info } = await prepareSample(folder, 'still.mp4', { stallMs: 4_000 });
  assertClose(info.durationSeconds, 200, 0.2, 'length');
});

test('a clip under half a second has a playlist that players accept', async () => {
  await using folder = await workFolder();
  const { outputDir } = await prepareSample(folder, 'tiny.mp4');
  const playlist = await readFile(join(outputDir, '360', 'index.m3u8'), 'utf8');
  assert.match(playlist, /^#EXT-X-TARGETDURATION:1$/m);
});

test('pictures that repeat the one before, as Theora stores them, keep their time', async () => {
  const { info, pictures } = await play('repeats.ogv');
  assertClose(info.durationSeconds, 4, 0.05, 'length');
  assertClose(pictures.length, 120, 1, 'pictures');
});

test('a few pictures after the last key frame join the segment before; the peak is the real one', async () => {
  await using folder = await workFolder();
  const { outputDir, rungs } = await prepareSample(folder, 'short-last.mp4');
  const segments = await readSegments(join(outputDir, '360'));
  assert.deepEqual(
    segments.map(({ video }) => video?.frames.length),
    [30, 68],
  );
  const { segments: listed } = parseMediaPlaylist(
    await readFile(join(outputDir, '360', 'index.m3u8'), 'utf8'),
  );
  const rates = await Promise.all(
    listed.map(async ({ name, durationSeconds }) => {
      const { size } = await stat(join(outputDir, '360', name));
      return (size * 8) / durationSeconds;
    }),
  );
  assert.equal(rungs[0]?.peakBandwidthBps, Math.ceil(Math.max(...rates)));
});
