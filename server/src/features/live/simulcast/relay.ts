/**
 * Forwards a broadcast to one server.
 *
 *   connecting ── published ──▶ sending ── closed, or stalled ──▶ failed ── pause ──▶ connecting
 *
 * 1. Ingest never waits for it: what the server does not accept in time is dropped up to the next
 *    key frame.
 * 2. It buffers at most `maxWaitingBytes` plus one message.
 * 3. Timestamps start at 0 with each connection and continue across jumps of the encoder's clock.
 */
import { awaitedLater } from '../../../platform/async/awaited-later.ts';
import { sleep } from '../../../platform/async/lifecycle.ts';
import { EncoderClock } from '../ingest/encoder-clock.ts';
import { messageType, type RtmpMessage } from '../rtmp/messages.ts';
import type { RtmpPublisher } from '../rtmp/rtmp-publisher.ts';
import { RtmpError } from '../rtmp/rtmp-error.ts';
import type { TargetStatus } from '../tables.ts';
import { sentenceOf } from './relay-failures.ts';

/** The headers that a server needs before the first picture. */
export type StreamHeaders = {
  metadata: RtmpMessage | null;
  video: RtmpMessage | null;
  audio: RtmpMessage | null;
};

export type RelayStatus = { readonly status: TargetStatus; readonly message: string | null };

export type RelayParts = {
  readonly headers: Readonly<StreamHeaders>;
  readonly open: (signal: AbortSignal) => Promise<RtmpPublisher>;
  readonly onStatus: (status: RelayStatus) => void;
  readonly timings?: RelayTimings;
};

export type RelayTimings = {
  /** A server that accepts no byte for this long counts as hanging. */
  readonly hangMs: number;
  /** The first pause; each further one doubles. */
  readonly pauseMs: number;
};

/** About five seconds at 6 Mbit/s. */
const maxWaitingBytes = 4 * 1024 * 1024;
const usualTimings: RelayTimings = { hangMs: 15_000, pauseMs: 1_000 };
const maxPauseMs = 60_000;
/** A connection that lasted this long resets the failure count. */
const soundAfterMs = 60_000;
const watchEveryMs = 500;
const endWithinMs = 1_000;

export class Relay implements AsyncDisposable {
  readonly #parts: RelayParts;
  readonly #timings: RelayTimings;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #publisher: RtmpPublisher | null = null;
  #clock: EncoderClock | null = null;
  #needsKeyFrame = true;
  #hasSent = false;
  #postedBytes = 0;

  constructor(parts: RelayParts) {
    this.#parts = parts;
    this.#timings = parts.timings ?? usualTimings;
    this.#running = awaitedLater(this.#run(this.#stopping.signal));
  }

  /** Sends an audio or video message that is not a header. Never waits. */
  take(message: RtmpMessage, { isKeyFrame }: { isKeyFrame: boolean }): void {
    const publisher = this.#publisher;
    if (publisher === null || !publisher.isOpen) return;
    if (this.#needsKeyFrame) {
      const isStart = this.#parts.headers.video === null || isKeyFrame;
      if (!isStart || publisher.waitingBytes > maxWaitingBytes / 2) return;
      this.#begin();
    } else if (publisher.waitingBytes > maxWaitingBytes) {
      this.#needsKeyFrame = true;
      return;
    }
    this.#post(message);
    if (this.#hasSent) return;
    this.#hasSent = true;
    this.#parts.onStatus({ status: 'sending', message: null });
  }

  takeHeader(message: RtmpMessage): void {
    if (!this.#needsKeyFrame) this.#post(message);
  }

  /** Ends the stream cleanly, unless the server takes too long. */
  async [Symbol.asyncDispose](): Promise<void> {
    const publisher = this.#publisher;
    this.#publisher = null;
    if (publisher !== null) {
      const late = setTimeout(() => publisher[Symbol.dispose](), endWithinMs);
      await publisher.end();
      clearTimeout(late);
    }
    this.#stopping.abort();
    await this.#running;
  }

  #begin(): void {
    this.#needsKeyFrame = false;
    const { audio, metadata, video } = this.#parts.headers;
    for (const header of [metadata, video, audio]) if (header !== null) this.#post(header);
  }

  #post(message: RtmpMessage): void {
    const { payload, type } = message;
    const posted = this.#publisher?.post(type, this.#timeOf(message), payload);
    this.#postedBytes += posted ?? 0;
  }

  /** Headers get the time of the preceding message. */
  #timeOf({ timestamp, type }: RtmpMessage): number {
    if (type !== messageType.audio && type !== messageType.video) return 0;
    this.#clock ??= new EncoderClock(timestamp, 0);
    const track = type === messageType.video ? 'video' : 'audio';
    return Math.max(0, Math.round(this.#clock.timeOf(track, timestamp)));
  }

  async #run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const startedAt = performance.now();
      try {
        this.#parts.onStatus({ status: 'connecting', message: null });
        await this.#send(signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#parts.onStatus({ status: 'failed', message: sentenceOf(error) });
      }
      if (performance.now() - startedAt > soundAfterMs) failures = 0;
      const pauseMs = Math.min(this.#timings.pauseMs * 2 ** failures, maxPauseMs);
      failures += 1;
      await sleep(pauseMs, signal);
    }
  }

  /** Sends until the connection ends. Throws the reason. */
  async #send(signal: AbortSignal): Promise<void> {
    using publisher = await this.#parts.open(signal);
    this.#clock = null;
    this.#needsKeyFrame = true;
    this.#hasSent = false;
    this.#postedBytes = 0;
    this.#publisher = publisher;
    try {
      await this.#watch(publisher, signal);
    } finally {
      this.#publisher = null;
    }
  }

  async #watch(publisher: RtmpPublisher, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    void publisher.closed.then(() => over.abort());
    const either = AbortSignal.any([signal, over.signal]);
    let sentBytes = 0;
    let movedAt = performance.now();
    while (!either.aborted) {
      await sleep(watchEveryMs, either);
      const nowSent = this.#postedBytes - publisher.waitingBytes;
      if (nowSent > sentBytes || publisher.waitingBytes === 0) movedAt = performance.now();
      sentBytes = Math.max(sentBytes, nowSent);
      if (performance.now() - movedAt > this.#timings.hangMs) {
        throw new RtmpError('the server stopped accepting data');
      }
    }
    if (!signal.aborted) throw new RtmpError('the server closed the connection');
  }
}
