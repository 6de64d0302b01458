import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { loudnessChange } from './child/sound/loudness.ts';
import { readRendition } from './testing/media-reader.ts';
import { prepareSample, workFolder } from './testing/run-task.ts';

/**
 * Mean absolute sample of a stereo tone at −14 LUFS: its amplitude is 10^((−14 + 0.691) / 20) by
 * ITU-R BS.1770, and a rectified sine averages 2/π of its amplitude.
 */
const TARGET_LEVEL = (2 / Math.PI) * 10 ** ((-14 + 0.691) / 20);

test('quiet and loud recordings come out at −14 LUFS, within 1 LU', async () => {
  for (const name of ['quiet.mp4', 'portrait.mp4', 'loud.mp4'] as const) {
    await using folder = await workFolder();
    const { outputDir } = await prepareSample(folder, name);
    const { sounds } = await readRendition(join(outputDir, '360'));
    const middle = sounds.slice(20, -20);
    const level = middle.reduce((sum, frame) => sum + frame.level, 0) / middle.length;
    const offBy = 20 * Math.log10(level / TARGET_LEVEL);
    assert.ok(Math.abs(offBy) < 1, `${name} is off by ${offBy.toFixed(2)} LU`);
  }
});

test('silence and recordings at the right loudness stay unchanged', () => {
  assert.equal(loudnessChange(null), null);
  assert.equal(loudnessChange({ integratedLufs: -70, truePeakDb: -Infinity }), null);
  assert.equal(loudnessChange({ integratedLufs: NaN, truePeakDb: NaN }), null);
  assert.equal(loudnessChange({ integratedLufs: -14, truePeakDb: -3 }), null);
});

test('peaks that a gain drives over −1 dB are limited, and gains have a bound', () => {
  const quiet = { integratedLufs: -24, truePeakDb: -12 };
  assert.deepEqual(loudnessChange(quiet), { gainDb: 10, isLimited: false });
  const peaky = { integratedLufs: -24, truePeakDb: -10 };
  assert.deepEqual(loudnessChange(peaky), { gainDb: 10, isLimited: true });
  assert.equal(loudnessChange({ integratedLufs: -59, truePeakDb: -50 })?.gainDb, 30);
  assert.deepEqual(loudnessChange({ integratedLufs: -8, truePeakDb: 0.3 }), {
    gainDb: -6,
    isLimited: false,
  });
});
