/** The client side of RTMP: publishes messages, for simulcasts, `reelfeed live test` and tests. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectByTls } from 'node:tls';
import { awaitedLater } from '../../../platform/async/awaited-later.ts';
import { decodeAmf, encodeAmf, type AmfObject, type AmfValue } from './amf0.ts';
import { ChunkReader } from './chunk-reader.ts';
import { ChunkWriter } from './chunk-writer.ts';
import { handshakeBytes, messageType, protocolVersion, uint32 } from './messages.ts';
import { RtmpError } from './rtmp-error.ts';

const controlChunks = 2;
const commandChunks = 3;
const mediaChunks = 4;
const chunkBytes = 65_536;
/** Types of user control messages (section 7.1.7). */
const pingRequest = 6;
const pingResponse = 7;

export class RtmpPublisher implements Disposable {
  readonly #socket: Socket;
  readonly #writer = new ChunkWriter();
  readonly #commands: AsyncGenerator<AmfValue[]>;
  readonly #greeted = Promise.withResolvers<void>();
  /** Assigned by the server. */
  #streamId = 1;

  /** Resolves when the connection has ended for any reason. */
  readonly closed: Promise<void>;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    this.#commands = this.#readCommands();
  }

  /**
   * Connects to `rtmp://host[:port]/app`, or over TLS to `rtmps://…`, and publishes as `name`.
   * @throws {RtmpError} if the server refuses
   */
  static async open(url: string, name: string): Promise<RtmpPublisher> {
    const { protocol, hostname, port } = new URL(url);
    const isSecure = protocol === 'rtmps:';
    const target = { host: hostname, port: port === '' ? (isSecure ? 443 : 1935) : Number(port) };
    const socket = isSecure ? connectByTls(target) : connect(target);
    await once(socket, isSecure ? 'secureConnect' : 'connect');
    return RtmpPublisher.over(socket, url, name);
  }

  /**
   * Publishes over an open connection, which is closed if that fails.
   * @throws {RtmpError} if the server refuses
   */
  static async over(socket: Socket, url: string, name: string): Promise<RtmpPublisher> {
    socket.on('error', () => undefined);
    const publisher = new RtmpPublisher(socket);
    try {
      await publisher.#begin(url, new URL(url).pathname.slice(1), name);
      return publisher;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  get isOpen(): boolean {
    return this.#socket.writable;
  }

  get waitingBytes(): number {
    return this.#socket.writableLength;
  }

  /** Sends without waiting: the caller bounds `waitingBytes`. Returns the bytes queued. */
  post(type: number, timestamp: number, payload: Buffer): number {
    const bytes = this.#writer.write(mediaChunks, {
      type,
      timestamp,
      payload,
      streamId: this.#streamId,
    });
    this.#socket.write(bytes);
    return bytes.length;
  }

  /** Sends audio or video; resolves when there is room for more. */
  async send(type: number, timestamp: number, payload: Buffer): Promise<void> {
    const message = { type, timestamp, payload, streamId: this.#streamId };
    if (this.#socket.write(this.#writer.write(mediaChunks, message))) return;
    const drained = new Promise((resolve) => this.#socket.once('drain', resolve));
    await Promise.race([drained, this.closed]);
  }

  async end(): Promise<void> {
    this.#command(['deleteStream', 0, null, this.#streamId]);
    this.#socket.end();
    await this.closed;
  }

  /** Drops the connection, like a network failure. */
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
    const greeting = await first;
    if (greeting.done === true) throw closed();
    await this.#result(1, greeting.value);
    this.#command(['releaseStream', 2, null, name]);
    this.#command(['FCPublish', 3, null, name]);
    this.#command(['createStream', 4, null]);
    const streamId = await this.#result(4);
    this.#streamId = typeof streamId === 'number' ? streamId : 1;
    this.#command(['publish', 5, null, name, 'live'], this.#streamId);
    await this.#begun();
    // Further server messages must be read to keep the connection going, but are ignored.
    void this.#drain();
  }

  /** The result of a command. Servers may send other commands in between. */
  async #result(transaction: number, read?: AmfValue[]): Promise<AmfValue | undefined> {
    let [verb, number, , value] = read ?? (await this.#nextCommand());
    while (number !== transaction || (verb !== '_result' && verb !== '_error')) {
      [verb, number, , value] = await this.#nextCommand();
    }
    if (verb === '_error') throw refused(value);
    return value;
  }

  async #begun(): Promise<void> {
    for (;;) {
      const [verb, transaction, , value] = await this.#nextCommand();
      if (verb === '_error' && transaction === 5) throw refused(value);
      if (verb !== 'onStatus') continue;
      const { code, level } = (value ?? {}) as AmfObject;
      if (code === 'NetStream.Publish.Start') return;
      if (level === 'error') throw refused(value);
    }
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
    if (next.done === true) throw closed();
    return next.value;
  }

  /** Completes the handshake and yields the server's commands. */
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
        if (type === messageType.userControl) this.#answerPing(payload);
        if (type === messageType.command) yield decodeAmf(payload);
      }
    }
  }

  #answerPing(payload: Buffer): void {
    if (payload.length < 6 || payload.readUInt16BE() !== pingRequest) return;
    const answer = Buffer.concat([Buffer.of(0, pingResponse), payload.subarray(2, 6)]);
    const message = { type: messageType.userControl, streamId: 0, timestamp: 0, payload: answer };
    this.#socket.write(this.#writer.write(controlChunks, message));
  }

  #command(values: readonly AmfValue[], streamId = 0): void {
    const message = { type: messageType.command, streamId, timestamp: 0 };
    this.#socket.write(
      this.#writer.write(commandChunks, { ...message, payload: encodeAmf(...values) }),
    );
  }
}

function closed(): RtmpError {
  return new RtmpError('the server closed the connection');
}

function refused(value: AmfValue | undefined): RtmpError {
  const { description } = (value ?? {}) as AmfObject;
  return new RtmpError(
    typeof description === 'string' ? description : 'the server rejected the stream',
  );
}
