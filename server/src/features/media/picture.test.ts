import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aspectRatio, outputFrameRate, resolutionTier, shownFrameRate } from './picture.ts';

test('tiers follow the pixel count, whichever way the picture stands', () => {
  const tier = (width: number, height: number): string => resolutionTier({ width, height });
  assert.equal(resolutionTier(null), 'audio-only');
  assert.equal(tier(640, 360), 'SD');
  assert.equal(tier(1280, 720), 'HD');
  assert.equal(tier(720, 1280), 'HD');
  assert.equal(tier(1080, 1920), 'FHD');
  assert.equal(tier(2160, 3840), 'UHD');
});

test('a picture up to 2 % below a bound reaches its tier, one further below does not', () => {
  assert.equal(resolutionTier({ width: 1920, height: 1062 }), 'FHD');
  assert.equal(resolutionTier({ width: 1920, height: 1050 }), 'HD');
});

test('aspect ratios snap to common ones within 1 % and are reduced otherwise', () => {
  assert.equal(aspectRatio(1080, 1920), '9:16');
  assert.equal(aspectRatio(608, 1080), '9:16');
  assert.equal(aspectRatio(361, 641), '9:16');
  assert.equal(aspectRatio(1080, 1350), '4:5');
  assert.equal(aspectRatio(1000, 1000), '1:1');
  assert.equal(aspectRatio(2560, 1080), '64:27');
  assert.equal(aspectRatio(2520, 1080), '21:9');
  assert.equal(aspectRatio(1000, 300), '10:3');
});

test('shown rates lose the rounding of containers that count in milliseconds', () => {
  assert.equal(shownFrameRate(1000 / 33), 30);
  assert.equal(shownFrameRate(30000 / 1001), 29.97);
  assert.equal(shownFrameRate(17.5), 17.5);
});

test('output rates keep common rates, divide what is too fast, and round up the rest', () => {
  assert.deepEqual(outputFrameRate(30, 60), { num: 30, den: 1 });
  assert.deepEqual(outputFrameRate(29.97, 30), { num: 30000, den: 1001 });
  assert.deepEqual(outputFrameRate(60, 30), { num: 30, den: 1 });
  assert.deepEqual(outputFrameRate(59.94, 30), { num: 30000, den: 1001 });
  assert.deepEqual(outputFrameRate(120, 60), { num: 60, den: 1 });
  assert.deepEqual(outputFrameRate(1000, 60), { num: 60, den: 1 });
  assert.deepEqual(outputFrameRate(31, 30), { num: 30, den: 1 });
  assert.deepEqual(outputFrameRate(40, 30), { num: 30, den: 1 });
  assert.deepEqual(outputFrameRate(144, 60), { num: 48, den: 1 });
  assert.deepEqual(outputFrameRate(144, 30), { num: 29, den: 1 });
  assert.deepEqual(outputFrameRate(119.88, 30), { num: 30000, den: 1001 });
  assert.deepEqual(outputFrameRate(90, 60), { num: 45, den: 1 });
  assert.deepEqual(outputFrameRate(17.4, 60), { num: 18, den: 1 });
  assert.deepEqual(outputFrameRate(1, 60), { num: 10, den: 1 });
});

test('no output rate is above its cap or below 10', () => {
  for (let rate = 0.1; rate < 1000; rate *= 1.01) {
    for (const cap of [30, 60]) {
      const { num, den } = outputFrameRate(rate, cap);
      assert.ok(num / den <= cap && num / den >= 10, `${rate} became ${num}/${den}`);
    }
  }
});
