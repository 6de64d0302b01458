/** The live ingest of one process: accepts publishers and renews the claims of their streams. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import type { Hints } from '../../../platform/hints/hints.ts';
import { sleep } from '../../../platform/async/lifecycle.ts';
import { systemCode } from '../../../platform/storage/storage-errors.ts';
import type { ServedCertificate } from '../../../platform/tls/served-certificate.ts';
import { liveStreamsChanged } from '../live.ts';
import type { PublisherConnection, RtmpHandlers, RtmpRefusal } from '../rtmp/rtmp-connection.ts';
import { RtmpServer, type RtmpServerLimits } from '../rtmp/rtmp-server.ts';
import { SrtServer, type SrtServerLimits } from '../srt/srt-server.ts';
import { KeyJudge, type KeyJudgeLimits } from './key-judge.ts';
import { openPublication } from './open-publication.ts';
import type { IngestParts, Publication } from './publication.ts';

export type IngestOptions = {
  /** The RTMP, RTMPS and SRT ports; 0 for none. */
  readonly port: number;
  readonly securePort: number;
  readonly srtPort: number;
  readonly certificate: ServedCertificate | null;
  readonly host: string;
  readonly hints: Hints;
};

const silenceMs = 15_000;
const maxWaiting = 1_000;
const judgeLimits: KeyJudgeLimits = {
  judges: 4,
  maxWaiting,
  maxWaitMs: 10_000,
  refusalStepMs: 100,
  failureWindowMs: 60_000,
};
const rtmpLimits: RtmpServerLimits = {
  publishWithinMs: 10_000,
  silenceMs,
  maxWaiting,
  maxRefusalMs: 5_000,
};
const srtLimits: SrtServerLimits = {
  maxSessions: 50,
  maxHandshakes: maxWaiting,
  maxRefusalMs: 2_000,
  silenceMs,
  memoryLimitBytes: 1024 ** 3,
};
const maxPublishers = 500;

/** A claim is valid for five seconds; see `publisherTimeoutSeconds`. */
const renewEveryMs = 1_000;
const listenAgainMs = 10_000;
const logRefusalEveryMs = 1_000;
/** Time that a new connection waits for the one it replaces to store its media. */
const handOverMs = 1_000;

type Address = { readonly port: number; readonly host: string };

type OpenPublication = {
  readonly publication: Publication;
  readonly connection: PublisherConnection;
  readonly ended: PromiseWithResolvers<void>;
};

export class Ingest implements AsyncDisposable {
  readonly #parts: IngestParts;
  readonly #log: Logger;
  readonly #open = new Set<OpenPublication>();
  readonly #rtmp: RtmpServer;
  readonly #srt: SrtServer;
  /** Rejected keys not yet logged, and the time of the latest log line. */
  #refusals = 0;
  #refusalLoggedAt = -Infinity;

  constructor(parts: IngestParts) {
    this.#parts = parts;
    this.#log = parts.log;
    const judge = new KeyJudge(judgeLimits);
    const open = (address: string) => this.#handlersFor(address);
    const { scratch } = parts.ladder;
    this.#rtmp = new RtmpServer(rtmpLimits, judge, open);
    this.#srt = new SrtServer(srtLimits, { judge, open, scratch, log: parts.log });
  }

  /** Streams currently published through this process. */
  get publishers(): number {
    return this.#open.size;
  }

