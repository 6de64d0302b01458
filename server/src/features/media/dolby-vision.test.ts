import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { mediaSample, type ClipName } from '../../../test/media-samples.ts';
import { readMedia, type ReadTrack } from './testing/media-reader.ts';
import { prepareSample, workFolder } from './testing/run-task.ts';

const MAX_DIFFERENCE = 3;

async function picture(path: string): Promise<ReadTrack> {
  const track = (await readMedia(path)).find(({ isVideo }) => isVideo);
  assert.ok(track !== undefined);
  return track;
}

async function rendition(name: ClipName): Promise<ReadTrack> {
  await using folder = await workFolder();
  const { outputDir } = await prepareSample(folder, name);
  return await picture(join(outputDir, 'download', 'video.mp4'));
}

test('of Dolby Vision profile 8 the base layer is shown, without what its metadata would change', async () => {
  const source = await picture(await mediaSample('dolby-vision.mp4'));
  // The metadata would halve the signal.
  assert.ok(source.hasDolbyVision, 'the decoder understands the metadata');
  assert.deepEqual([source.frames.length, source.frames.at(-1)?.seconds.toFixed(2)], [60, '1.97']);
  const plain = await rendition('hlg.mp4');
  const dolby = await rendition('dolby-vision.mp4');
  assert.equal(dolby.hasDolbyVision, false);
  assert.equal(dolby.colors, plain.colors);
  for (const x of [0.1, 0.3, 0.5, 0.7, 0.9]) {
    const pairs = dolby.pixel(x, 0.3).map((value, plane) => [value, plain.pixel(x, 0.3)[plane]]);
    for (const [value = 0, other = 0] of pairs) {
      assert.ok(Math.abs(value - other) <= MAX_DIFFERENCE, `${value}, not ${other}, at ${x}`);
    }
  }
});
