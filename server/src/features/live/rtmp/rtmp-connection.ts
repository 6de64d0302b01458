/**
 * The server side of a publisher's RTMP connection.
 *
 *   handshake → connect → createStream → publish (the key is checked) → media … → closed
 *
 * A connection is closed if it has not published within a limited time and number of bytes, falls
 * silent, or does anything but publish.
 */
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { decodeAmf, encodeAmf, type AmfValue } from './amf0.ts';
import { ChunkReader } from './chunk-reader.ts';
import { ChunkWriter } from './chunk-writer.ts';
import {
  handshakeBytes,
  messageType,
  protocolVersion,
  uint32,
  type RtmpMessage,
} from './messages.ts';
import { RtmpError } from './rtmp-error.ts';

/** The receiver of a published stream. */
export type RtmpPublication = {
  /** Receives an audio or video message. Reading pauses until it resolves. */
  media(message: RtmpMessage): Promise<void> | void;
  /** Receives the encoder's stream metadata. */
  metadata(message: RtmpMessage): void;
};

/**
 * Why a key is rejected: no stream has it, its stream has ended, or this server has too many
 * publishers.
 */
export type RtmpRefusal = 'unknown' | 'ended' | 'full';

export type PublisherConnection = {
  /** Ends the connection. Media that was already received is still passed on. */
  close(): void;
};

export type RtmpHandlers = {
  publish(key: string, connection: PublisherConnection): Promise<RtmpPublication | RtmpRefusal>;
  /** Called once after reading, with the error, or null after a clean end. Never rejects. */
  closed(error: Error | null): Promise<void>;
};

export type RtmpLimits = {
  /** Time limit for sending the key. */
  readonly publishWithinMs: number;
  /** Maximum silence of a publisher. */
  readonly silenceMs: number;
};

/** For the handshake and some commands; an encoder needs less than a tenth of it. */
const maxBytesBeforePublish = 64 * 1024;
const acknowledgeEveryBytes = 2_500_000;
const sentChunkBytes = 4_096;
const controlChunks = 2;
const commandChunks = 3;
const mediaStreamId = 1;

const refusals: Record<RtmpRefusal, string> = {
  unknown: 'No stream has this key.',
  ended: 'The stream has ended.',
  full: 'Too many streams are published to this server. Try again.',
};

export class RtmpConnection implements PublisherConnection {
  readonly #socket: Socket;
  readonly #handlers: RtmpHandlers;
  readonly #limits: RtmpLimits;
  readonly #reader = new ChunkReader();
  readonly #writer = new ChunkWriter();
  #handshake: Buffer | null = Buffer.alloc(0);
  #hasAnswered = false;
  #publication: RtmpPublication | null = null;
  #receivedBytes = 0;
  #acknowledgedBytes = 0;
  #isReceiving = false;
  #isOver = false;

  constructor(socket: Socket, handlers: RtmpHandlers, limits: RtmpLimits) {
    this.#socket = socket;
    this.#handlers = handlers;
    this.#limits = limits;
  }

  get hasShakenHands(): boolean {
    return this.#handshake === null;
  }

  /** Serves the connection until it ends; call once. */
  run(): void {
    void this.#run();
  }

  close(): void {
    this.#socket.destroy();
  }

  async #run(): Promise<void> {
    const { publishWithinMs, silenceMs } = this.#limits;
    const late = setTimeout(() => {
      if (this.#publication === null)
        this.#socket.destroy(new RtmpError('did not publish in time'));
    }, publishWithinMs);
    this.#socket.setNoDelay(true);
    this.#socket.setTimeout(silenceMs, () => {
      // Nothing is read while media is being stored, so the publisher is not silent.
      if (this.#isReceiving) this.#socket.setTimeout(silenceMs);
      else this.#socket.destroy(new RtmpError('stopped sending'));
    });
    let failure: Error | null = null;
    try {
      // The last write must reach the peer, so leaving the loop must not destroy the socket.
      const chunks = this.#socket.iterator({ destroyOnReturn: false });
      for await (const bytes of chunks as AsyncIterable<Buffer>) {
        this.#isReceiving = true;
        await this.#receive(bytes);
        this.#isReceiving = false;
        if (this.#isOver) break;
      }
    } catch (error) {
      failure = error as Error;
    }
    clearTimeout(late);
    // Done first, so that a publisher that ends cleanly knows from the close that everything is
    // stored.
    await this.#handlers.closed(failure);
    this.#socket.end();
    this.#socket.destroySoon();
  }

