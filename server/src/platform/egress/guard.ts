/**
 * Decides whether a request may go to a target. The decision is made on addresses when connecting,
 * and the connection goes to exactly the addresses that were checked, so a DNS record that changes
 * in between has no effect.
 */
import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import { buildConnector } from 'undici';
import { isPublicAddress } from './address.ts';
import { bareHost, type AllowList } from './allow-list.ts';
import type { ClientCertificate } from './messages.ts';
import { asEgressError, BlockedAddressError, EgressError } from './egress-errors.ts';
import { noteDemandedCertificate } from './client-certificate.ts';
import { dropInterimAnswers } from './interim-answers.ts';
import { resolveHost } from './resolver.ts';

export type Guard = {
  readonly allow: AllowList;
  readonly lookup: LookupFunction;
  readonly onBlocked: (error: BlockedAddressError) => void;
};

/** A name may have hundreds of addresses: all of them are checked, and this many are tried. */
const maxAddressesTried = 6;

/** Delay before the next address of a host is tried alongside one that hasn't answered yet. */
const nextAddressAfterMs = 1_000;

/**
 * System ports below 1,024 other than those of HTTP, and the best-known services above that would
 * interpret a request body as commands (NFS, databases, caches, IRC, SIP). No webhook or video is
 * served there, and all other ports need no exception.
 */
// oxfmt-ignore
const refusedPorts = new Set([
  1433, 1521, 1720, 1723, 2049, 2375, 3306, 3389, 3659, 4045, 5060, 5061, 5432, 5900, 6000,
  6379, 6566, 6665, 6666, 6667, 6668, 6669, 6697, 9042, 9200, 10080, 11211, 27017,
]);

/**
 * Resolves and checks a host, which is a name or a bare address.
 *
 * @returns the addresses to connect to
 * @throws BlockedAddressError if any of them is refused
 * @throws EgressError (`invalid_url`, `dns_error`, `timeout`)
 */
export async function judgeTarget(
  guard: Guard,
  host: string,
  port: number,
  signal?: AbortSignal,
): Promise<readonly LookupAddress[]> {
  const addresses = await resolveHost(guard.lookup, host, signal).catch((error: unknown) => {
    if (signal?.aborted === true) throw signal.reason;
    throw new EgressError('dns_error', `cannot resolve ${host}`, error);
  });
  if (addresses.length === 0) throw new EgressError('dns_error', `${host} has no address`);
  for (const { address } of addresses) judgeAddress(guard, host, port, address);
  return addresses.slice(0, maxAddressesTried);
}

function judgeAddress(guard: Guard, host: string, port: number, address: string): void {
  if (guard.allow.allows({ host, port, address })) return;
  if (!isPublicAddress(address)) {
    const error = new BlockedAddressError({ host, port, address });
    guard.onBlocked(error);
    throw error;
  }
  if ((port < 1_024 && port !== 80 && port !== 443) || refusedPorts.has(port)) {
    throw new EgressError('invalid_url', `port ${port} is not allowed for HTTP`);
  }
}

export type ConnectorOptions = {
  /** For name resolution, TCP and TLS together. */
  readonly connectTimeoutMs: number;
  /** PEM certificates to trust instead of Node's own. */
  readonly ca: readonly string[] | undefined;
  readonly clientCertificate: ClientCertificate | undefined;
};

/**
 * The connector of one origin. TLS is verified against the name in the URL, and the socket's peer
 * address is checked once more before the first byte of a request.
 */
export function guardedConnector(
  guard: Guard,
  origin: URL,
  { connectTimeoutMs, ca, clientCertificate }: ConnectorOptions,
): buildConnector.connector {
  const host = bareHost(origin.hostname);
  const port = portOf(origin);
  // Shared by all connections: creating it costs a fifth of a handshake.
  const secureContext = createSecureContext({
    ...(ca === undefined ? {} : { ca: [...ca] }),
    ...(clientCertificate !== undefined && {
      cert: clientCertificate.certificate,
      key: clientCertificate.key,
    }),
  });
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    // One request per connection: a receiver that hangs delays nobody else, and ending its request
    // ends its connection.
    allowH2: false,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: nextAddressAfterMs,
    secureContext,
    // Node calls this only for names; the socket connects only to the addresses returned here.
    lookup: (_name, { all }, callback) => {
      judgeTarget(guard, host, port).then(
        (addresses) => {
          const [first] = addresses;
          if (all === true || first === undefined) callback(null, [...addresses]);
          else callback(null, first.address, first.family);
        },
        (error: unknown) => callback(asEgressError(error, host), []),
      );
    },
  });
  return (options, callback) => {
    const connectChecked = (): void => {
      connect(options, (error, socket) => {
        if (error !== null) callback(asEgressError(error, host), null);
        else checkPeer(guard, host, port, socket, callback);
      });
    };
    if (isIP(host) === 0) connectChecked();
    else {
      judgeTarget(guard, host, port).then(connectChecked, (error: unknown) =>
        callback(asEgressError(error, host), null),
      );
    }
  };
}

/** The port of a URL as a number; defaults to that of the scheme. */
export function portOf(url: URL): number {
  return url.port === '' ? (defaultPorts[url.protocol] ?? 443) : Number(url.port);
}

const defaultPorts: Readonly<Record<string, number>> = {
  'http:': 80,
  'nats:': 4_222,
  'tls:': 4_222,
  'amqp:': 5_672,
  'amqps:': 5_671,
  'rtmp:': 1_935,
  'rtmps:': 443,
};

/** Schemes of brokers without TLS: only for targets that the operator has allowed. */
const plainSchemes = new Set(['nats:', 'amqp:']);

/**
 * Checks the target of a connection that is not HTTP, and returns the address to connect to.
 *
 * @throws EgressError
 */
export async function judgeBroker(
  guard: Guard,
  { url, host }: { url: URL; host: string },
  signal?: AbortSignal,
): Promise<{ host: string; port: number; address: string }> {
  const port = portOf(url);
  const [first, ...more] = await judgeTarget(guard, host, port, signal);
  if (first === undefined) throw new EgressError('dns_error', `${host} has no address`);
  const isNamed = [first, ...more].every(({ address }) =>
    guard.allow.allows({ host, port, address }),
  );
  if (plainSchemes.has(url.protocol) && !isNamed) {
    throw new EgressError('invalid_url', `${host} requires TLS, since it is outside your network`);
  }
  return { host, port, address: first.address };
}

function checkPeer(
  guard: Guard,
  host: string,
  port: number,
  socket: Socket,
  callback: buildConnector.Callback,
): void {
  try {
    judgeAddress(guard, host, port, socket.remoteAddress ?? '');
  } catch (error) {
    socket.destroy();
    callback(asEgressError(error, host), null);
    return;
  }
  noteDemandedCertificate(socket);
  callback(null, dropInterimAnswers(socket));
}
