/** The receiving side of an SRT connection in live mode: acknowledgements, loss reports, delivery. */
import {
  controlPacket,
  controlType,
  lossList,
  sequenceDistance,
  type Control,
  type SequenceRange,
  type SrtPacket,
} from './packets.ts';
import { Reordering } from './reordering.ts';

/** The initial round-trip estimate (section 4.10). */
const firstRoundTripMs = 100;
const leastReportEveryMs = 20;
const keepAliveEveryMs = 1_000;
/** Maximum number of acknowledgements kept until they are acknowledged themselves. */
const maxOpenAcknowledgements = 64;

export type ReceiverOptions = {
  readonly firstSequence: number;
  readonly latencyMs: number;
  /** The sender's socket ID. */
  readonly target: number;
  readonly send: (bytes: Buffer) => void;
};

export class SrtReceiver {
  readonly #target: number;
  readonly #send: (bytes: Buffer) => void;
  readonly #packets: Reordering;
  readonly #beganMs = performance.now();
  #roundTripMs = firstRoundTripMs;
  #varianceMs = firstRoundTripMs / 2;
  #acknowledged: number;
  #number = 0;
  /** The send time of each acknowledgement, by its number. */
  readonly #open = new Map<number, number>();
  #sentMs = -Infinity;
  #reportedMs = -Infinity;

  constructor({ firstSequence, latencyMs, target, send }: ReceiverOptions) {
    this.#target = target;
    this.#send = send;
    this.#packets = new Reordering(firstSequence, latencyMs);
    this.#acknowledged = firstSequence;
  }

  receive(packet: SrtPacket, nowMs: number): 'shutdown' | null {
    if (packet.type === 'data') {
      const { sequence, isEncrypted, payload } = packet.data;
      const gap = isEncrypted ? null : this.#packets.take(sequence, payload, nowMs);
      if (gap !== null) this.#reportLoss([gap], nowMs);
      return null;
    }
    const { control, info, body } = packet;
    if (control === controlType.acknowledged) this.#measure(info, nowMs);
    if (control === controlType.dropRequest && body.length >= 8) {
      const [first, last] = [body.readUInt32BE(0), body.readUInt32BE(4)];
      if (sequenceDistance(last, first) >= 0) this.#packets.drop({ first, last });
    }
    return control === controlType.shutdown ? 'shutdown' : null;
  }

  /** Yields packets that are in order, and those after a gap that has timed out. */
  ready(nowMs: number): Generator<Buffer> {
    return this.#packets.ready(nowMs);
  }

  report(nowMs: number): void {
    const { next } = this.#packets;
    const isRepeated = nowMs - this.#sentMs > this.#roundTripMs + 4 * this.#varianceMs;
    if (next !== this.#acknowledged || (this.#open.size > 0 && isRepeated))
      this.#acknowledge(nowMs);
    const everyMs = (this.#roundTripMs + 4 * this.#varianceMs) / 2;
    if (nowMs - this.#reportedMs > Math.max(leastReportEveryMs, everyMs)) {
      const missing = this.#packets.missing();
      if (missing.length > 0) this.#reportLoss(missing, nowMs);
    }
    if (nowMs - this.#sentMs > keepAliveEveryMs)
      this.#say({ control: controlType.keepAlive }, nowMs);
  }

  shutDown(): void {
    this.#say({ control: controlType.shutdown }, performance.now());
  }

  #acknowledge(nowMs: number): void {
    const { next, freePackets } = this.#packets;
    this.#acknowledged = next;
    this.#number += 1;
    this.#open.set(this.#number, nowMs);
    for (const number of this.#open.keys()) {
      if (number <= this.#number - maxOpenAcknowledgements) this.#open.delete(number);
    }
    // The trailing rates serve congestion control, which live mode does not use.
    const [roundTrip, variance] = [this.#roundTripMs * 1_000, this.#varianceMs * 1_000];
    const words = [next, Math.round(roundTrip), Math.round(variance), freePackets, 0, 0, 0];
    const body = Buffer.alloc(words.length * 4);
    for (const [index, word] of words.entries()) body.writeUInt32BE(word, index * 4);
    this.#say({ control: controlType.acknowledgement, info: this.#number, body }, nowMs);
  }

  /** Updates the round-trip estimate (section 4.10). */
  #measure(number: number, nowMs: number): void {
    const sentMs = this.#open.get(number);
    if (sentMs === undefined) return;
    for (const older of this.#open.keys()) if (older <= number) this.#open.delete(older);
    const measuredMs = Math.min(nowMs - sentMs, 10_000);
    const differenceMs = Math.abs(this.#roundTripMs - measuredMs);
    this.#varianceMs = (3 * this.#varianceMs + differenceMs) / 4;
    this.#roundTripMs = (7 * this.#roundTripMs + measuredMs) / 8;
  }

  #reportLoss(ranges: readonly SequenceRange[], nowMs: number): void {
    this.#reportedMs = nowMs;
    this.#say({ control: controlType.lossReport, body: lossList(ranges) }, nowMs);
  }

  #say(packet: Pick<Control, 'control' | 'info' | 'body'>, nowMs: number): void {
    this.#sentMs = nowMs;
    const atMs = Math.max(0, nowMs - this.#beganMs);
    this.#send(controlPacket({ ...packet, target: this.#target, atMs }));
  }
}
