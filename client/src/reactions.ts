import { isRecord, ReelfeedError } from './errors.ts';
import { signatureOf, type Viewer } from './feed.ts';
import { getJson, type RetryingTransport } from './request.ts';

/** The ids of items that the viewer likes and has saved. */
export type Reactions = { readonly likes: readonly string[]; readonly saves: readonly string[] };

/** Reads which of some items the viewer likes and has saved. Throws like `readFeedPage`. */
export async function readReactions(
  transport: RetryingTransport,
  viewer: Viewer,
  contentIds: readonly string[],
  signal?: AbortSignal,
): Promise<Reactions> {
  if (contentIds.length === 0) return { likes: [], saves: [] };
  const parameters = new URLSearchParams({ contentIds: contentIds.join(',') });
  const { userId, deviceId } = viewer;
  if (userId !== undefined && userId !== '') parameters.set('userId', userId);
  if (deviceId !== undefined && deviceId !== '') parameters.set('deviceId', deviceId);
  const headers = signatureOf(viewer);
  const body = await getJson(transport, 'v1/feed/reactions', parameters, signal, headers);
  const data = isRecord(body) ? body['data'] : undefined;
  if (isRecord(data) && isIdList(data['likes']) && isIdList(data['saves'])) {
    return { likes: data['likes'], saves: data['saves'] };
  }
  throw new ReelfeedError({
    code: 'INVALID_RESPONSE',
    message: 'The response is not a list of reactions.',
    status: 200,
    requestId: null,
    retryAfterMs: null,
    details: [],
  });
}

function isIdList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((id) => typeof id === 'string');
}
