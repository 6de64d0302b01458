/** The address of a service and the timeout for its responses. */
export type ConnectionOptions = {
  /**
   * The base URL of the service, such as `https://video.example.com` or
   * `https://example.com/reels/`.
   */
  readonly baseUrl: string | URL;
  /** Replaces the platform's `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** Timeout of one attempt in milliseconds. Default: 10,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * First pause between attempts in milliseconds. It doubles for each further one. Default: 300.
   */
  readonly retryDelayMs?: number | undefined;
};

/** Connection options of a client in a browser or an app. */
export type ServiceOptions = ConnectionOptions & {
  /** A publishable key (`rf_pk_…`). Secret keys must never reach a browser and are rejected. */
  readonly publishableKey: string;
};

/** Everything a call needs to reach the service. */
export type Transport = {
  readonly baseUrl: URL;
  readonly key: string;
  readonly fetch: typeof fetch;
  /** Timeout of one attempt, including its body. */
  readonly timeoutMs: number;
  /** First pause between attempts. It doubles and has random jitter. */
  readonly retryDelayMs: number;
};

/** Throws `TypeError` for invalid options. */
export function createTransport(options: ServiceOptions): Transport {
  if (options.publishableKey.startsWith('rf_sk_')) {
    throw new TypeError('Secret keys must stay on your server. Use a publishable key (rf_pk_…).');
  }
  return openTransport(options, options.publishableKey, 'publishableKey');
}

/**
 * A transport with a key of either type; `keyName` is the name of its option, for messages. Throws
 * `TypeError` for invalid options.
 */
export function openTransport(options: ConnectionOptions, key: string, keyName: string): Transport {
  const baseUrl = new URL(options.baseUrl);
  if (baseUrl.protocol !== 'https:' && baseUrl.protocol !== 'http:') {
    throw new TypeError(`baseUrl must start with http:// or https://, not ${baseUrl.protocol}`);
  }
  // Without the trailing slash, the last part of a path would be replaced rather than extended.
  if (!baseUrl.pathname.endsWith('/')) baseUrl.pathname += '/';
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new TypeError(`${keyName} must be printable ASCII without spaces.`);
  }
  return {
    baseUrl,
    key,
    // Browsers reject a fetch that is called as the method of another object.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    timeoutMs: options.timeoutMs ?? 10_000,
    retryDelayMs: options.retryDelayMs ?? 300,
  };
}

/**
 * The pause after a number of previous failures. With full jitter, some clients would retry
 * immediately; half jitter still spreads out clients that failed together.
 */
export function backoffMs(transport: Transport, failuresBefore: number, longestMs: number): number {
  const ceilingMs = Math.min(longestMs, transport.retryDelayMs * 2 ** failuresBefore);
  return ceilingMs * (0.5 + Math.random() / 2);
}
