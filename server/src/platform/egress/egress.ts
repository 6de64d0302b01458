/**
 * Every request that the service makes to a host chosen by someone else (webhooks, imports) goes
 * through here. See `guard.ts` for what is refused, and `REELFEED_EGRESS_ALLOW` for the operator's
 * exceptions.
 */
import type { LookupFunction } from 'node:net';
import { Pool } from 'undici';
import type { AllowList } from './allow-list.ts';
import { asEgressError, type BlockedAddressError } from './egress-errors.ts';
import { guardedConnector, judgeBroker, judgeTarget, portOf, type Guard } from './guard.ts';
import { openResponse, type Download } from './exchange.ts';
import type { BrokerScheme, EgressRequest, EgressResponse, Scheme } from './messages.ts';
import { OriginPools } from './origin-pools.ts';
import { createResolver } from './resolver.ts';
import { parseTarget } from './target.ts';
import { requestWhole } from './whole-request.ts';

export type EgressOptions = {
  readonly allow: AllowList;
  /** For name resolution, TCP and TLS together. Default 10,000. */
  readonly connectTimeoutMs?: number;
  /** Connections older than this get no new requests. Default 300,000. */
  readonly connectionMaxAgeMs?: number;
  /** Resolves names, with the signature of `dns.lookup`. */
  readonly lookup?: LookupFunction;
  /** PEM certificates to trust instead of Node's own (and `NODE_EXTRA_CA_CERTS`). */
  readonly ca?: readonly string[];
  /** Called for every blocked address, for the counter and the log. */
  readonly onBlocked?: (error: BlockedAddressError) => void;
};

export type Egress = AsyncDisposable & {
  /**
   * Checks a URL that a user stores for later: form, scheme, port, and every current address of the
   * host. Each request checks again.
   *
   * @returns the normalized URL
   * @throws EgressError (`invalid_url`, `dns_error`, `timeout` after five seconds)
   * @throws BlockedAddressError
   */
  checkUrl(
    url: string,
    options?: { readonly schemes?: readonly Scheme[] },
    signal?: AbortSignal,
  ): Promise<URL>;

  /**
   * Resolves a message broker for a connection that a library opens: connect only to `address`, and
   * verify TLS against `host`. Throws like `checkUrl`.
   */
  resolve(
    url: string,
    schemes: readonly BrokerScheme[],
    signal?: AbortSignal,
  ): Promise<{ readonly host: string; readonly port: number; readonly address: string }>;

  /**
   * Sends one request and reads the response. Any status is a response, including 3xx: redirects
   * are not followed.
   *
   * @throws EgressError with the class of the failure, or the signal's reason
   */
  request(request: EgressRequest, signal?: AbortSignal): Promise<EgressResponse>;

  /**
   * Opens a large response as a stream and follows at most `maxRedirects` redirects, each of which
   * is checked like the first URL. The body throws `EgressError` (`too_large`) after
   * `maxBodyBytes`, and (`timeout`) at the deadline or after 30 seconds without data.
   */
  download(
    request: Omit<EgressRequest, 'method' | 'body'> & { readonly maxRedirects: number },
    signal?: AbortSignal,
  ): Promise<Download>;
};

const checkTimeoutMs = 5_000;
/** Ends a stalled response even if the total deadline is hours away, as for a download. */
const silenceTimeoutMs = 30_000;

/** Creates the client. Disposing of it ends requests in flight and closes all connections. */
export function createEgress(options: EgressOptions): Egress {
  const { connectTimeoutMs = 10_000, connectionMaxAgeMs = 300_000 } = options;
  const guard: Guard = {
    allow: options.allow,
    lookup: options.lookup ?? createResolver(),
    onBlocked: options.onBlocked ?? (() => undefined),
  };
  const pools = new OriginPools(
    (origin, clientCertificate) =>
      new Pool(origin, {
        connect: guardedConnector(guard, new URL(origin), {
          connectTimeoutMs,
          ca: options.ca,
          clientCertificate,
        }),
        // No request waits for another one's connection: many tenants may share an origin, and some
        // of their receivers hang. Callers limit the number of requests in flight.
        connections: null,
        allowH2: false,
        headersTimeout: silenceTimeoutMs,
        bodyTimeout: silenceTimeoutMs,
        keepAliveMaxTimeout: 60_000,
      }),
    connectionMaxAgeMs,
  );

  return {
    async checkUrl(text, { schemes = ['https:'] } = {}, signal) {
      const { url, host } = parseTarget(text, schemes);
      const timeout = AbortSignal.timeout(checkTimeoutMs);
      const either = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
      const judged = isBroker(url)
        ? judgeBroker(guard, { url, host }, either)
        : judgeTarget(guard, host, portOf(url), either);
      await judged.catch((error: unknown) => {
        throw signal?.aborted === true ? signal.reason : asEgressError(error, host);
      });
      return url;
    },

    async resolve(text, schemes, signal) {
      const target = parseTarget(text, schemes);
      return judgeBroker(guard, target, signal).catch((error: unknown) => {
        throw signal?.aborted === true ? signal.reason : asEgressError(error, target.host);
      });
    },

    request: (request, signal) => requestWhole(pools, request, signal),
    download: (request, signal) => openResponse(pools, request, signal),
    [Symbol.asyncDispose]: () => pools[Symbol.asyncDispose](),
  };
}

function isBroker({ protocol }: URL): boolean {
  return protocol !== 'http:' && protocol !== 'https:';
}
