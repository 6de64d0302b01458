/** Encodes a value as a record of `sizeBytes`. */
export type RecordCodec<Value> = {
  readonly sizeBytes: number;
  readonly read: (bytes: Buffer, at: number) => Value;
  readonly write: (value: Value, bytes: Buffer, at: number) => void;
};

/**
 * A `RecentMap` for values with fixed-size records, stored outside the heap. A hundred thousand
 * objects would take four times the memory, and every garbage collection would traverse them.
 */
export class RecentRecords<Value> {
  readonly #maxRecords: number;
  readonly #codec: RecordCodec<Value>;
  #current: Generation<Value>;
  #previous: Generation<Value>;

  /** @param maxRecords per generation; there are at most twice as many */
  constructor(maxRecords: number, codec: RecordCodec<Value>) {
    this.#maxRecords = maxRecords;
    this.#codec = codec;
    this.#current = new Generation(codec);
    this.#previous = new Generation(codec);
  }

  /** Returns a copy: changing it has no effect here. */
  get(key: string): Value | null {
    const found = this.#current.get(key);
    if (found !== null) return found;
    const earlier = this.#previous.get(key);
    if (earlier !== null) this.set(key, earlier);
    return earlier;
  }

  set(key: string, value: Value): void {
    if (this.#current.size >= this.#maxRecords && !this.#current.has(key)) {
      [this.#current, this.#previous] = [this.#previous, this.#current];
      this.#current.clear();
    }
    this.#current.set(key, value);
  }

  /** Also releases the memory. */
  clear(): void {
    this.#current = new Generation(this.#codec);
    this.#previous = new Generation(this.#codec);
  }
}

const firstRecords = 1_024;

class Generation<Value> {
  readonly #codec: RecordCodec<Value>;
  readonly #offsets = new Map<string, number>();
  #bytes = Buffer.alloc(0);

  constructor(codec: RecordCodec<Value>) {
    this.#codec = codec;
  }

  get size(): number {
    return this.#offsets.size;
  }

  has(key: string): boolean {
    return this.#offsets.has(key);
  }

  get(key: string): Value | null {
    const at = this.#offsets.get(key);
    return at === undefined ? null : this.#codec.read(this.#bytes, at);
  }

  set(key: string, value: Value): void {
    let at = this.#offsets.get(key);
    if (at === undefined) {
      at = this.#offsets.size * this.#codec.sizeBytes;
      this.#makeRoom(at + this.#codec.sizeBytes);
      this.#offsets.set(key, at);
    }
    this.#codec.write(value, this.#bytes, at);
  }

  /** Keeps the buffer for the next records. */
  clear(): void {
    this.#offsets.clear();
  }

  #makeRoom(lengthBytes: number): void {
    const before = this.#bytes;
    if (lengthBytes <= before.length) return;
    const least = firstRecords * this.#codec.sizeBytes;
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(least, before.length * 2));
    before.copy(this.#bytes);
  }
}
