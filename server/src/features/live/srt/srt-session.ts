/**
 * A single SRT publisher, from its accepted handshake to the end.
 *
 *   datagrams ──▶ in order ──▶ media child: MPEG-TS to FLV ──▶ messages ──▶ publication
 *        ◀── acknowledgements and loss reports
 *
 * As with RTMP connections, all received media is stored before `closed` is called.
 */
import type { Scratch } from '../../../platform/storage/scratch.ts';
import { hourMs } from '../../../platform/values/time.ts';
import { LiveRemux } from '../../media/media.ts';
import type {
  PublisherConnection,
  RtmpHandlers,
  RtmpPublication,
} from '../rtmp/rtmp-connection.ts';
import { messageType } from '../rtmp/messages.ts';
import { RtmpError } from '../rtmp/rtmp-error.ts';
import { FlvReader } from './flv-reader.ts';
import type { SrtPacket } from './packets.ts';
import type { SrtReceiver } from './srt-receiver.ts';

export type SrtSessionOptions = {
  readonly receiver: SrtReceiver;
  readonly handlers: RtmpHandlers;
  readonly scratch: Scratch;
  readonly memoryLimitBytes: number;
  /** The longest time without media before the session ends. */
  readonly silenceMs: number;
};

const deadlineMs = 25 * hourMs;
/** Time to wait for the last media when a connection ends. */
const finishMs = 5_000;
/** Maximum number of bytes queued for the media child or the database. */
const maxUntakenBytes = 32 * 1024 * 1024;

export class SrtSession implements PublisherConnection {
  readonly #options: SrtSessionOptions;
  readonly #kill = new AbortController();
  readonly #flv = new FlvReader();
  readonly #over = Promise.withResolvers<void>();
  #remux: LiveRemux | null = null;
  #batch: Buffer[] = [];
  #batchBytes = 0;
  #handing: Promise<void> = Promise.resolve();
  #handingBytes = 0;
  #heardMs = performance.now();
  #isClosing = false;
  /** The first error, or null after a clean end. */
  #reason: Error | null = null;

  constructor(options: SrtSessionOptions) {
    this.#options = options;
  }

  /** Resolves once all received media is stored. */
  get closed(): Promise<void> {
    return this.#over.promise;
  }

  /** Starts delivery. Must be called once. */
  run(publication: RtmpPublication): void {
    void this.#run(publication);
  }

  close(): void {
    this.#end(null);
  }

  receive(packet: SrtPacket, nowMs: number): void {
    if (this.#isClosing) return;
    const { receiver } = this.#options;
    if (packet.type === 'data') this.#heardMs = nowMs;
    if (receiver.receive(packet, nowMs) === 'shutdown') this.#end(null);
  }

  /** Runs the timers. Must be called every few milliseconds. */
  tick(nowMs: number): void {
    if (this.#isClosing) return;
    this.#takeReady(nowMs);
    this.#options.receiver.report(nowMs);
    if (this.#remux !== null) this.#flush(this.#remux);
    const untaken = this.#batchBytes + (this.#remux?.untakenBytes ?? 0);
    if (Math.max(untaken, this.#handingBytes) > maxUntakenBytes) {
      this.#end(new RtmpError('sends faster than its media can be stored'));
    } else if (nowMs - this.#heardMs > this.#options.silenceMs) {
      this.#end(new RtmpError('stopped sending'));
    }
  }

  async #run(publication: RtmpPublication): Promise<void> {
    const { scratch, memoryLimitBytes, handlers, receiver } = this.#options;
    let failure: Error | null = null;
    try {
      await using folder = await scratch.createFolder('live-srt');
      const onFlv = (bytes: Buffer) => this.#hand(bytes, publication);
      const { signal } = this.#kill;
      const limits = { memoryLimitBytes, deadlineMs, signal };
      this.#remux = new LiveRemux({ ...limits, workDir: folder.path, onFlv });
      // The session may have been closed during the wait.
      if (this.#isClosing) this.#finish(this.#remux);
      await this.#remux.ended;
      await this.#handing;
    } catch (error) {
      failure = this.#kill.signal.aborted ? null : (error as Error);
    }
    this.#end(failure);
    await this.#handing.catch(() => undefined);
    await handlers.closed(this.#reason);
    // As with RTMP, closing the connection tells the encoder that everything is stored.
    receiver.shutDown();
    this.#over.resolve();
  }

  #end(reason: Error | null): void {
    if (this.#isClosing) return;
    this.#takeReady(Infinity);
    this.#isClosing = true;
    this.#reason = reason;
    if (this.#remux !== null) this.#finish(this.#remux);
  }

  /** Copies what has already arrived, within a time limit. */
  #finish(remux: LiveRemux): void {
    this.#flush(remux);
    remux.end();
    const late = setTimeout(() => this.#kill.abort(), finishMs);
    void remux.ended.catch(() => undefined).then(() => clearTimeout(late));
  }

  #takeReady(nowMs: number): void {
    for (const payload of this.#options.receiver.ready(nowMs)) {
      this.#batch.push(payload);
      this.#batchBytes += payload.length;
    }
  }

  #flush(remux: LiveRemux): void {
    if (this.#batchBytes === 0) return;
    remux.take(Buffer.concat(this.#batch));
    this.#batch = [];
    this.#batchBytes = 0;
  }

  #hand(bytes: Buffer, publication: RtmpPublication): void {
    this.#handingBytes += bytes.length;
    this.#handing = this.#handing.then(async () => {
      for (const message of this.#flv.read(bytes)) {
        if (message.type === messageType.data) publication.metadata(message);
        else await publication.media(message);
      }
      this.#handingBytes -= bytes.length;
    });
    this.#handing.catch((error: unknown) => this.#end(error as Error));
  }
}
