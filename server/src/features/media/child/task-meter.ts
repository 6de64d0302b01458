/** Tracks the work of a task, for progress reports and stall detection. */
export class TaskMeter {
  #totalSeconds: number | null;
  #totalBytes: number;
  #work = 0;
  #seconds = 0;
  #bytes = 0;

  /**
   * `seconds` is null if the container declares no duration; then progress is measured in bytes
   * read.
   */
  constructor(total: { seconds: number | null; bytes: number } = { seconds: null, bytes: 0 }) {
    this.#totalSeconds = total.seconds;
    this.#totalBytes = total.bytes;
  }

  /** Sets the total amount of work once it is known. */
  expect(total: { seconds: number | null; bytes: number }): void {
    this.#totalSeconds = total.seconds;
    this.#totalBytes = total.bytes;
  }

  /** Increases with every packet and frame. */
  get work(): number {
    return this.#work;
  }

  /** From 0 to just below 1, never decreasing; 1 is reserved for the result. */
  get fraction(): number {
    const done =
      this.#totalSeconds === null
        ? this.#bytes / Math.max(1, this.#totalBytes)
        : this.#seconds / this.#totalSeconds;
    return Math.min(0.99, done);
  }

  addWork(): void {
    this.#work += 1;
  }

  reachedTime(seconds: number): void {
    this.#work += 1;
    this.#seconds = Math.max(this.#seconds, seconds);
  }

  reachedByte(position: bigint): void {
    this.#work += 1;
    this.#bytes = Math.max(this.#bytes, Number(position));
  }
}
