import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isConditional, isNotModified, isRangeCurrent } from '../../platform/http/conditional.ts';
import { readRange } from '../../platform/http/byte-range.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { InvalidKeyError } from '../../platform/storage/storage-errors.ts';
import type { Storage, StoredRead } from '../../platform/storage/storage.ts';
import type { StoredAsset } from '../content/content.ts';
import { DERIVED_FILES } from '../media/media.ts';
import { withCaptions } from './caption-playlist.ts';
import { SendBuffers } from './send-buffers.ts';

/** Content types of media files. Files with another extension are not served. */
const contentTypes: Record<string, string> = {
  m3u8: 'application/vnd.apple.mpegurl',
  m4s: 'video/iso.segment',
  mp4: 'video/mp4',
  jpg: 'image/jpeg',
  webp: 'image/webp',
  vtt: 'text/vtt; charset=utf-8',
};

/** A master playlist is replaced when more renditions are ready; all other files never change. */
const masterCaching = 'public, max-age=2';
/** The playlist of a video that plays during processing changes with each segment. */
const growingCaching = 'public, max-age=1';
const foreverCaching = 'public, max-age=31536000, immutable';

/** A client follows a redirect immediately; a transfer in progress may outlast this. */
const signedForMs = 5 * 60_000;

type MediaFile = {
  key: string;
  isPrivate: boolean;
  /** Whether segments are being added to its media playlists. */
  isGrowing: boolean;
  /** For files that change; null for all others. */
  maxAgeSeconds: number | null;
  /** The item's ready captions, which are added to master playlists. */
  captions: readonly StoredAsset[];
};

/**
 * Sends a stored file: completely, as one byte range, or as 304.
 * @throws {ApiError} NOT_FOUND, also for a path that no file can have
 */
export async function sendMedia(
  request: FastifyRequest,
  reply: FastifyReply,
  storage: Storage,
  { key, isPrivate, isGrowing, maxAgeSeconds, captions }: MediaFile,
): Promise<FastifyReply> {
  const contentType = mediaTypeOf(key);
  if (contentType === undefined) throw new ApiError('NOT_FOUND');
  if (request.method === 'GET' && key.endsWith(`/${DERIVED_FILES.download}`)) {
    const url = await orNotFound(() => downloadFromStorage(storage, key, contentType));
    if (url !== null) return reply.redirect(url, 302);
  }
  const hasCaptions = captions.length > 0 && key.endsWith('/master.m3u8');
  // A plain GET needs only one request to the storage: with S3, each costs time and money.
  const isPlain = !hasCaptions && request.method === 'GET' && !isConditional(request.headers);
  const opened = isPlain
    ? await orNotFound(() => readRange(request.headers.range, reply, storage, key))
    : null;
  const file = isPlain ? opened : await orNotFound(() => storage.head(key));
  if (file === null) throw new ApiError('NOT_FOUND');
  reply.headers({
    ...mediaHeaders(contentType),
    'cache-control': cachingOf(key, { isGrowing, isPrivate, maxAgeSeconds }),
    'accept-ranges': 'bytes',
    etag: file.etag,
    'last-modified': file.modifiedAt.toUTCString(),
  });
  if (opened !== null) return sendRead(reply, opened);
  if (hasCaptions) {
    return sendMaster(request, reply, storage, { key, captions });
  }
  if (isNotModified(request.headers, file)) return reply.status(304).send();
  if (request.method === 'HEAD') {
    // Without a body, Fastify would set the length to 0.
    return reply.header('content-length', file.sizeBytes).send(Readable.from([]));
  }
  const isWhole = !isRangeCurrent(request.headers, file);
  const read = isWhole
    ? await storage.read(key)
    : await readRange(request.headers.range, reply, storage, key);
  if (read === null) throw new ApiError('NOT_FOUND');
  return sendRead(reply, read);
}

/** The content type of a file by its name, or undefined if it is not served. */
export function mediaTypeOf(name: string): string | undefined {
  return contentTypes[name.slice(name.lastIndexOf('.') + 1)];
}

/** The headers of every media response. */
export function mediaHeaders(contentType: string): Record<string, string> {
  return {
    'content-type': contentType,
    'content-disposition': 'inline',
    'content-security-policy': "sandbox; default-src 'none'",
    'cross-origin-resource-policy': 'cross-origin',
  };
}

/** @param maxAgeSeconds null for files that never change */
export function cachingFor(maxAgeSeconds: number | null, isPrivate: boolean): string {
  const caching = maxAgeSeconds === null ? foreverCaching : `public, max-age=${maxAgeSeconds}`;
  return isPrivate ? caching.replace('public', 'private') : caching;
}

const buffers = new SendBuffers();

/** Reads a segment with a single call, and streams anything larger. */
async function sendRead(reply: FastifyReply, read: StoredRead): Promise<FastifyReply> {
  reply.header('content-length', read.lengthBytes);
  const { raw } = reply;
  const canLend = read.readInto !== undefined && !raw.destroyed;
  const lent = canLend ? buffers.lend(read.lengthBytes) : null;
  if (lent === null) return reply.send(read.stream);
  raw.once('close', () => lent.end({ isUnused: raw.writableFinished }));
  await read.readInto?.(lent.bytes);
  return reply.send(lent.bytes);
}

/** Downloads are large and fetched once, so the storage sends them itself if it can. */
function downloadFromStorage(
  storage: Storage,
  key: string,
  contentType: string,
): Promise<string | null> {
  const signing = { expiresInMs: signedForMs, contentType, contentDisposition: 'inline' };
  return storage.signedUrl(key, signing);
}

function cachingOf(
  key: string,
  {
    isGrowing,
    isPrivate,
    maxAgeSeconds,
  }: Pick<MediaFile, 'isGrowing' | 'isPrivate' | 'maxAgeSeconds'>,
): string {
  if (maxAgeSeconds !== null) return cachingFor(maxAgeSeconds, isPrivate);
  const isMaster = key.endsWith('/master.m3u8');
  const caching = isMaster
    ? masterCaching
    : isGrowing && key.endsWith('/index.m3u8')
      ? growingCaching
      : foreverCaching;
  return isPrivate ? caching.replace('public', 'private') : caching;
}

/** Sends the stored master playlist with the current captions; too short for range requests. */
async function sendMaster(
  request: FastifyRequest,
  reply: FastifyReply,
  storage: Storage,
  { key, captions }: Pick<MediaFile, 'key' | 'captions'>,
): Promise<FastifyReply> {
  const read = await storage.read(key);
  if (read === null) throw new ApiError('NOT_FOUND');
  const playlist = withCaptions(await text(read.stream), captions);
  const etag = `"${createHash('sha256').update(playlist).digest('base64url').slice(0, 22)}"`;
  reply.headers({ etag, 'accept-ranges': 'none' }).removeHeader('last-modified');
  if (isNotModified(request.headers, { etag })) {
    return reply.status(304).send();
  }
  return reply.send(playlist);
}

async function orNotFound<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof InvalidKeyError) throw new ApiError('NOT_FOUND', { cause: error });
    throw error;
  }
}
