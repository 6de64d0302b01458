import { isRecord, ReelfeedError } from './errors.ts';
import { getJson, type RetryingTransport } from './request.ts';
import {
  type ExperimentAssignment,
  type FeedItem,
  type FeedPage,
  type FeedQuery,
} from './types.ts';

/** The viewer, sent with every page so that ranking and experiments follow the viewer. */
export type Viewer = {
  readonly userId?: string | undefined;
  /** Your server's signature of `userId`, by a viewer key. */
  readonly userSignature?: string | undefined;
  readonly deviceId?: string | undefined;
  readonly device?: 'ios' | 'android' | 'web' | undefined;
};

/** Reads one page. Throws `ReelfeedError`, or the signal's reason once it is aborted. */
export async function readFeedPage(
  transport: RetryingTransport,
  viewer: Viewer,
  query: FeedQuery,
): Promise<FeedPage> {
  const parameters = feedParameters(viewer, query);
  const body = await getJson(transport, 'v1/feed', parameters, query.signal, signatureOf(viewer));
  return parseFeedPage(body);
}

/** The header that authenticates a user. */
export function signatureOf({ userId, userSignature }: Viewer): Record<string, string> {
  const isSigned = userId !== undefined && userSignature !== undefined && userSignature !== '';
  return isSigned ? { 'x-viewer-signature': userSignature } : {};
}

/** Reads page after page until the service reports the last one. */
export async function* readFeedPages(
  transport: RetryingTransport,
  viewer: Viewer,
  query: FeedQuery,
): AsyncGenerator<FeedPage, void, undefined> {
  let cursor = query.cursor ?? null;
  for (;;) {
    const page = await readFeedPage(transport, viewer, { ...query, cursor });
    yield page;
    if (!page.hasMore || page.nextCursor === null || page.nextCursor === cursor) return;
    cursor = page.nextCursor;
  }
}

export type SimilarQuery = {
  /** 1 to 50. Default: 20. */
  readonly limit?: number | undefined;
  /** The viewer's country, ISO 3166-1 alpha-2. */
  readonly country?: string | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** Reads similar items, most similar first. Throws `ReelfeedError`, like `readFeedPage`. */
export async function readSimilar(
  transport: RetryingTransport,
  contentId: string,
  { limit, country, signal }: SimilarQuery,
): Promise<readonly FeedItem[]> {
  const parameters = new URLSearchParams({
    ...(limit !== undefined && { limit: String(limit) }),
    ...(country !== undefined && { country }),
  });
  const path = `v1/content/${encodeURIComponent(contentId)}/similar`;
  return parseFeedPage(await getJson(transport, path, parameters, signal)).items;
}

export type ItemQuery = {
  /** The viewer's country, ISO 3166-1 alpha-2. */
  readonly country?: string | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** Reads one item, including unlisted ones. Throws `ReelfeedError`, like `readFeedPage`. */
export async function readItem(
  transport: RetryingTransport,
  contentId: string,
  { country, signal }: ItemQuery,
): Promise<FeedItem> {
  const parameters = new URLSearchParams({ ...(country !== undefined && { country }) });
  const path = `v1/feed/items/${encodeURIComponent(contentId)}`;
  const body = await getJson(transport, path, parameters, signal);
  const data = isRecord(body) ? body['data'] : undefined;
  if (isFeedItem(data)) return data;
  throw invalidResponse('The response is not an item.', null);
}

function feedParameters(viewer: Viewer, query: FeedQuery): URLSearchParams {
  const values: Record<string, string | number | null | undefined> = {
    limit: query.limit,
    cursor: query.cursor,
    userId: viewer.userId,
    deviceId: viewer.deviceId,
    device: viewer.device,
    sessionId: query.sessionId,
    country: query.country,
    tags: query.tags?.join(','),
    section: query.section,
    author: query.author,
    contentType: query.contentType,
    excludeIds: query.excludeIds?.join(','),
  };
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== null && value !== '') {
      parameters.set(name, String(value));
    }
  }
  return parameters;
}

/**
 * Checks every field of the envelope. Items are checked only for their discriminating fields; the
 * API contract covers the rest. Entries that are not items are skipped, so that they do not hide
 * the others.
 */
function parseFeedPage(body: unknown): FeedPage {
  const data = isRecord(body) ? body['data'] : undefined;
  const meta = isRecord(body) && isRecord(body['meta']) ? body['meta'] : {};
  const requestId = stringOrNull(meta['requestId']);
  const items = Array.isArray(data) ? data.filter(isFeedItem) : [];
  if (!Array.isArray(data) || (items.length === 0 && data.length > 0)) {
    throw invalidResponse('The response is not a feed page.', requestId);
  }
  const nextCursor = stringOrNull(meta['nextCursor']);
  const hasMore = meta['hasMore'];
  const experiments = meta['experiments'];
  return {
    items,
    nextCursor,
    hasMore: typeof hasMore === 'boolean' ? hasMore : nextCursor !== null,
    feedId: stringOrNull(meta['feedId']),
    exhausted: meta['exhausted'] === true,
    experiments: Array.isArray(experiments) ? experiments.filter(isAssignment) : [],
    requestId,
  };
}

function invalidResponse(message: string, requestId: string | null): ReelfeedError {
  return new ReelfeedError({
    code: 'INVALID_RESPONSE',
    message,
    status: 200,
    requestId,
    retryAfterMs: null,
    details: [],
  });
}

function isFeedItem(value: unknown): value is FeedItem {
  return (
    isRecord(value) &&
    typeof value['id'] === 'string' &&
    typeof value['contentType'] === 'string' &&
    typeof value['title'] === 'string'
  );
}

function isAssignment(value: unknown): value is ExperimentAssignment {
  return (
    isRecord(value) &&
    typeof value['experimentId'] === 'string' &&
    typeof value['variantId'] === 'string'
  );
}

function stringOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
