/** The live ingest of one process: listens for publishers, and keeps the claims of their streams. */
import type { Logger } from 'pino';
import type { Hints } from '../../../platform/hints.ts';
import { holdOpen, sleep } from '../../../platform/lifecycle.ts';
import { systemCode } from '../../../platform/storage/storage-errors.ts';
import { liveStreamsChanged } from '../live.ts';
import type { RtmpConnection, RtmpHandlers } from '../rtmp/rtmp-connection.ts';
import { RtmpServer, type RtmpServerLimits } from '../rtmp/rtmp-server.ts';
import { openPublication, type IngestParts, type Publication } from './publication.ts';

export type IngestOptions = {
  readonly port: number;
  readonly host: string;
  readonly hints: Hints;
};

const limits: RtmpServerLimits = {
  publishWithinMs: 10_000,
  silenceMs: 15_000,
  maxConnections: 500,
  maxConnectionsOfAddress: 50,
  maxFailures: 20,
  failureWindowMs: 60_000,
};

/** A claim lapses after five seconds; see `publisherTimeoutSeconds`. */
const renewEveryMs = 1_000;
const listenAgainMs = 10_000;

type OpenPublication = {
  readonly publication: Publication;
  readonly connection: RtmpConnection;
  readonly ended: PromiseWithResolvers<void>;
};

export class Ingest implements AsyncDisposable {
  readonly #parts: IngestParts;
  readonly #log: Logger;
  readonly #open = new Set<OpenPublication>();
  readonly #server: RtmpServer;

  constructor(parts: IngestParts) {
    this.#parts = parts;
    this.#log = parts.log;
    this.#server = new RtmpServer(limits, (address) => this.#handlersFor(address));
  }

  /** Streams that are published through this process at the moment. */
  get publishers(): number {
    return this.#open.size;
  }

  /** Serves publishers until the signal aborts. */
  async run({ port, host, hints }: IngestOptions, signal: AbortSignal): Promise<void> {
    if (!(await this.#listen(port, host, signal))) return;
    const renewal = setInterval(() => this.#renewAll(), renewEveryMs);
    // Who was ended by a request of this process is cut off at once.
    const stopListening = hints.listen(liveStreamsChanged, () => this.#renewAll());
    await holdOpen(() => this, signal);
    stopListening();
    clearInterval(renewal);
  }

  /** A port that another program has is tried again and again. False when the signal aborts. */
  async #listen(port: number, host: string, signal: AbortSignal): Promise<boolean> {
    let isKnown = false;
    while (!signal.aborted) {
      try {
        await this.#server.listen(port, host);
        return true;
      } catch (error) {
        if (systemCode(error) !== 'EADDRINUSE') throw error;
        if (!isKnown) {
          this.#log.warn(
            { port },
            'live streams cannot be published: another program has the port',
          );
        }
        isKnown = true;
        await sleep(listenAgainMs, signal);
      }
    }
    return false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
    // Their last segments still have to be stored.
    await Promise.all(Array.from(this.#open, ({ ended }) => ended.promise));
  }

  #handlersFor(address: string): RtmpHandlers {
    let open: OpenPublication | null = null;
    return {
      publish: async (key, connection) => {
        const opened = await openPublication(this.#parts, key);
        if (typeof opened === 'string') {
          this.#log.info({ address, reason: opened }, 'live stream: a key was refused');
          return opened;
        }
        open = { publication: opened, connection, ended: Promise.withResolvers() };
        this.#open.add(open);
        return opened;
      },
      closed: async (error) => {
        if (open !== null) await this.#signOff(open, error);
      },
    };
  }

  async #signOff(open: OpenPublication, reason: Error | null): Promise<void> {
    try {
      await open.publication.close(reason);
    } catch (error) {
      this.#log.warn({ err: error }, 'live stream: a publisher could not be signed off');
    } finally {
      this.#open.delete(open);
      open.ended.resolve();
    }
  }

  #renewAll(): void {
    for (const { publication, connection } of this.#open) {
      publication
        .renew()
        .then((isOurs) => isOurs || connection.close())
        .catch((error: unknown) =>
          this.#log.info({ err: error }, 'live stream: a claim was not renewed'),
        );
    }
  }
}
