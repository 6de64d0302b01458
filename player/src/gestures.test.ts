import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { createWheelStepper } from './gestures.ts';

/**
 * Feeds events of the given strengths, 16 ms apart, and returns the sum of steps in each gesture.
 */
function stepsOf(pushes: { pixels: number[]; atMs: number }[]): number[] {
  const step = createWheelStepper();
  return pushes.map(({ pixels, atMs }) =>
    pixels
      .map((deltaPixels, index) => step({ deltaPixels, atMs: atMs + index * 16 }))
      .reduce<number>((sum, offset) => sum + offset, 0),
  );
}

/** A trackpad flick: a strong start and a long fading tail. */
const flick = Array.from({ length: 90 }, (_, index) => 120 * 0.96 ** index);

test('one notch of a mouse wheel moves one slide', () => {
  assert.deepEqual(stepsOf([{ pixels: [120], atMs: 0 }]), [1]);
  assert.deepEqual(stepsOf([{ pixels: [-100], atMs: 0 }]), [-1]);
});

test('a trackpad flick moves one slide, however long its momentum lasts', () => {
  assert.deepEqual(stepsOf([{ pixels: flick, atMs: 0 }]), [1]);
});

test('two flicks with a pause between them move two slides', () => {
  const second = 90 * 16 + 200;
  assert.deepEqual(
    stepsOf([
      { pixels: flick, atMs: 0 },
      { pixels: flick, atMs: second },
    ]),
    [1, 1],
  );
});

test('turning back counts at once, even within the momentum', () => {
  const back = flick.map((pixels) => -pixels);
  assert.deepEqual(
    stepsOf([
      { pixels: flick.slice(0, 10), atMs: 0 },
      { pixels: back, atMs: 200 },
    ]),
    [1, -1],
  );
});

test('a wheel that keeps turning moves on, at most one slide every 650 ms', () => {
  const steady = Array.from({ length: 125 }, () => 100);
  assert.deepEqual(stepsOf([{ pixels: steady, atMs: 0 }]), [4]);
});

test('a touch of the trackpad that is not a swipe moves nothing', () => {
  assert.deepEqual(stepsOf([{ pixels: [2, 4, 5, 3, 1], atMs: 0 }]), [0]);
});
