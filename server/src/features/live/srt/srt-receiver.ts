/** The receiving side of an SRT connection in live mode: what it answers, and what it hands on. */
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

/** An estimate of the round trip until the first one is measured (section 4.10). */
const firstRoundTripMs = 100;
const leastReportEveryMs = 20;
const keepAliveEveryMs = 1_000;
/** Acknowledgements whose own acknowledgement is waited for. */
const maxOpenAcknowledgements = 64;

export type ReceiverOptions = {
  readonly firstSequence: number;
  readonly latencyMs: number;
  /** The socket id of the sender. */
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
  /** When acknowledgements were sent, by their number. */
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

  /** Hands on what is complete, and what is behind a loss that was waited for long enough. */
  ready(nowMs: number): Generator<Buffer> {
    return this.#packets.ready(nowMs);
  }

  /** Tells the sender what has arrived and what has not. */
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
    // The rates at the end are for congestion control, which live mode does without.
    const [roundTrip, variance] = [this.#roundTripMs * 1_000, this.#varianceMs * 1_000];
    const words = [next, Math.round(roundTrip), Math.round(variance), freePackets, 0, 0, 0];
    const body = Buffer.alloc(words.length * 4);
    for (const [index, word] of words.entries()) body.writeUInt32BE(word, index * 4);
    this.#say({ control: controlType.acknowledgement, info: this.#number, body }, nowMs);
  }

  /** Section 4.10. */
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
