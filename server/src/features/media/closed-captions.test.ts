/** Proves that embedded captions (CEA-608) are kept and declared in each H.264 rendition. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { scaled } from '../../../test/scale.ts';
import { generateClip, runMediaTask, type ClipSpec } from './media.ts';
import { readRendition, readSegments } from './testing/media-reader.ts';
import { GENEROUS, workFolder, type WorkFolder } from './testing/run-task.ts';

const SECONDS = 3;
const CLIP = {
  source: 'testsrc2',
  width: 640,
  height: 360,
  seconds: SECONDS,
  frameRate: 30,
  tone: 440,
  closedCaptions: 'Second ',
} as const;
const LARGE = { ...CLIP, source: 'mandelbrot', width: 960, height: 540, seconds: 1 } as const;
const LONG = { ...CLIP, width: 160, height: 90, seconds: 62, frameRate: 15 } as const;

async function prepare(
  folder: WorkFolder,
  clip: Omit<ClipSpec, 'path'>,
  quality: 'basic' | 'plus' = 'basic',
) {
  const sourcePath = join(folder.path, 'clip.mp4');
  await generateClip({ ...clip, path: sourcePath }, GENEROUS.signal);
  const outputDir = join(folder.path, 'prepared');
  const task = { sourcePath, outputDir, maxDurationSeconds: 120, threads: 2, quality } as const;
  const prepared = await runMediaTask({ type: 'prepare', ...task }, GENEROUS);
  const master = await readFile(join(outputDir, 'master.m3u8'), 'utf8');
  return { master, outputDir, prepared, sourcePath };
}

async function complete(
  folder: WorkFolder,
  { prepared, sourcePath }: Awaited<ReturnType<typeof prepare>>,
) {
  const outputDir = join(folder.path, 'completed');
  const task = { type: 'complete', sourcePath, outputDir, prepared } as const;
  const { rungs } = await runMediaTask(task, GENEROUS);
  const master = await readFile(join(outputDir, 'master.m3u8'), 'utf8');
  return { master, outputDir, rungs };
}

function said(frames: readonly { captions: string }[] = []): string {
  return frames.map(({ captions }) => captions).join('');
}

function expected(seconds: number): string {
  return Array.from({ length: seconds }, (_, second) => `Second ${second} `).join('');
}

const DECLARED =
  '#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="cc",NAME="CC1",DEFAULT=NO,AUTOSELECT=YES,INSTREAM-ID="CC1"';

for (const frameRate of scaled([25, 60], [24, 25, 30, 60])) {
  test(`captions at ${frameRate} frames a second are in each H.264 segment of each rung`, async () => {
    await using folder = await workFolder();
    const first = await prepare(folder, { ...CLIP, frameRate });
    const further = await complete(folder, first);
    const names = further.rungs.filter(({ width }) => width !== null).map(({ name }) => name);
    assert.deepEqual(names, ['360', '240']);
    for (const name of names) {
      const base = join(name === '360' ? first.outputDir : further.outputDir, name);
      const { pictures } = await readRendition(base);
      assert.equal(said(pictures), expected(SECONDS), name);
      for (const { video } of await readSegments(base)) {
        assert.match(said(video?.frames), /Second \d/);
      }
    }
    for (const { master } of [first, further]) {
      const lines = master.split('\n');
      assert.equal(lines.filter((line) => line === DECLARED).length, 1, master);
      for (const line of lines.filter((one) => one.startsWith('#EXT-X-STREAM-INF'))) {
        const hasPicture = line.includes('avc1');
        assert.equal(line.includes('CLOSED-CAPTIONS="cc"'), hasPicture, line);
      }
    }
    const told = first.prepared.sourceTracks?.filter(({ codec }) => codec === 'eia_608');
    const facts = { kind: 'subtitle', codec: 'eia_608', used: true, reason: null };
    assert.deepEqual(told, [{ ...facts, language: null, duration: null }]);
  });
}

test('parts that are encoded at the same time have each caption once', async () => {
  await using folder = await workFolder();
  const { outputDir, prepared } = await prepare(folder, LONG);
  const { pictures } = await readRendition(join(outputDir, prepared.rungs[0]?.name ?? ''));
  const words = said(pictures);
  assert.ok(words.startsWith(expected(LONG.seconds - 1)), words);
});

test('a video with captions has no AV1, whose encoder would drop them', async () => {
  const av1 = async (clip: Omit<ClipSpec, 'path'>): Promise<number> => {
    await using folder = await workFolder();
    const { prepared } = await prepare(folder, clip, 'plus');
    return prepared.remainingRungs.filter((rung) => rung.kind === 'video' && rung.codec === 'av1')
      .length;
  };
  const { closedCaptions: _, ...silent } = LARGE;
  assert.deepEqual([await av1(LARGE), await av1(silent)], [0, 1]);
});

test('nothing is declared for a video without captions, nor for one with padding alone', async () => {
  const { closedCaptions: _, ...without } = CLIP;
  // The first caption row starts after two thirds of a second.
  for (const clip of [without, { ...CLIP, seconds: 0.6 }]) {
    await using folder = await workFolder();
    const { master, prepared } = await prepare(folder, clip);
    assert.doesNotMatch(master, /CLOSED-CAPTIONS/);
    assert.equal(prepared.hasClosedCaptions, false);
    assert.ok(prepared.sourceTracks?.every(({ kind }) => kind !== 'subtitle'));
  }
});
