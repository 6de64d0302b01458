/** Stores the bytes of blocks in a NATS JetStream stream, one block per message. */
import { randomUUID } from 'node:crypto';
import {
  DiscardPolicy,
  jetstream,
  JetStreamApiCodes,
  JetStreamApiError,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type JetStreamClient,
  type JetStreamManager,
  type StoredMsg,
  type StreamInfo,
} from '@nats-io/jetstream';
import { connect, nanos, type NatsConnection } from '@nats-io/transport-node';

import type { Logger } from 'pino';
import type { BlockStream, BytesToStore, StreamIdentity, StreamPlace } from '../block-stream.ts';
import { EventLogUnavailableError } from '../event-log.ts';
import type { StreamUrl } from './stream-url.ts';

const connectTimeoutMs = 10_000;
const requestTimeoutMs = 4_000;
/** Electing a new leader takes longer than this. In the meantime, blocks go to the database. */
const publishTimeoutMs = 2_000;
/** After a failure, nothing is published for this long. */
const restMs = 2_000;
const idHeader = 'Nats-Msg-Id';
/** Subjects are spread over this many partitions. */
const partitions = 16;
/** Maximum number of concurrent requests. */
const pipeline = 64;
/** Space for the headers and the subject of a message. */
const messageOverheadBytes = 1_024;

/** @throws Error telling the operator what to do */
export async function openJetStream(url: StreamUrl, log: Logger): Promise<BlockStream> {
  const connection = await connectTo(url);
  try {
    const manager = await jetstreamManager(connection, { timeout: requestTimeoutMs });
    const { created } = await ensureStream(manager, connection, url);
    return new JetStream({ connection, manager, log }, { name: url.stream, created });
  } catch (error) {
    await connection.close();
    throw new Error(`The event log stream ${url.stream} cannot be used: ${textOf(error)}`, {
      cause: error,
    });
  }
}

async function connectTo(url: StreamUrl): Promise<NatsConnection> {
  try {
    return await connect({
      servers: [...url.servers],
      name: 'reelfeed-event-log',
      timeout: connectTimeoutMs,
      maxReconnectAttempts: -1,
      tls: url.isEncrypted ? {} : null,
      ...(url.user !== null && url.password === null && { token: url.user }),
      ...(url.user !== null && url.password !== null && { user: url.user, pass: url.password }),
    });
  } catch (error) {
    const servers = url.servers.join(', ');
    throw new Error(
      `The NATS server of the event log at ${servers} does not respond: ${textOf(error)}`,
      {
        cause: error,
      },
    );
  }
}

async function ensureStream(
  manager: JetStreamManager,
  connection: NatsConnection,
  { stream, replicas }: StreamUrl,
): Promise<StreamInfo> {
  const isCluster = connection.info?.cluster !== undefined;
  const wanted = replicas ?? (isCluster ? 3 : 1);
  try {
    const info = await manager.streams.info(stream);
    if (replicas === null || info.config.num_replicas === replicas) return info;
    return await manager.streams.update(stream, { num_replicas: replicas });
  } catch (error) {
    if (!isApiError(error, JetStreamApiCodes.StreamNotFound)) throw error;
  }
  return manager.streams.add({
    name: stream,
    subjects: [`${stream}.>`],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    // A full disk rejects new events instead of dropping the oldest ones.
    discard: DiscardPolicy.New,
    num_replicas: wanted,
    allow_direct: true,
    duplicate_window: nanos(120_000),
  });
}

class JetStream implements BlockStream {
  readonly identity: StreamIdentity;
  readonly #connection: NatsConnection;
  readonly #manager: JetStreamManager;
  readonly #client: JetStreamClient;
  readonly #log: Logger;
  readonly #maxBytes: number;
  /** By the clock of `performance`. */
  #awayUntil = 0;

  constructor(
    {
      connection,
      manager,
      log,
    }: { connection: NatsConnection; manager: JetStreamManager; log: Logger },
    identity: StreamIdentity,
  ) {
    this.#connection = connection;
    this.#manager = manager;
    this.#log = log;
    this.#maxBytes = (connection.info?.max_payload ?? 0) - messageOverheadBytes;
    this.#client = jetstream(connection, { timeout: requestTimeoutMs });
    this.identity = identity;
  }

