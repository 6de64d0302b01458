/**
 * Pooled buffers for sending small files: a segment then takes a single read and no stream. A slow
 * client holds its buffer until it is done, so the total is bounded; a request that gets no buffer
 * uses a stream, which holds 64 kB.
 */

const smallestBytes = 128 * 1024;
const largestBytes = 2 * 2 ** 20;
/** Maximum total size of lent buffers in the process. */
const maxLentBytes = 64 * 2 ** 20;
/** Memory kept for reuse: a new buffer costs a page fault for every 4 kB. */
const maxKeptBytes = 16 * 2 ** 20;

export type LentBuffer = {
  /** Has the requested length; its initial content is arbitrary. */
  readonly bytes: Buffer;
  /** Ends the loan; call once. `isUnused` means that nothing will read the bytes any more. */
  end(state: { isUnused: boolean }): void;
};

export class SendBuffers {
  readonly #kept = new Map<number, Buffer[]>();
  #keptBytes = 0;
  #lentBytes = 0;

  /** A buffer for a file of this length, or null if it is too long or too many are lent. */
  lend(lengthBytes: number): LentBuffer | null {
    if (lengthBytes > largestBytes) return null;
    let sizeBytes = smallestBytes;
    while (sizeBytes < lengthBytes) sizeBytes *= 2;
    if (this.#lentBytes + sizeBytes > maxLentBytes) return null;
    this.#lentBytes += sizeBytes;
    const whole = this.#take(sizeBytes);
    return {
      bytes: whole.subarray(0, lengthBytes),
      end: ({ isUnused }) => {
        this.#lentBytes -= sizeBytes;
        if (isUnused) this.#keep(whole);
      },
    };
  }

  #take(sizeBytes: number): Buffer {
    const buffer = this.#kept.get(sizeBytes)?.pop();
    if (buffer === undefined) return Buffer.allocUnsafeSlow(sizeBytes);
    this.#keptBytes -= sizeBytes;
    return buffer;
  }

  #keep(buffer: Buffer): void {
    if (this.#keptBytes + buffer.length > maxKeptBytes) return;
    this.#keptBytes += buffer.length;
    const same = this.#kept.get(buffer.length);
    if (same === undefined) this.#kept.set(buffer.length, [buffer]);
    else same.push(buffer);
  }
}
