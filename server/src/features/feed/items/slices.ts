import { setImmediate } from 'node:timers/promises';

/** The longest that other requests wait for a slice of long work. */
const sliceMs = 3;
/** The clock is read once per this many steps, because reading it may cost as much as a step. */
const stepsPerLook = 8;

/** Splits long work into slices, between which the process serves requests. */
export class Slices {
  #startedAt = performance.now();
  #steps = 0;

  /** Call after each step, and await `pause` if it returns true. */
  isOver(): boolean {
    this.#steps += 1;
    return this.#steps % stepsPerLook === 0 && performance.now() - this.#startedAt > sliceMs;
  }

  async pause(): Promise<void> {
    await setImmediate();
    this.#startedAt = performance.now();
  }
}
