import { lineBps, rememberLine } from './line.ts';
import { type Preferences, type Store } from '@reelfeed/client/playing';

/** State shared by all players: the viewer's preferences and the connection speed. */
export class Conditions {
  /** May differ from the viewer's choice if the browser blocks sound. */
  muted: boolean;
  volume: number;
  /** 1 is normal speed. */
  speed = 1;
  readonly #device: Store;
  #measuredBps: number | null = null;

  constructor(device: Store, preferences: Preferences) {
    this.#device = device;
    this.muted = !preferences.hasSound;
    this.volume = preferences.volume;
  }

  /** Null until a clip has measured the connection. */
  get measuredBps(): number | null {
    return this.#measuredBps;
  }

  /** Records a measured connection speed in bits per second. */
  noteLine(bps: number): void {
    if (this.#measuredBps === null) rememberLine(this.#device, bps, Date.now());
    this.#measuredBps = bps;
  }

  /**
   * Estimated connection speed in bits per second before any clip has loaded, or null if unknown.
   */
  guessLine(): number | null {
    const downloads = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
    return lineBps(navigator, downloads, this.#device, Date.now());
  }
}
