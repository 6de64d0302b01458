import { lineBps, rememberLine } from './line.ts';
import { type Preferences, type Store } from '@reelfeed/client/playing';

/** What all players have in common: how the viewer wants to watch, and how fast the line is. */
export class Conditions {
  /** May differ from what the viewer has chosen, where the browser allows no sound. */
  muted: boolean;
  volume: number;
  /** 1 is the speed of the recording. */
  speed = 1;
  readonly #device: Store;
  #measuredBps: number | null = null;

  constructor(device: Store, preferences: Preferences) {
    this.#device = device;
    this.muted = !preferences.hasSound;
    this.volume = preferences.volume;
  }

  /** Null while no clip has measured the line. */
  get measuredBps(): number | null {
    return this.#measuredBps;
  }

  /** A clip has measured the line, in bits per second. */
  noteLine(bps: number): void {
    if (this.#measuredBps === null) rememberLine(this.#device, bps, Date.now());
    this.#measuredBps = bps;
  }

  /** Bits per second of the line, estimated before any clip has loaded; null if nothing is known. */
  guessLine(): number | null {
    const downloads = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
    return lineBps(navigator, downloads, this.#device, Date.now());
  }
}
