/** Reads numbers bit by bit. Beyond the end, it reads zeros. */
export class BitReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isPastEnd(): boolean {
    return this.#at > this.#bytes.length * 8;
  }

  /** Reads an unsigned number of `count` bits, at most 31. */
  bits(count: number): number {
    let value = 0;
    for (let index = 0; index < count; index += 1) {
      const byte = this.#bytes[this.#at >> 3] ?? 0;
      value = (value << 1) | ((byte >> (7 - (this.#at & 7))) & 1);
      this.#at += 1;
    }
    return value;
  }

  skip(count: number): void {
    this.#at += count;
  }

  flag(): boolean {
    return this.bits(1) === 1;
  }

  /** Reads an unsigned Exp-Golomb number (ISO/IEC 14496-10, 9.1). */
  unsigned(): number {
    let zeros = 0;
    while (!this.isPastEnd && zeros < 30 && this.bits(1) === 0) zeros += 1;
    return (1 << zeros) - 1 + this.bits(zeros);
  }

  /** Reads a signed Exp-Golomb number (9.1.1). */
  signed(): number {
    const code = this.unsigned();
    return code % 2 === 1 ? (code + 1) / 2 : -(code / 2);
  }
}

/** Removes the emulation prevention bytes of a unit (ISO/IEC 14496-10, 7.4.1). */
export function withoutEscapes(bytes: Buffer): Uint8Array {
  return Uint8Array.from(
    bytes.filter((byte, at) => !(byte === 3 && bytes[at - 1] === 0 && bytes[at - 2] === 0)),
  );
}
