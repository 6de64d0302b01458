/**
 * The RabbitMQ driver: a message counts as sent when the broker has confirmed it and at least one
 * queue has accepted it. The `message_id` is the delivery id.
 */
import { isIP } from 'node:net';
import { connect, type ChannelModel, type ConfirmChannel, type Message as Returned } from 'amqplib';
import { connectionName, type Connection, type Connections } from './connections.ts';
import type { RabbitDestination } from './destination.ts';
import {
  addressed,
  confirmed,
  DestinationError,
  withinDeadline,
  type Driver,
  type DriverParts,
  type Message,
  type Target,
} from './driver.ts';

const connectTimeoutMs = 10_000;
const heartbeatS = 10;

class RabbitChannel implements Connection {
  readonly #connection: ChannelModel;
  readonly #channel: ConfirmChannel;
  /** Ids of messages that no queue accepted, until their confirmation arrives. */
  readonly #returned = new Set<string>();
  /** Why it was closed. */
  #error: unknown = null;
  #isOpen = true;

  constructor(connection: ChannelModel, channel: ConfirmChannel) {
    this.#connection = connection;
    this.#channel = channel;
    const ended = (error: unknown): void => {
      this.#error ??= error;
      this.close();
    };
    for (const emitter of [connection, channel]) {
      emitter.on('error', ended);
      emitter.on('close', ended);
    }
    channel.on('return', ({ properties }: Returned) => {
      this.#returned.add(String(properties.messageId));
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  async publish(exchange: string, routingKey: string, message: Message): Promise<void> {
    const { deliveryId, kind, timestamp, headers, body } = message;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onConfirm = (error: unknown): void => {
      const isReturned = this.#returned.delete(deliveryId);
      if (isReturned) reject(new DestinationError('rejected', 'no queue accepts the message'));
      else if (error !== null && error !== undefined) reject(this.#error ?? error);
      else resolve();
    };
    const options = {
      messageId: deliveryId,
      type: kind,
      timestamp: Math.floor(Date.parse(timestamp) / 1_000),
      contentType: 'application/json',
      headers: { ...headers },
      persistent: true,
      mandatory: true,
    };
    this.#channel.publish(exchange, routingKey, Buffer.from(body), options, onConfirm);
    await promise;
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#connection.close().catch(() => undefined);
  }
}

export type { RabbitChannel };

export function rabbitDriver(
  { egress }: DriverParts,
  connections: Connections<RabbitChannel>,
): Driver<RabbitDestination> {
  return async (target, message, options) => {
    const name = connectionName(target);
    const send = async () => {
      const channel = await connections
        .use(name, () => open(target))
        .catch((error: unknown) => {
          throw failureOf(error);
        });
      options.signal.throwIfAborted();
      const { exchange, routingKey } = target.destination;
      options.onBegin();
      await channel
        .publish(exchange, addressed(routingKey, message), message)
        .catch((error: unknown) => {
          throw failureOf(error);
        });
      return confirmed;
    };
    return withinDeadline(options, send, () => connections.drop(name));
  };

  async function open({ url, destination, credentials }: Target<RabbitDestination>) {
    const { host, port, address } = await egress.resolve(url, ['amqps:', 'amqp:']);
    const isTls = url.startsWith('amqps:');
    const connection = await connect(
      {
        protocol: isTls ? 'amqps' : 'amqp',
        hostname: address,
        port,
        vhost: vhostOf(url),
        username: destination.username ?? 'guest',
        password: credentials.destination?.password ?? 'guest',
        heartbeat: heartbeatS,
      },
      { timeout: connectTimeoutMs, ...(isTls && isIP(host) === 0 && { servername: host }) },
    );
    // If the connection breaks before its channel is open, the error must not go unhandled.
    connection.on('error', () => undefined);
    try {
      return new RabbitChannel(connection, await connection.createConfirmChannel());
    } catch (error) {
      void connection.close().catch(() => undefined);
      throw error;
    }
  }
}

/** Percent-encoded, as amqplib expects; `/` is the default. */
function vhostOf(url: string): string {
  const path = new URL(url).pathname.slice(1);
  return path === '' ? '/' : path;
}

function failureOf(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DestinationError) return error;
  if ('failure' in error) return error;
  const failed = (failure: DestinationError['failure']) =>
    new DestinationError(failure, error.message, error);
  const { code: given = '' } = error as { code?: string | number };
  const code = String(given);
  // Access refused, not found, precondition failed, or a negative acknowledgement.
  if (['403', '404', '406', '530'].includes(code)) return failed('rejected');
  if (/ACCESS[_-]REFUSED|NOT[_-]FOUND|NOT[_-]ALLOWED|nacked/i.test(error.message)) {
    return failed('rejected');
  }
  if (code === 'ECONNREFUSED') return failed('connection_refused');
  if (/ETIMEDOUT/.test(code + error.message)) return failed('timeout');
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code)) {
    return failed('tls_error');
  }
  return failed('connection_error');
}
