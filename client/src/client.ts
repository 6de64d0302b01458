import { readFeedPage, readFeedPages, type Viewer } from './feed.ts';
import { type Transport } from './request.ts';
import { type FeedItem, type FeedPage, type FeedQuery } from './types.ts';

export { ReelfeedError, type ErrorDetail } from './errors.ts';
export type {
  CaptionTrack,
  CarouselImage,
  ContentType,
  Engagement,
  ExperimentAssignment,
  FeedItem,
  FeedPage,
  FeedQuery,
  LiveStreamStatus,
  RankingExplanation,
} from './types.ts';

export interface ReelfeedOptions extends Viewer {
  /** Where the service answers, such as `https://video.example.com` or `https://example.com/reels/`. */
  readonly baseUrl: string | URL;
  /** A publishable key (`rf_pk_…`). Secret keys must never reach a browser and are refused. */
  readonly publishableKey: string;
  /** Replaces the platform's `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** Tries after the first one, for network errors, 429 and 503. Default 3. */
  readonly maxRetries?: number | undefined;
  /** Longest wait for one attempt. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** First pause between tries, doubled for each further one. Default 300. */
  readonly retryDelayMs?: number | undefined;
}

export interface Reelfeed {
  /** One page of the feed. Throws `ReelfeedError`, or the signal's reason once it is aborted. */
  feed(query?: FeedQuery): Promise<FeedPage>;
  /** All pages from `query.cursor` on, read as they are asked for. */
  feedPages(query?: FeedQuery): AsyncGenerator<FeedPage, void, undefined>;
  /** The items of all pages, one after the other. */
  feedItems(query?: FeedQuery): AsyncGenerator<FeedItem, void, undefined>;
}

/** Makes a client for one service, key and viewer. Throws `TypeError` for unusable options. */
export function createReelfeed(options: ReelfeedOptions): Reelfeed {
  const transport = createTransport(options);
  const viewer: Viewer = {
    userId: options.userId,
    deviceId: options.deviceId,
    device: options.device,
  };
  return {
    feed: (query = {}) => readFeedPage(transport, viewer, query),
    feedPages: (query = {}) => readFeedPages(transport, viewer, query),
    async *feedItems(query = {}) {
      for await (const page of readFeedPages(transport, viewer, query)) yield* page.items;
    },
  };
}

function createTransport(options: ReelfeedOptions): Transport {
  const baseUrl = new URL(options.baseUrl);
  if (baseUrl.protocol !== 'https:' && baseUrl.protocol !== 'http:') {
    throw new TypeError(`baseUrl must start with http:// or https://, not ${baseUrl.protocol}`);
  }
  // Without the slash the last part of a path would be replaced instead of extended.
  if (!baseUrl.pathname.endsWith('/')) baseUrl.pathname += '/';
  if (options.publishableKey.startsWith('rf_sk_')) {
    throw new TypeError('A secret key must stay on your server: use a publishable key (rf_pk_…).');
  }
  if (!/^[\x21-\x7e]+$/.test(options.publishableKey)) {
    throw new TypeError('publishableKey must be printable ASCII without spaces.');
  }
  return {
    baseUrl,
    publishableKey: options.publishableKey,
    // Browsers refuse a fetch that is called as the method of another object.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    maxRetries: options.maxRetries ?? 3,
    timeoutMs: options.timeoutMs ?? 10_000,
    retryDelayMs: options.retryDelayMs ?? 300,
  };
}
