/**
 * The one way out: every request that the service makes to a host that somebody else chose
 * (webhooks, imports) goes through here. See `guard.ts` for what is refused, and
 * `REELFEED_EGRESS_ALLOW` for the operator's exceptions.
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
  /** Name resolution, TCP and TLS together. Default 10,000. */
  readonly connectTimeoutMs?: number;
  /** No new request goes over a connection that is older. Default 300,000. */
  readonly connectionMaxAgeMs?: number;
  /** Asked for names, with the shape of `dns.lookup`. */
  readonly lookup?: LookupFunction;
  /** PEM certificates to trust instead of Node's own (and `NODE_EXTRA_CA_CERTS`). */
  readonly ca?: readonly string[];
  /** Told of every refused address, for the counter and the log. */
  readonly onBlocked?: (error: BlockedAddressError) => void;
};

export type Egress = AsyncDisposable & {
  /**
   * Checks a URL that a user stores for later: shape, scheme, port, and every address that the
   * host has now. Returns it normalised. Throws `EgressError` (`invalid_url`, `dns_error`,
   * `timeout` after five seconds) or `BlockedAddressError`. Each request checks again.
   */
  checkUrl(
    url: string,
    options?: { readonly schemes?: readonly Scheme[] },
    signal?: AbortSignal,
  ): Promise<URL>;

  /**
   * The address of a message broker, for a connection that a library opens: connect to `address` and
   * nothing else, and verify TLS against `host`. Throws like `checkUrl`.
   */
  resolve(
    url: string,
    schemes: readonly BrokerScheme[],
    signal?: AbortSignal,
  ): Promise<{ readonly host: string; readonly port: number; readonly address: string }>;

  /**
   * Sends one request and reads the answer. Any status is an answer, also 3xx: no redirect is
   * followed. Throws `EgressError` with the failure's class, or the signal's reason.
   */
  request(request: EgressRequest, signal?: AbortSignal): Promise<EgressResponse>;

  /**
   * Opens a large answer to be read as a stream, following at most `maxRedirects` redirects, each
   * of them checked like the first URL. The body throws `EgressError` (`too_large`) behind
   * `maxBodyBytes`, and (`timeout`) at the deadline or after 30 silent seconds.
   */
  download(
    request: Omit<EgressRequest, 'method' | 'body'> & { readonly maxRedirects: number },
    signal?: AbortSignal,
  ): Promise<Download>;
};

const checkTimeoutMs = 5_000;
/** A stalled answer ends here even where the total deadline is hours away, as for a download. */
const silenceTimeoutMs = 30_000;

/** Opens the way out. Disposing ends what is under way and closes every connection. */
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
        // of their receivers hang. Callers limit how many requests are under way.
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
