/** Proves that a long video encoded in parallel parts equals the result of a single run. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { mediaSample, type ClipName } from '../../../test/media-samples.ts';
import { describeSource } from './child/source/describe.ts';
import { planParts } from './child/rendition/parts.ts';
import { openSource } from './child/source/source.ts';
import { planLadder } from './ladder.ts';
import { readMedia, readSegments, type ReadFrame } from './testing/media-reader.ts';
import { prepareSample, workFolder } from './testing/run-task.ts';

const SECONDS = 75;
const PART_SECONDS = 20;
const MARK_SECONDS = 21;
const BRIGHT = 40;
const FRAME_RATE = 15;
const SOUND_RATE = 48_000;

/** The largest gap between the end of a frame and the next frame. */
function largestGap(frames: readonly ReadFrame[], length: number): number {
  return Math.max(
    ...frames.slice(1).map(({ seconds }, index) => {
      const before = frames[index];
      return Math.abs(seconds - (before?.seconds ?? 0) - length);
    }),
  );
}

/**
 * Difference in brightness between the pictures around a joint and the other pictures, shifted by
 * the given number of frames.
 */
function difference(
  frames: readonly ReadFrame[],
  others: readonly ReadFrame[],
  seconds: number,
  shift: number,
): number {
  let sum = 0;
  for (let index = (seconds - 2) * FRAME_RATE; index < (seconds + 2) * FRAME_RATE; index += 1) {
    sum += Math.abs((frames[index]?.level ?? 0) - (others[index + shift]?.level ?? 0));
  }
  return sum;
}

async function prepared(threads: number) {
  await using folder = await workFolder();
  const { outputDir, info, rungs } = await prepareSample(folder, 'long.mp4', { threads });
  const rung = join(outputDir, rungs[0]?.name ?? '');
  return {
    info,
    playlist: await readFile(join(rung, 'index.m3u8'), 'utf8'),
    segments: await readSegments(rung),
    download: await readMedia(join(outputDir, 'download', 'video.mp4')),
  };
}

test('a video encoded in parts is the one that a single run makes, with picture and sound in time', async () => {
  const whole = await prepared(1);
  const joined = await prepared(2);
  assert.deepEqual(joined.info, whole.info);
  assert.equal(joined.playlist, whole.playlist, 'the same segments');
  for (const [index, { video, audio }] of joined.segments.entries()) {
    const same = whole.segments[index];
    const startOf = (track: typeof video) => track?.frames[0]?.seconds;
    assert.equal(startOf(video), startOf(same?.video), `picture of segment ${index}`);
    assert.equal(startOf(audio), startOf(same?.audio), `sound of segment ${index}`);
    assert.equal(video?.packetIsIdr[0], true);
    assert.equal(video.frames.length, same?.video?.frames.length);
    assert.equal(audio?.frames.length, same?.audio?.frames.length);
  }
  const [pictures, sounds] = [true, false].map(
    (isVideo) => joined.download.find((track) => track.isVideo === isVideo)?.frames ?? [],
  );
  assert.ok(pictures !== undefined && sounds !== undefined);
  assert.equal(pictures.length, SECONDS * FRAME_RATE);
  assert.ok(largestGap(pictures, 1 / FRAME_RATE) < 0.001, 'no picture is missing or early');
  assert.ok(largestGap(sounds, 1_024 / SOUND_RATE) < 0.001, 'no gap in the sound');
  const picture = pictures.find(({ level }) => level > BRIGHT);
  const sound = sounds.find(({ onset }) => onset !== null);
  const heard = (sound?.seconds ?? 0) + (sound?.onset ?? 0);
  assert.equal(Math.round((picture?.seconds ?? 0) * FRAME_RATE), MARK_SECONDS * FRAME_RATE);
  assert.ok(Math.abs(heard - (picture?.seconds ?? 0)) <= 0.02, `sound at ${heard} s`);
  const inOneRun = whole.download.find(({ isVideo }) => isVideo)?.frames ?? [];
  for (const joint of [2 * PART_SECONDS, 3 * PART_SECONDS]) {
    const differenceAt = (shift: number) => difference(pictures, inOneRun, joint, shift);
    const others = Math.min(differenceAt(-1), differenceAt(1));
    assert.ok(differenceAt(0) * 4 < others, `at ${joint} s: ${differenceAt(0)} and ${others}`);
  }
});

test('only what is long and has key frames close to the cuts is encoded in parts', async () => {
  const plan = async (name: ClipName, threads: number) => {
    const path = await mediaSample(name);
    const source = await openSource(path);
    const rung = planLadder(describeSource(source)).first;
    const parts = await planParts(source, rung, {
      segmentSeconds: 4,
      hasShortStart: true,
      threads,
    });
    await source.container.closeInput();
    return parts?.map(({ startFrame, endFrame }) => [startFrame, endFrame]) ?? null;
  };
  assert.deepEqual(await plan('long.mp4', 2), [
    [0, 315],
    [315, 615],
    [615, 915],
    [915, null],
  ]);
  assert.equal(await plan('long.mp4', 1), null, 'a single thread');
  assert.equal(await plan('portrait.mp4', 2), null, 'too short');
  assert.equal(await plan('still.mp4', 2), null, 'two key frames in 200 s');
  assert.equal(await plan('audio-only.m4a', 2), null, 'no picture');
});

test('a task that is killed among its parts leaves nothing', async () => {
  await using folder = await workFolder();
  const kill = new AbortController();
  const seen: number[] = [];
  const onProgress = (fraction: number): void => {
    seen.push(fraction);
    if (fraction > 0.3) kill.abort(new Error('enough'));
  };
  const task = prepareSample(folder, 'long.mp4', { threads: 2, onProgress, signal: kill.signal });
  await assert.rejects(task, /enough/);
  assert.ok((seen.at(-1) ?? 0) < 0.95, seen.join());
  assert.deepEqual(await readdir(folder.path), []);
});
