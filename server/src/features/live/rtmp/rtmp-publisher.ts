/** The client's side of RTMP: publishes messages, for `reelfeed live test` and the tests. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectByTls } from 'node:tls';
import { awaitedLater } from '../../../platform/awaited-later.ts';
import { decodeAmf, encodeAmf, type AmfObject, type AmfValue } from './amf0.ts';
import { ChunkReader } from './chunk-reader.ts';
import { ChunkWriter } from './chunk-writer.ts';
import { handshakeBytes, messageType, protocolVersion, uint32 } from './messages.ts';
import { RtmpError } from './rtmp-error.ts';

const controlChunks = 2;
const commandChunks = 3;
const mediaChunks = 4;
const chunkBytes = 65_536;
const mediaStreamId = 1;

export class RtmpPublisher implements Disposable {
  readonly #socket: Socket;
  readonly #writer = new ChunkWriter();
  readonly #commands: AsyncGenerator<AmfValue[]>;
  readonly #greeted = Promise.withResolvers<void>();

  /** Resolves when the connection is over, however it ended. */
  readonly closed: Promise<void>;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    this.#commands = this.#readCommands();
  }

  /**
   * Connects to `rtmp://host[:port]/app`, or by TLS to `rtmps://…`, and publishes under `name`.
   *
   * @throws RtmpError when the server refuses
   */
  static async open(url: string, name: string): Promise<RtmpPublisher> {
    const { protocol, hostname, port, pathname } = new URL(url);
    const isSecure = protocol === 'rtmps:';
    const target = { host: hostname, port: port === '' ? (isSecure ? 443 : 1935) : Number(port) };
    const socket = isSecure ? connectByTls(target) : connect(target);
    await once(socket, isSecure ? 'secureConnect' : 'connect');
    socket.on('error', () => undefined);
    const publisher = new RtmpPublisher(socket);
    try {
      await publisher.#begin(url, pathname.slice(1), name);
      return publisher;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  get isOpen(): boolean {
    return this.#socket.writable;
  }

  /** Sends sound or pictures; resolves when there is room for more. */
  async send(type: number, timestamp: number, payload: Buffer): Promise<void> {
    const message = { type, timestamp, payload, streamId: mediaStreamId };
    if (this.#socket.write(this.#writer.write(mediaChunks, message))) return;
    const drained = new Promise((resolve) => this.#socket.once('drain', resolve));
    await Promise.race([drained, this.closed]);
  }

  /** Ends the stream in good order. */
  async end(): Promise<void> {
    this.#command(['deleteStream', 0, null, mediaStreamId]);
    this.#socket.end();
    await this.closed;
  }

  /** Cuts the connection off, as a lost network does. */
  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  async #begin(tcUrl: string, app: string, name: string): Promise<void> {
    const hello = Buffer.concat([Buffer.alloc(8), randomBytes(handshakeBytes - 8)]);
    this.#socket.write(Buffer.concat([Buffer.of(protocolVersion), hello]));
    const first = awaitedLater(this.#commands.next());
    await Promise.race([this.#greeted.promise, this.closed]);
    const size = { type: messageType.setChunkSize, streamId: 0, timestamp: 0 };
    this.#socket.write(this.#writer.write(controlChunks, { ...size, payload: uint32(chunkBytes) }));
    this.#writer.chunkBytes = chunkBytes;
    this.#command(['connect', 1, { app, type: 'nonprivate', flashVer: 'FMLE/3.0', tcUrl }]);
    if ((await first).done === true) throw new RtmpError('the server closed the connection');
    this.#command(['createStream', 2, null]);
    await this.#nextCommand();
    this.#command(['publish', 3, null, name, 'live'], mediaStreamId);
    const [, , , status] = await this.#nextCommand();
    const { code, description } = (status ?? {}) as AmfObject;
    if (code !== 'NetStream.Publish.Start') {
      throw new RtmpError(typeof description === 'string' ? description : 'it was refused');
    }
    // What the server says from here on is read, so that it can go on, and ignored.
    void this.#drain();
  }

  async #drain(): Promise<void> {
    try {
      for await (const _ of this.#commands);
    } catch {
      this.#socket.destroy();
    }
  }

  async #nextCommand(): Promise<AmfValue[]> {
    const next = await this.#commands.next();
    if (next.done === true) throw new RtmpError('the server closed the connection');
    return next.value;
  }

  /** Answers the handshake, and gives the commands that the server sends. */
  async *#readCommands(): AsyncGenerator<AmfValue[]> {
    const reader = new ChunkReader();
    let greeting: Buffer | null = Buffer.alloc(0);
    for await (const bytes of this.#socket as AsyncIterable<Buffer>) {
      let rest = bytes;
      if (greeting !== null) {
        greeting = Buffer.concat([greeting, bytes]);
        const end = 1 + 2 * handshakeBytes;
        if (greeting.length < end) continue;
        this.#socket.write(greeting.subarray(1, 1 + handshakeBytes));
        rest = greeting.subarray(end);
        greeting = null;
        this.#greeted.resolve();
      }
      for (const { type, payload } of reader.read(rest)) {
        if (type === messageType.command) yield decodeAmf(payload);
      }
    }
  }

  #command(values: readonly AmfValue[], streamId = 0): void {
    const message = { type: messageType.command, streamId, timestamp: 0 };
    this.#socket.write(
      this.#writer.write(commandChunks, { ...message, payload: encodeAmf(...values) }),
    );
  }
}
