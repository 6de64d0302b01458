/**
 * A map that forgets values not used recently. Two maps alternate: when the current one is full,
 * the other is emptied and becomes current. Cheaper than a true LRU, and bounded by twice the
 * limit.
 */
export class RecentMap<Value> {
  #current = new Map<string, Value>();
  #previous = new Map<string, Value>();
  #weight = 0;
  readonly #maxWeight: number;
  readonly #weigh: (value: Value) => number;

  /** @param maxWeight of the current map; with the default weight, the number of values */
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

  /** Adds to the weight of a stored value that has grown. */
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
