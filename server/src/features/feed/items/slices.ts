import { setImmediate } from 'node:timers/promises';

/** Requests of this process wait no longer than this for a slice of long work. */
const sliceMs = 3;
/** The clock is read once for this many steps, since reading it may cost as much as a step. */
const stepsPerLook = 8;

/** Cuts long work into slices, between which the process serves requests. */
export class Slices {
  #startedAt = performance.now();
  #steps = 0;

  /** Call it after each step, and wait for `pause` if it returns true. */
  isOver(): boolean {
    this.#steps += 1;
    return this.#steps % stepsPerLook === 0 && performance.now() - this.#startedAt > sliceMs;
  }

  async pause(): Promise<void> {
    await setImmediate();
    this.#startedAt = performance.now();
  }
}
