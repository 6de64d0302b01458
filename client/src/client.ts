import { readConfig, type ClientConfig, type ConfigQuery } from './config.ts';
import {
  readFeedPage,
  readFeedPages,
  readItem,
  readSimilar,
  type ItemQuery,
  type SimilarQuery,
  type Viewer,
} from './feed.ts';
import { createPlaybackToken, type PlaybackToken } from './playback-token.ts';
import { readReactions, type Reactions } from './reactions.ts';
import { type RetryingTransport } from './request.ts';
import { createTransport, type ServiceOptions } from './transport.ts';
import { type FeedItem, type FeedPage, type FeedQuery } from './types.ts';

export { assignVariant, type AssignmentPlan, type Audience, type Targeting } from './assignment.ts';
export type { ClientConfig, ConfigQuery } from './config.ts';
export type { ItemQuery, SimilarQuery } from './feed.ts';
export { ReelfeedError, type ErrorDetail } from './errors.ts';
export { EventSender } from './event-sender.ts';
export type { EventSenderOptions } from './event-sender-options.ts';
export { localEventStorage, type EventStorage } from './event-storage.ts';
export type {
  CustomEngagementEvent,
  CustomKind,
  EngagementEvent,
  EventCounts,
  EventDataByKind,
  EventKind,
  TrackedEvent,
} from './events.ts';
export type { PlaybackToken } from './playback-token.ts';
export type { Reactions } from './reactions.ts';
export type { RefusedEvent } from './event-request.ts';
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

export type ReelfeedOptions = ServiceOptions &
  Viewer & {
    /** Retries for network errors, 408, 425, 429 and 503. Default: 3. */
    readonly maxRetries?: number | undefined;
  };

export type Reelfeed = {
  /**
   * Reads one page of the feed. Throws `ReelfeedError`, or the signal's reason once it is aborted.
   */
  feed(query?: FeedQuery): Promise<FeedPage>;
  /**
   * Reads one item, including unlisted ones. Throws like `feed`; `NOT_FOUND` if it may not be
   * shown.
   */
  item(contentId: string, query?: ItemQuery): Promise<FeedItem>;
  /** Reads settings and flags for the viewer. Throws like `feed`. */
  config(query?: ConfigQuery): Promise<ClientConfig>;
  /**
   * Gets addresses that play a protected item. Throws like `feed`, and `NOT_PROTECTED` for an item
   * whose own addresses can be played.
   */
  playbackToken(
    contentId: string,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<PlaybackToken>;
  /** Reads similar items, most similar first. Throws like `feed`. */
  similar(contentId: string, query?: SimilarQuery): Promise<readonly FeedItem[]>;
  /**
   * Reads which of at most 100 items the viewer likes and has saved. A user needs `userSignature`.
   * Throws like `feed`; `FORBIDDEN` for a user without a signature.
   */
  reactions(
    contentIds: readonly string[],
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<Reactions>;
  /** All pages from `query.cursor` on, fetched on demand. */
  feedPages(query?: FeedQuery): AsyncGenerator<FeedPage, void, undefined>;
  /** The items of all pages, one after another. */
  feedItems(query?: FeedQuery): AsyncGenerator<FeedItem, void, undefined>;
};

/** Creates a client for one service, key and viewer. Throws `TypeError` for invalid options. */
export function createReelfeed(options: ReelfeedOptions): Reelfeed {
  const transport: RetryingTransport = {
    ...createTransport(options),
    maxRetries: options.maxRetries ?? 3,
  };
  const viewer: Viewer = {
    userId: options.userId,
    userSignature: options.userSignature,
    deviceId: options.deviceId,
    device: options.device,
  };
  return {
    feed: (query = {}) => readFeedPage(transport, viewer, query),
    item: (contentId, query = {}) => readItem(transport, contentId, query),
    config: (query = {}) => readConfig(transport, viewer, query),
    playbackToken: (contentId, { signal } = {}) =>
      createPlaybackToken(transport, contentId, signal),
    similar: (contentId, query = {}) => readSimilar(transport, contentId, query),
    reactions: (contentIds, { signal } = {}) =>
      readReactions(transport, viewer, contentIds, signal),
    feedPages: (query = {}) => readFeedPages(transport, viewer, query),
    async *feedItems(query = {}) {
      for await (const page of readFeedPages(transport, viewer, query)) yield* page.items;
    },
  };
}
