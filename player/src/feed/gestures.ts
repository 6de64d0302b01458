/** Two taps within this time are a double tap. */
const doubleTapMs = 260;
/** Wheel travel in pixels that counts as an intention to move. */
const wheelThresholdPixels = 28;
/** A pause of this length ends a wheel gesture, together with its momentum. */
const wheelPauseMs = 140;
/** A wheel that keeps turning moves one slide per this interval. */
const wheelRepeatMs = 650;

/**
 * Distinguishes single from double taps. A press by keyboard or screen reader is a single tap
 * immediately.
 */
export function listenToTaps(target: HTMLElement, single: () => void, double: () => void): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  target.addEventListener('click', (event) => {
    clearTimeout(timer);
    if (event.detail === 0) single();
    else if (event.detail % 2 === 0) double();
    else timer = setTimeout(single, doubleTapMs);
  });
}

export type WheelSample = {
  readonly deltaPixels: number;
  readonly atMs: number;
};

/**
 * Converts wheel events into steps of one slide. A trackpad sends a hundred events per swipe and
 * keeps sending while the momentum fades: only the first push and steady turning count. Returns -1,
 * 0 or 1 for each sample.
 */
export function createWheelStepper(): (sample: WheelSample) => -1 | 0 | 1 {
  let lastAtMs = -Infinity;
  let movedAtMs = -Infinity;
  let travelled = 0;
  let lastPixels = 0;
  return ({ deltaPixels, atMs }) => {
    const isNewGesture = atMs - lastAtMs > wheelPauseMs;
    const turnedBack = deltaPixels * lastPixels < 0;
    if (isNewGesture || turnedBack) {
      travelled = 0;
      movedAtMs = -Infinity;
    }
    // Momentum only fades, so an event at least as strong as the previous one comes from the hand.
    const fades = !isNewGesture && Math.abs(deltaPixels) < Math.abs(lastPixels);
    lastAtMs = atMs;
    lastPixels = deltaPixels;
    const hasMoved = movedAtMs > -Infinity;
    if (hasMoved && (fades || atMs - movedAtMs < wheelRepeatMs)) return 0;
    travelled += deltaPixels;
    if (Math.abs(travelled) < wheelThresholdPixels) return 0;
    travelled = 0;
    movedAtMs = atMs;
    return deltaPixels > 0 ? 1 : -1;
  };
}

/**
 * Moves the column by the wheel. Leaves the event to the browser over scrollable text, and at the
 * end of the column (see `canStep`), so that the surrounding page scrolls on.
 */
export function listenToWheel(
  target: HTMLElement,
  step: (offset: -1 | 1) => void,
  canStep: (offset: -1 | 1) => boolean,
  /**
   * Returns 1 or -1 if horizontal wheel or trackpad movement moves through the feed, otherwise 0.
   */
  sideways: () => -1 | 0 | 1 = () => 0,
): void {
  const stepOf = createWheelStepper();
  target.addEventListener(
    'wheel',
    (event) => {
      const over = event.target instanceof Element ? event.target : null;
      if (event.ctrlKey || over?.closest('.description.open') != null) return;
      const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (isSideways && (sideways() === 0 || over?.closest('.pictures') != null)) return;
      const delta = isSideways ? event.deltaX * sideways() : event.deltaY;
      if (!canStep(delta > 0 ? 1 : -1)) return;
      event.preventDefault();
      const pixelsPerUnit = [1, 40, target.clientHeight][event.deltaMode] ?? 1;
      const offset = stepOf({ deltaPixels: delta * pixelsPerUnit, atMs: event.timeStamp });
      if (offset !== 0) step(offset);
    },
    { passive: false },
  );
}
