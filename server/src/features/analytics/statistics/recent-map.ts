/**
 * A map that forgets what was not used for long: two maps take turns, and when the current one is
 * full, the other is emptied and becomes the current one. Cheaper than a true least-recently-used
 * order, and bounded by twice the limit.
 */
export class RecentMap<Value> {
  #current = new Map<string, Value>();
  #previous = new Map<string, Value>();
  #weight = 0;
  readonly #maxWeight: number;
  readonly #weigh: (value: Value) => number;

  /**
   * @param maxWeight of the current map; it is as many values where they weigh 1 each
   */
  constructor(maxWeight: number, weigh: (value: Value) => number = () => 1) {
    this.#maxWeight = maxWeight;
    this.#weigh = weigh;
  }

  get(key: string): Value | undefined {
    const found = this.#current.get(key);
    if (found !== undefined) return found;
    const earlier = this.#previous.get(key);
    if (earlier !== undefined) this.set(key, earlier);
    return earlier;
  }

  set(key: string, value: Value): void {
    if (!this.#current.has(key)) this.#weight += this.#weigh(value);
    this.#current.set(key, value);
    this.grew(0);
  }

  /** A value of the map weighs so much more than when it was put there. */
  grew(weight: number): void {
    this.#weight += weight;
    if (this.#weight <= this.#maxWeight) return;
    this.#previous = this.#current;
    this.#current = new Map();
    this.#weight = 0;
  }

  delete(key: string): void {
    this.#current.delete(key);
    this.#previous.delete(key);
  }

  clear(): void {
    this.#current.clear();
    this.#previous.clear();
    this.#weight = 0;
  }
}
