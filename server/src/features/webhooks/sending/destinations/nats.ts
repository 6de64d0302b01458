/** The NATS driver: messages go to a JetStream stream, which deduplicates by delivery id. */
import { jetstream, JetStreamApiError, type JetStreamClient } from '@nats-io/jetstream';
import {
  connect,
  errors,
  headers,
  type NatsConnection,
  type TlsOptions,
} from '@nats-io/transport-node';
import { isIP, isIPv6 } from 'node:net';
import { connectionName, type Connection, type Connections } from './connections.ts';
import type { NatsDestination } from './destination.ts';
import {
  addressed,
  confirmed,
  DestinationError,
  withinDeadline,
  type Driver,
  type DriverParts,
  type Target,
} from './driver.ts';

type NatsStream = Connection & { readonly client: JetStreamClient };

const connectTimeoutMs = 10_000;

export function natsDriver(
  { egress }: DriverParts,
  connections: Connections<NatsStream>,
): Driver<NatsDestination> {
  return async (target, message, options) => {
    const name = connectionName(target);
    const { timeoutMs: timeout } = options;
    const send = async () => {
      const { client } = await connections.use(name, () => open(target));
      options.signal.throwIfAborted();
      const sent = headers();
      for (const [header, value] of Object.entries(message.headers)) sent.set(header, value);
      const subject = addressed(target.destination.subject, message);
      options.onBegin();
      await client
        .publish(subject, message.body, { msgID: message.deliveryId, headers: sent, timeout })
        .catch((error: unknown) => {
          if (error instanceof errors.TimeoutError) connections.drop(name);
          throw failureOf(error);
        });
      return confirmed;
    };
    return withinDeadline(options, send, () => connections.drop(name));
  };

  async function open({ url, destination, credentials }: Target<NatsDestination>) {
    const { host, port, address } = await egress.resolve(url, ['tls:', 'nats:']);
    const { password, token } = credentials.destination ?? {};
    const server = isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;
    // The option type lacks fields that are passed on to Node. An IP address is not a valid TLS
    // server name.
    const tls: TlsOptions & { servername?: string; host: string } =
      isIP(host) === 0 ? { servername: host, host } : { host };
    const connection = await connect({
      servers: [server],
      // Servers advertised by this one are ignored, because their addresses have not been checked.
      ignoreClusterUpdates: true,
      reconnect: false,
      timeout: connectTimeoutMs,
      name: 'reelfeed-webhooks',
      tls: url.startsWith('tls:') ? tls : null,
      ...(destination.username !== undefined && { user: destination.username }),
      ...(password !== undefined && { pass: password }),
      ...(token !== undefined && { token }),
    }).catch((error: unknown) => {
      throw failureOf(error);
    });
    return streamOf(connection);
  }
}

function streamOf(connection: NatsConnection): NatsStream {
  return {
    client: jetstream(connection),
    get isOpen() {
      return !connection.isClosed();
    },
    close() {
      connection.close().catch(() => undefined);
    },
  };
}

function failureOf(error: unknown): DestinationError {
  if (error instanceof DestinationError) return error;
  const chain = [...causesOf(error)];
  const is = (...types: (abstract new (...args: never[]) => Error)[]) =>
    chain.some((one) => types.some((type) => one instanceof type));
  const codes = chain.map((one) => ('code' in one ? String(one.code) : ''));
  const failed = (failure: DestinationError['failure'], message?: string) =>
    new DestinationError(failure, message ?? chain[0]?.message ?? String(error), error);
  if (is(errors.NoRespondersError)) return failed('rejected', 'no stream accepts the subject');
  if (is(JetStreamApiError, errors.AuthorizationError, errors.PermissionViolationError)) {
    return failed('rejected');
  }
  if (is(errors.UserAuthenticationExpiredError)) return failed('rejected');
  if (codes.includes('ECONNREFUSED')) return failed('connection_refused');
  if (codes.some((code) => tlsCodes.test(code))) return failed('tls_error');
  if (is(errors.TimeoutError)) return failed('timeout');
  if (is(errors.ProtocolError, errors.InvalidArgumentError)) return failed('protocol_error');
  return failed('connection_error');
}

const tlsCodes = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;

function* causesOf(error: unknown): Generator<Error> {
  for (let one = error; one instanceof Error; one = one.cause) yield one;
}

export type { NatsStream };
