/**
 * Restores the order of a connection's packets and tracks which are missing. A gap is skipped once the
 * packet after it has waited for the full latency.
 */
import { sequenceAfter, sequenceDistance, type SequenceRange } from './packets.ts';

/** Maximum number of packets held beyond the first missing one. */
export const windowPackets = 8_192;
/** Maximum number of ranges per loss report, so that it fits into a datagram. */
const maxRanges = 100;

type Stored = { readonly payload: Buffer; readonly arrivedMs: number };

export class Reordering {
  readonly #latencyMs: number;
  readonly #stored = new Map<number, Stored>();
  #next: number;
  /** One past the highest sequence number seen. */
  #end: number;

  constructor(firstSequence: number, latencyMs: number) {
    this.#next = firstSequence;
    this.#end = firstSequence;
    this.#latencyMs = latencyMs;
  }

  /** The first packet that has not been delivered. */
  get next(): number {
    return this.#next;
  }

  get freePackets(): number {
    return windowPackets - this.#stored.size;
  }

  /** Adds a packet. Returns the gap before it the first time that the gap is noticed. */
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

  /** Drops packets that the sender will not send again. */
  drop({ first, last }: SequenceRange): void {
    const isHead = sequenceDistance(first, this.#next) <= 0;
    const ahead = sequenceDistance(last, this.#next);
    if (isHead && ahead >= 0 && ahead < windowPackets) this.#skipTo(sequenceAfter(last));
  }

  /** Yields packets that are in order, and those after a gap that has timed out. */
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

  /** The gaps between received packets. */
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
