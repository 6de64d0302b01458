import { isRecord, ReelfeedError } from './errors.ts';
import { sendJson, type RetryingTransport } from './request.ts';
import { type CaptionTrack, type CarouselImage } from './types.ts';

/** Addresses that play a protected item for a limited time. */
export type PlaybackToken = {
  /** HLS master playlist; null for image carousels. */
  readonly streamingUrl: string | null;
  readonly thumbnailUrl: string | null;
  readonly images: readonly CarouselImage[];
  readonly captionTracks: readonly CaptionTrack[];
  /** ISO 8601 in UTC. */
  readonly expiresAt: string;
  /** Seconds. */
  readonly expiresIn: number;
};

/** Gets a token. Throws `ReelfeedError`, or the signal's reason once it is aborted. */
export async function createPlaybackToken(
  transport: RetryingTransport,
  contentId: string,
  signal: AbortSignal | undefined,
): Promise<PlaybackToken> {
  const path = `v1/content/${encodeURIComponent(contentId)}/playback-token`;
  const body = await sendJson(transport, { method: 'POST', path, signal });
  const data = isRecord(body) ? body['data'] : undefined;
  if (!isToken(data)) {
    throw new ReelfeedError({
      code: 'INVALID_RESPONSE',
      message: 'The response is not a playback token.',
      status: 200,
      requestId: null,
      retryAfterMs: null,
      details: [],
    });
  }
  return data;
}

function isToken(data: unknown): data is PlaybackToken {
  return isRecord(data) && 'streamingUrl' in data && typeof data['expiresAt'] === 'string';
}