  /** Serves publishers until the signal aborts. */
  async run(options: IngestOptions, signal: AbortSignal): Promise<void> {
    const { hints } = options;
    const renewal = setInterval(() => this.#renewAll(), renewEveryMs);
    // A publisher whose stream was ended through this process is disconnected immediately.
    const stopListening = hints.listen(liveStreamsChanged, () => this.#renewAll());
    const over = new AbortController();
    const untilOver = AbortSignal.any([signal, over.signal]);
    try {
      await this.#listenAll(options, untilOver);
      if (!signal.aborted) await once(signal, 'abort');
    } finally {
      // If one port is unavailable, the others are closed too, and all are retried.
      over.abort();
      await this[Symbol.asyncDispose]();
      stopListening();
      clearInterval(renewal);
    }
  }

  async #listenAll(options: IngestOptions, signal: AbortSignal): Promise<void> {
    const { port, securePort, srtPort, certificate, host } = options;
    const secure = certificate === null ? undefined : (raw: Socket) => certificate.secure(raw);
    const ways: { port: number; listen: (address: Address) => Promise<void> }[] = [
      { port, listen: (address) => this.#rtmp.listen(address) },
      {
        port: certificate === null ? 0 : securePort,
        listen: (address) => this.#rtmp.listen(address, secure),
      },
      { port: srtPort, listen: (address) => this.#srt.listen(address) },
    ];
    const open = ways.filter((way) => way.port !== 0);
    await Promise.all(open.map(({ port, listen }) => this.#listen({ port, host }, signal, listen)));
  }

  /** Until the signal aborts, retries a port that is in use by another program. */
  async #listen(
    address: Address,
    signal: AbortSignal,
    listen: (address: Address) => Promise<void>,
  ): Promise<void> {
    let isKnown = false;
    while (!signal.aborted) {
      try {
        return await listen(address);
      } catch (error) {
        if (systemCode(error) !== 'EADDRINUSE') throw error;
        if (!isKnown) {
          this.#log.warn(
            { port: address.port },
            'live ingest is unavailable: another program is using the port',
          );
        }
        isKnown = true;
        await sleep(listenAgainMs, signal);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#rtmp[Symbol.asyncDispose](), this.#srt[Symbol.asyncDispose]()]);
    // Waits until their last segments are stored.
    await Promise.all(Array.from(this.#open, ({ ended }) => ended.promise));
  }

  #handlersFor(address: string): RtmpHandlers {
    let open: OpenPublication | null = null;
    return {
      publish: async (key, connection) => {
        const opened =
          this.#open.size >= maxPublishers
            ? 'full'
            : await openPublication(this.#parts, key, (id) => this.#handOver(id));
        if (typeof opened === 'string') {
          this.#noteRefusal(address, opened);
          return opened;
        }
        open = { publication: opened, connection, ended: Promise.withResolvers() };
        this.#open.add(open);
        // If two connections arrived at the same time, one of them has lost its claim.
        for (const other of this.#of(opened.liveStreamId)) this.#renew(other);
        return opened;
      },
      closed: async (error) => {
        if (open !== null) await this.#signOff(open, error);
      },
    };
  }

  /** Limits log lines, so that a flood of wrong keys does not flood the log. */
  #noteRefusal(address: string, reason: RtmpRefusal): void {
    this.#refusals += 1;
    if (performance.now() - this.#refusalLoggedAt < logRefusalEveryMs) return;
    const count = this.#refusals;
    this.#refusals = 0;
    this.#refusalLoggedAt = performance.now();
    this.#log.info({ address, reason, count }, 'live stream: keys rejected');
  }

  #of(liveStreamId: string): OpenPublication[] {
    return [...this.#open].filter(({ publication }) => publication.liveStreamId === liveStreamId);
  }

  /** Disconnects a stream's current publisher in this process, because another connection uses its key. */
  async #handOver(liveStreamId: string): Promise<void> {
    const replaced = this.#of(liveStreamId);
    if (replaced.length === 0) return;
    for (const { connection } of replaced) connection.close();
    const stored = new AbortController();
    void Promise.all(replaced.map(({ ended }) => ended.promise)).then(() => stored.abort());
    await sleep(handOverMs, stored.signal);
  }

  async #signOff(open: OpenPublication, reason: Error | null): Promise<void> {
    try {
      await open.publication.close(reason);
    } catch (error) {
      this.#log.warn({ err: error }, 'live stream: could not release the claim of a publisher');
    } finally {
      this.#open.delete(open);
      open.ended.resolve();
    }
  }

  #renewAll(): void {
    for (const open of this.#open) this.#renew(open);
  }

  #renew({ publication, connection }: OpenPublication): void {
    publication
      .renew()
      .then((isOurs) => isOurs || connection.close())
      .catch((error: unknown) =>
        this.#log.info({ err: error }, 'live stream: could not renew a claim'),
      );
  }
}
