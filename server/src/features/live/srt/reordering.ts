/**
 * Puts the packets of a connection into their order, and knows which are missing. A packet that is lost
 * is waited for as long as the one behind it has waited for less than the latency.
 */
import { sequenceAfter, sequenceDistance, type SequenceRange } from './packets.ts';

/** Packets ahead of the first missing one. */
export const windowPackets = 8_192;
/** Ranges in one report, so that it fits into a datagram. */
const maxRanges = 100;

type Stored = { readonly payload: Buffer; readonly arrivedMs: number };

export class Reordering {
  readonly #latencyMs: number;
  readonly #stored = new Map<number, Stored>();
  #next: number;
  /** Behind the furthest packet that was seen. */
  #end: number;

  constructor(firstSequence: number, latencyMs: number) {
    this.#next = firstSequence;
    this.#end = firstSequence;
    this.#latencyMs = latencyMs;
  }

  /** The first packet that is not handed on. */
  get next(): number {
    return this.#next;
  }

  get freePackets(): number {
    return windowPackets - this.#stored.size;
  }

  /** Takes a packet. @returns the packets that are missing before it, the first time this shows */
  take(sequence: number, payload: Buffer, nowMs: number): SequenceRange | null {
    const ahead = sequenceDistance(sequence, this.#next);
    if (ahead < 0 || ahead >= windowPackets || this.#stored.has(sequence)) return null;
    this.#stored.set(sequence, { payload, arrivedMs: nowMs });
    const step = sequenceDistance(sequence, this.#end);
    if (step < 0) return null;
    const gap = step === 0 ? null : { first: this.#end, last: sequenceAfter(sequence, -1) };
    this.#end = sequenceAfter(sequence);
    return gap;
  }

  /** The sender has given these up. */
  drop({ first, last }: SequenceRange): void {
    const isHead = sequenceDistance(first, this.#next) <= 0;
    const ahead = sequenceDistance(last, this.#next);
    if (isHead && ahead >= 0 && ahead < windowPackets) this.#skipTo(sequenceAfter(last));
  }

  /** Hands on what is complete, and what is behind a loss that was waited for long enough. */
  *ready(nowMs: number): Generator<Buffer> {
    while (this.#stored.size > 0) {
      const found = this.#stored.get(this.#next);
      if (found !== undefined) {
        this.#stored.delete(this.#next);
        this.#next = sequenceAfter(this.#next);
        yield found.payload;
        continue;
      }
      const behind = this.#firstStored();
      const arrivedMs = this.#stored.get(behind)?.arrivedMs ?? nowMs;
      if (nowMs - arrivedMs < this.#latencyMs) return;
      this.#next = behind;
    }
  }

  /** What is missing between packets that are there. */
  missing(): SequenceRange[] {
    const ranges: SequenceRange[] = [];
    if (this.#stored.size === 0) return ranges;
    let first: number | null = null;
    for (let at = this.#next; at !== this.#end; at = sequenceAfter(at)) {
      const isThere = this.#stored.has(at);
      if (!isThere) first ??= at;
      if (!isThere || first === null) continue;
      ranges.push({ first, last: sequenceAfter(at, -1) });
      first = null;
      if (ranges.length === maxRanges) break;
    }
    return ranges;
  }

  #firstStored(): number {
    let at = this.#next;
    while (!this.#stored.has(at)) at = sequenceAfter(at);
    return at;
  }

  #skipTo(next: number): void {
    while (this.#next !== next && !this.#stored.has(this.#next)) {
      this.#next = sequenceAfter(this.#next);
    }
    if (sequenceDistance(this.#end, this.#next) < 0) this.#end = this.#next;
  }
}
