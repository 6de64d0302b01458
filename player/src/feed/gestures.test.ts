import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { useWindow } from '../../dom-window.fixture.ts';
import { createWheelStepper, listenToTaps, listenToWheel } from './gestures.ts';

/**
 * Feeds in events of the given strengths, 16 ms apart, and returns the sum of steps in each
 * gesture.
 */
function stepsOf(pushes: { pixels: number[]; atMs: number }[]): number[] {
  const step = createWheelStepper();
  return pushes.map(({ pixels, atMs }) =>
    pixels
      .map((deltaPixels, index) => step({ deltaPixels, atMs: atMs + index * 16 }))
      .reduce<number>((sum, offset) => sum + offset, 0),
  );
}

/** A trackpad flick: a strong start and a long, fading tail. */
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

test('a wheel that keeps turning moves at most one slide every 650 ms', () => {
  const steady = Array.from({ length: 125 }, () => 100);
  assert.deepEqual(stepsOf([{ pixels: steady, atMs: 0 }]), [4]);
});

test('a touch of the trackpad that is not a swipe moves nothing', () => {
  assert.deepEqual(stepsOf([{ pixels: [2, 4, 5, 3, 1], atMs: 0 }]), [0]);
});

const window = useWindow();
const { document } = window;
document.body.innerHTML =
  '<main><p id="text"></p><div class="description open"><i id="open"></i></div>' +
  '<div class="pictures"><i id="picture"></i></div></main>';

test('a double tap is not a tap, and a press by keyboard is one at once', async () => {
  const target = document.getElementById('text') as unknown as HTMLElement;
  const taps: string[] = [];
  const single = Promise.withResolvers<void>();
  listenToTaps(
    target,
    () => {
      taps.push('single');
      single.resolve();
    },
    () => taps.push('double'),
  );
  const click = (detail: number) =>
    target.dispatchEvent(new window.MouseEvent('click', { detail }));
  click(0);
  assert.deepEqual(taps, ['single']);
  click(1);
  click(2);
  assert.deepEqual(taps, ['single', 'double']);
  click(1);
  assert.equal(taps.length, 2, 'it may become a double tap');
  taps.length = 0;
  await single.promise;
  for (const wait = Date.now() + 2_000; taps.length === 0 && Date.now() < wait;)
    await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(taps, ['single']);
});

test('the wheel is left to text that scrolls, to zoom, to pictures and at the end', () => {
  const main = document.querySelector('main') as unknown as HTMLElement;
  const steps: number[] = [];
  let sideways: -1 | 0 | 1 = 0;
  listenToWheel(
    main,
    (offset) => steps.push(offset),
    (offset) => offset > 0,
    () => sideways,
  );
  let at = 0;
  /** The steps of one wheel event, and whether it keeps the page from scrolling. */
  const push = (id: string, given: WheelEventInit): [string, boolean] => {
    steps.length = 0;
    const event = new window.WheelEvent('wheel', { bubbles: true, cancelable: true, ...given });
    at += 1_000;
    // The test DOM's wheel events have neither modifier keys nor a controllable timestamp.
    const { ctrlKey = false } = given;
    Object.defineProperties(event, { timeStamp: { value: at }, ctrlKey: { value: ctrlKey } });
    document.getElementById(id)?.dispatchEvent(event);
    return [steps.join(), event.defaultPrevented];
  };
  assert.deepEqual(push('text', { deltaY: 100 }), ['1', true]);
  assert.deepEqual(push('text', { deltaY: 1, deltaMode: 1 }), ['1', true], 'a line is 40 pixels');
  assert.deepEqual(push('text', { deltaY: -100 }), ['', false], 'the column ends there');
  assert.deepEqual(push('text', { deltaY: 100, ctrlKey: true }), ['', false]);
  assert.deepEqual(push('open', { deltaY: 100 }), ['', false]);
  assert.deepEqual(push('text', { deltaX: 100 }), ['', false]);
  sideways = 1;
  assert.deepEqual(push('text', { deltaX: 100 }), ['1', true]);
  assert.deepEqual(push('picture', { deltaX: 100 }), ['', false]);
  sideways = -1;
  assert.deepEqual(push('text', { deltaX: -100 }), ['1', true]);
});
