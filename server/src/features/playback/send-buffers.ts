/**
 * Memory for files that are sent from one buffer each: a segment takes one read then, and no stream.
 * A slow client holds its buffer for as long as it takes, so all of them together are bounded; whoever
 * gets none is sent a stream, which holds 64 kB.
 */

const smallestBytes = 128 * 1024;
const largestBytes = 2 * 2 ** 20;
/** Most memory of buffers that are lent, of the process. */
const maxLentBytes = 64 * 2 ** 20;
/** Memory that is kept for the next files: a fresh buffer costs a page fault for each 4 kB. */
const maxKeptBytes = 16 * 2 ** 20;

export type LentBuffer = {
  /** As long as was asked for; its first content is arbitrary. */
  readonly bytes: Buffer;
  /** Ends the loan, once. `isUnused` says that nothing will read the bytes any more. */
  end(state: { isUnused: boolean }): void;
};

export class SendBuffers {
  readonly #kept = new Map<number, Buffer[]>();
  #keptBytes = 0;
  #lentBytes = 0;

  /** A buffer for a file of this length; null where it is too long, or too many are lent. */
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
