/** Where a service is, and how long to wait for it. */
export type ConnectionOptions = {
  /** Where the service answers, such as `https://video.example.com` or `https://example.com/reels/`. */
  readonly baseUrl: string | URL;
  /** Replaces the platform's `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** Longest wait for one attempt. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** First pause between tries, doubled for each further one. Default 300. */
  readonly retryDelayMs?: number | undefined;
};

/** How a client in a browser or an app reaches a service. */
export type ServiceOptions = ConnectionOptions & {
  /** A publishable key (`rf_pk_…`). Secret keys must never reach a browser and are refused. */
  readonly publishableKey: string;
};

/** Everything a call needs to reach the service. */
export type Transport = {
  readonly baseUrl: URL;
  readonly key: string;
  readonly fetch: typeof fetch;
  /** Longest wait for one attempt, its body included. */
  readonly timeoutMs: number;
  /** First pause between tries; it doubles and is spread at random. */
  readonly retryDelayMs: number;
};

/** Throws `TypeError` for unusable options. */
export function createTransport(options: ServiceOptions): Transport {
  if (options.publishableKey.startsWith('rf_sk_')) {
    throw new TypeError('A secret key must stay on your server: use a publishable key (rf_pk_…).');
  }
  return openTransport(options, options.publishableKey, 'publishableKey');
}

/**
 * A transport with a key of either type; `keyName` is the option that holds it, for messages.
 * Throws `TypeError` for unusable options.
 */
export function openTransport(options: ConnectionOptions, key: string, keyName: string): Transport {
  const baseUrl = new URL(options.baseUrl);
  if (baseUrl.protocol !== 'https:' && baseUrl.protocol !== 'http:') {
    throw new TypeError(`baseUrl must start with http:// or https://, not ${baseUrl.protocol}`);
  }
  // Without the slash the last part of a path would be replaced instead of extended.
  if (!baseUrl.pathname.endsWith('/')) baseUrl.pathname += '/';
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new TypeError(`${keyName} must be printable ASCII without spaces.`);
  }
  return {
    baseUrl,
    key,
    // Browsers refuse a fetch that is called as the method of another object.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    timeoutMs: options.timeoutMs ?? 10_000,
    retryDelayMs: options.retryDelayMs ?? 300,
  };
}

/**
 * The pause after the given number of failures before. Full jitter would let some come back at once;
 * half of it keeps clients that failed together from coming back together.
 */
export function backoffMs(transport: Transport, failuresBefore: number, longestMs: number): number {
  const ceilingMs = Math.min(longestMs, transport.retryDelayMs * 2 ** failuresBefore);
  return ceilingMs * (0.5 + Math.random() / 2);
}
