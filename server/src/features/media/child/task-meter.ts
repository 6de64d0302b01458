/** Counts what a task has done, for its progress and for the watch on stalled tasks. */
export class TaskMeter {
  #totalSeconds: number | null;
  #totalBytes: number;
  #work = 0;
  #seconds = 0;
  #bytes = 0;

  /** `totalSeconds` is null where the container claims no length; then bytes read count. */
  constructor(total: { seconds: number | null; bytes: number } = { seconds: null, bytes: 0 }) {
    this.#totalSeconds = total.seconds;
    this.#totalBytes = total.bytes;
  }

  /** Says how much there is to do, once that is known. */
  expect(total: { seconds: number | null; bytes: number }): void {
    this.#totalSeconds = total.seconds;
    this.#totalBytes = total.bytes;
  }

  /** Grows with every packet and frame. */
  get work(): number {
    return this.#work;
  }

  /** Between 0 and 1, never falling; 1 is left to the result itself. */
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
