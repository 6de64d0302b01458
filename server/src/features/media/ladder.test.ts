import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LADDER_STEPS, planLadder, type LadderSource, type Rung } from './ladder.ts';

function ladder(width: number, height: number, maxFrameRate = 30): Rung[] {
  const { first, remaining } = planLadder({ width, height, maxFrameRate });
  return [first, ...remaining];
}

function sizes(rungs: Rung[]): string[] {
  return rungs.map((rung) =>
    rung.kind === 'video' ? `${rung.name}: ${rung.width}x${rung.height}` : rung.name,
  );
}

test('a portrait phone clip gets 720 first and then the other rungs, by its short side', () => {
  assert.deepEqual(sizes(ladder(1080, 1920)), [
    '720: 720x1280',
    '1080: 1080x1920',
    '540: 540x960',
    '360: 360x640',
    '240: 240x426',
  ]);
});

test('nothing is scaled up: a 4K source ends at 1080, a 480 source at 360', () => {
  assert.deepEqual(sizes(ladder(3840, 2160))[1], '1080: 1920x1080');
  assert.deepEqual(sizes(ladder(854, 480)), ['360: 640x360', '240: 428x240']);
  assert.deepEqual(sizes(ladder(540, 960)), ['540: 540x960', '360: 360x640', '240: 240x426']);
});

test('a source just below a step gets that rung at its own size', () => {
  assert.deepEqual(sizes(ladder(1072, 1906))[1], '1080: 1072x1906');
});

test('a source smaller than 360 gets a rung of its own size, made even', () => {
  assert.deepEqual(sizes(ladder(161, 121)), ['120: 160x120']);
  assert.deepEqual(sizes(ladder(320, 240)), ['240: 320x240']);
  assert.deepEqual(sizes(ladder(480, 270)), ['270: 480x270'], '240 would save nothing');
  assert.deepEqual(sizes(ladder(350, 622)), ['350: 350x622', '240: 240x426']);
});

test('the steps that are asked for are made, as far as the source reaches them', () => {
  const info = { width: 3840, height: 2160, maxFrameRate: 30 };
  const made = (steps: string[], source = info) => {
    const { first, remaining } = planLadder(source, { steps });
    return sizes([first, ...remaining]);
  };
  assert.deepEqual(made([...LADDER_STEPS]).slice(0, 3), [
    '720: 1280x720',
    '2160: 3840x2160',
    '1440: 2560x1440',
  ]);
  assert.deepEqual(made(['1080', '1440']), ['1080: 1920x1080', '1440: 2560x1440']);
  assert.deepEqual(made(['240']), ['240: 426x240']);
  assert.deepEqual(made(['720', '1080'], { ...info, width: 854, height: 480 }), ['480: 854x480']);
});

test('odd and extreme sizes become even and never exceed the source', () => {
  for (const [width, height] of [
    [361, 641],
    [721, 1281],
    [8191, 361],
    [1081, 1921],
    [999, 333],
  ] as const) {
    for (const rung of ladder(width, height)) {
      assert.ok(rung.kind === 'video');
      assert.equal(rung.width % 2, 0);
      assert.equal(rung.height % 2, 0);
      assert.ok(rung.width <= width && rung.height <= height, `${rung.width}x${rung.height}`);
    }
  }
});

test('frame rates are capped at 60, and at 30 below 720', () => {
  const rates = ladder(1080, 1920, 120).map((rung) =>
    rung.kind === 'video' ? rung.frameRate.num / rung.frameRate.den : 0,
  );
  assert.deepEqual(rates, [60, 60, 30, 30, 30]);
});

test('a source without a picture gets one audio rung', () => {
  const source: LadderSource = { width: null, height: null, maxFrameRate: null, hasAudio: true };
  assert.deepEqual(planLadder(source), {
    first: { kind: 'audio', name: 'audio' },
    remaining: [],
  });
});

test('plus makes the later rungs with more effort, and the upper ones in AV1 too', () => {
  const source: LadderSource = { width: 1080, height: 1920, maxFrameRate: 30 };
  const { first, remaining } = planLadder(source, { quality: 'plus' });
  assert.deepEqual(first, planLadder(source).first);
  const brief = remaining.map((rung) => rung.kind === 'video' && [rung.name, rung.effort ?? '']);
  assert.deepEqual(brief, [
    ['1080', 'slow'],
    ['540', 'slow'],
    ['360', 'slow'],
    ['240', 'slow'],
    ['1080av1', ''],
    ['720av1', ''],
    ['540av1', ''],
  ]);
});