  store(blocks: readonly BytesToStore[]): Promise<(StreamPlace | null)[]> {
    return pipelined(blocks, (block) => this.#publish(block));
  }

  async #publish({ organizationId, dayMs, bytes }: BytesToStore): Promise<StreamPlace | null> {
    const isAway = performance.now() < this.#awayUntil || this.#connection.info === undefined;
    if (isAway || bytes.length > this.#maxBytes) return null;
    const day = new Date(dayMs).toISOString().slice(0, 10);
    const subject = `${this.identity.name}.${day}.${partitionOf(organizationId)}`;
    const messageId = randomUUID();
    try {
      const { seq: sequence } = await this.#client.publish(subject, bytes, {
        msgID: messageId,
        expect: { streamName: this.identity.name },
        timeout: publishTimeoutMs,
      });
      return { sequence, messageId, sizeBytes: bytes.length };
    } catch (error) {
      this.#awayUntil = performance.now() + restMs;
      this.#log.warn(
        { err: error },
        'JetStream does not accept events: storing them in the database',
      );
      return null;
    }
  }

  fetch(places: readonly StreamPlace[]): Promise<(Buffer | null)[]> {
    return pipelined(places, async ({ sequence, messageId }) => {
      const message = await this.#find(sequence);
      if (message?.header.get(idHeader) !== messageId) return null;
      const { data } = message;
      return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    });
  }

  async #find(sequence: number): Promise<StoredMsg | null> {
    const { name } = this.identity;
    try {
      const near = await this.#manager.direct.getMessage(name, { seq: sequence });
      // Any replica may answer, including one that lags behind. Only the leader knows for sure.
      return near ?? (await this.#manager.streams.getMessage(name, { seq: sequence }));
    } catch (error) {
      if (isApiError(error, JetStreamApiCodes.NoMessageFound)) return null;
      throw unavailable('does not return blocks', error);
    }
  }

  async remove(sequences: readonly number[]): Promise<void> {
    await pipelined(sequences, async (sequence) => {
      try {
        await this.#manager.streams.deleteMessage(this.identity.name, sequence, true);
      } catch (error) {
        const isGone =
          isApiError(error, JetStreamApiCodes.NoMessageFound) || isApiError(error, noSuchSequence);
        if (!isGone) throw unavailable('does not remove blocks', error);
      }
    });
  }

  async removeDaysBefore(dayMs: number): Promise<void> {
    const { name } = this.identity;
    const info = await this.#manager.streams.info(name, { subjects_filter: `${name}.*.*` });
    const days = Object.keys(info.state.subjects ?? {}).map((subject) => subject.split('.')[1]);
    for (const day of new Set(days)) {
      if (day === undefined || !(Date.parse(day) < dayMs)) continue;
      await this.#manager.streams.purge(name, { filter: `${name}.${day}.*` });
    }
  }

  async lastSequence(): Promise<number> {
    return (await this.#manager.streams.info(this.identity.name)).state.last_seq;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
  }
}

/** The server's error code for removing a message that does not exist. */
const noSuchSequence = 10_043;

function unavailable(what: string, error: unknown): EventLogUnavailableError {
  return new EventLogUnavailableError(`JetStream ${what}: ${textOf(error)}`, error);
}

function isApiError(error: unknown, code: number): boolean {
  return error instanceof JetStreamApiError && error.code === code;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function partitionOf(organizationId: string): number {
  let hash = 0;
  for (let at = 0; at < organizationId.length; at += 1) {
    hash = (Math.imul(hash, 31) + organizationId.charCodeAt(at)) >>> 0;
  }
  return hash % partitions;
}

/**
 * Runs `work` for each value with limited concurrency.
 *
 * @returns the results in the order of the values
 */
async function pipelined<In, Out>(
  values: readonly In[],
  work: (value: In) => Promise<Out>,
): Promise<Out[]> {
  const results = Array.from<Out>({ length: values.length });
  let next = 0;
  const line = async (): Promise<void> => {
    while (next < values.length) {
      const at = next;
      next += 1;
      // oxlint-disable-next-line no-await-in-loop -- one place of the pipeline
      results[at] = await work(values[at] as In);
    }
  };
  await Promise.all(Array.from({ length: Math.min(pipeline, values.length) }, line));
  return results;
}