  async #receive(bytes: Buffer): Promise<void> {
    this.#receivedBytes += bytes.length;
    const rest = this.#handshake === null ? bytes : this.#shakeHands(bytes);
    for (const message of this.#reader.read(rest)) {
      await this.#handle(message);
      if (this.#isOver) return;
    }
    if (this.#publication === null && this.#receivedBytes > maxBytesBeforePublish) {
      throw new RtmpError('sent too much data without a stream key');
    }
    if (this.#receivedBytes - this.#acknowledgedBytes >= acknowledgeEveryBytes) {
      this.#acknowledgedBytes = this.#receivedBytes;
      this.#control(messageType.acknowledgement, uint32(this.#receivedBytes));
    }
  }

  /** Answers the simple handshake (section 5.2). Returns the remaining bytes. */
  #shakeHands(bytes: Buffer): Buffer {
    const all = Buffer.concat([this.#handshake ?? Buffer.alloc(0), bytes]);
    if (all[0] !== protocolVersion) throw new RtmpError('not an RTMP connection');
    const firstEnd = 1 + handshakeBytes;
    const nothing = Buffer.alloc(0);
    this.#handshake = all;
    if (all.length < firstEnd) return nothing;
    if (!this.#hasAnswered) {
      this.#hasAnswered = true;
      const own = Buffer.concat([Buffer.alloc(8), randomBytes(handshakeBytes - 8)]);
      this.#send(Buffer.concat([Buffer.of(protocolVersion), own, all.subarray(1, firstEnd)]));
    }
    if (all.length < firstEnd + handshakeBytes) return nothing;
    this.#handshake = null;
    return all.subarray(firstEnd + handshakeBytes);
  }

  async #handle(message: RtmpMessage): Promise<void> {
    switch (message.type) {
      case messageType.command:
        return this.#command(decodeAmf(message.payload));
      case messageType.audio:
      case messageType.video:
        return this.#publication?.media(message);
      case messageType.data:
        return this.#publication?.metadata(message);
      default:
    }
  }

  async #command([name, transaction = 0, , ...rest]: AmfValue[]): Promise<void> {
    switch (typeof name === 'string' ? name : '') {
      case 'connect':
        return this.#acceptConnect(transaction);
      case 'createStream':
        return this.#answer(['_result', transaction, null, mediaStreamId]);
      case 'publish':
        return this.#publish(rest[0]);
      case 'FCUnpublish':
      case 'closeStream':
      case 'deleteStream':
        this.#isOver = true;
        return;
      case 'play':
      case 'play2':
        throw new RtmpError('playback is not supported');
      default:
    }
  }

  #acceptConnect(transaction: AmfValue): void {
    this.#control(messageType.windowAcknowledgementSize, uint32(acknowledgeEveryBytes));
    const dynamicLimit = Buffer.of(2);
    const bandwidth = Buffer.concat([uint32(acknowledgeEveryBytes), dynamicLimit]);
    this.#control(messageType.setPeerBandwidth, bandwidth);
    this.#control(messageType.setChunkSize, uint32(sentChunkBytes));
    this.#writer.chunkBytes = sentChunkBytes;
    const server = { fmsVer: 'FMS/3,0,1,123', capabilities: 31 };
    const description = 'Connection succeeded.';
    const status = { level: 'status', code: 'NetConnection.Connect.Success', description };
    this.#answer(['_result', transaction, server, { ...status, objectEncoding: 0 }]);
  }

  async #publish(key: AmfValue | undefined): Promise<void> {
    if (this.#publication !== null) throw new RtmpError('is already publishing');
    const judged = typeof key === 'string' ? await this.#handlers.publish(key, this) : 'unknown';
    if (typeof judged === 'string') {
      const description = refusals[judged];
      this.#status({ level: 'error', code: 'NetStream.Publish.BadName', description });
      throw new RtmpError('the stream key was rejected');
    }
    this.#publication = judged;
    this.#reader.allowMedia();
    const streamBegins = Buffer.concat([Buffer.alloc(2), uint32(mediaStreamId)]);
    this.#control(messageType.userControl, streamBegins);
    this.#status({ level: 'status', code: 'NetStream.Publish.Start', description: 'Published.' });
  }

  #status(status: { level: string; code: string; description: string }): void {
    this.#answer(['onStatus', 0, null, status], mediaStreamId);
  }

  #answer(values: readonly AmfValue[], streamId = 0): void {
    const payload = encodeAmf(...values);
    const message = { type: messageType.command, streamId, timestamp: 0, payload };
    this.#send(this.#writer.write(commandChunks, message));
  }

  #control(type: number, payload: Buffer): void {
    this.#send(this.#writer.write(controlChunks, { type, streamId: 0, timestamp: 0, payload }));
  }

  /** Responses are few and small: a peer that does not read them is disconnected. */
  #send(bytes: Buffer): void {
    if (!this.#socket.write(bytes)) throw new RtmpError('does not read responses');
  }
}
