/** Serves the playlists, parts and segments of broadcasts from memory. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Db } from '../../../platform/database/database.ts';
import type { Hints } from '../../../platform/hints/hints.ts';
import { isConditional } from '../../../platform/http/conditional.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import type { Storage } from '../../../platform/storage/storage.ts';
import {
  cachingFor,
  mediaHeaders,
  mediaTypeOf,
  type FileHandler,
  type HandledFile,
} from '../../playback/playback.ts';
import { liveFolderOf } from '../../content/item-media/item-media.ts';
import { playlistFiles } from '../ingest/playlists.ts';
import { rungOf } from '../ladder/rung-playlists.ts';
import { isReached, readDirectives, refuseFarAhead } from './blocking-reload.ts';
import { findByPlaybackId } from './edge-queries.ts';
import { FollowedStream } from './followed-stream.ts';
import { SegmentCache } from './segment-cache.ts';

type EdgeParts = { readonly db: Db; readonly storage: Storage; readonly hints: Hints };

const maxStreams = 1_000;
/** Maximum wait of a request in target durations (RFC 8216bis, section 6.2.5.2). */
const maxWaitTargets = 3;
const playlistSeconds = 1;
/** Thumbnails are replaced at this interval. */
const thumbnailSeconds = 10;

const partFile = /^part-[\w-]+\.m4s$/;

export class LiveEdge implements FileHandler {
  readonly #parts: EdgeParts;
  readonly #segments: SegmentCache;
  readonly #streams = new LRUCache<string, Promise<FollowedStream | null>>({
    max: maxStreams,
    dispose: (following) => void following.then((stream) => stream?.close()),
  });

  constructor(parts: EdgeParts) {
    this.#parts = parts;
    this.#segments = new SegmentCache(parts.storage);
  }

  /**
   * Returns null for files served from the storage.
   * @throws {ApiError}
   */
  async handle(
    request: FastifyRequest,
    reply: FastifyReply,
    file: HandledFile,
  ): Promise<FastifyReply | null> {
    const moved = movedTo(file);
    if (moved !== null) return reply.redirect(moved, 302);
    const name = /^live\/([\w-]+\.(?:m3u8|m4s|mp4))$/.exec(file.rest)?.[1];
    if (name === undefined || request.method !== 'GET') return null;
    if (name === playlistFiles.media) return this.#sendPlaylist(request, reply, file);
    if (partFile.test(name)) return this.#sendPart(request, reply, { ...file, name });
    const rung = rungOf(name);
    if (rung !== null) return this.#sendRung(request, reply, { ...file, rung });
    return name.endsWith('.m3u8') ? null : this.#sendSegment(request, reply, { ...file, name });
  }

  /** The stored files that are replaced during a broadcast. */
  maxAgeSeconds(rest: string): number | null {
    if (/^live\/(?:index|rung-\d+)\.m3u8$/.test(rest)) return playlistSeconds;
    return /^live\/[\w-]+\.(?:jpg|webp)$/.test(rest) ? thumbnailSeconds : null;
  }

  async #sendPlaylist(
    request: FastifyRequest,
    reply: FastifyReply,
    { playbackId, isPrivate }: HandledFile,
  ): Promise<FastifyReply | null> {
    const stream = await this.#follow(playbackId);
    if (stream?.state == null) return null;
    const isLow = stream.state.latency === 'low' && !stream.state.isOver;
    const directives = readDirectives(isLow ? (request.query as Record<string, unknown>) : {});
    refuseFarAhead(directives, stream.edge);
    const isReady = () => isReached(directives, stream.edge);
    const isThere = await stream.until(isReady, waitMs(stream), request.signal);
    // Without a publisher, a waiting player must not conclude that the service is faulty.
    if (!isThere && stream.isAdvancing) throw tooLate();
    const playlist = stream.playlist(directives.isDelta);
    if (playlist === null) return null;
    const isBlocking = directives.segment !== null && isThere;
    const maxAge = isBlocking ? waitMs(stream) / 1_000 : playlistSeconds;
    return sendText(reply, playlist, cachingFor(maxAge, isPrivate));
  }

  /**
   * A rung has no parts: a request for one waits for its segment. A timeout is not an error,
   * because a rung may be dropped at any time.
   */
  async #sendRung(
    request: FastifyRequest,
    reply: FastifyReply,
    { playbackId, isPrivate, rung }: HandledFile & { rung: string },
  ): Promise<FastifyReply | null> {
    const stream = await this.#follow(playbackId);
    if (stream === null || stream.rungEdge(rung) === null) return null;
    const { segment } = readDirectives(request.query as Record<string, unknown>);
    const directives = { segment, part: null, isDelta: false };
    refuseFarAhead(directives, stream.edge);
    const isReady = () => {
      const edge = stream.rungEdge(rung);
      return edge === null || isReached(directives, edge);
    };
    const isThere = await stream.until(isReady, waitMs(stream), request.signal);
    const playlist = stream.rungPlaylist(rung);
    if (playlist === null) return null;
    const maxAge = segment !== null && isThere ? waitMs(stream) / 1_000 : playlistSeconds;
    return sendText(reply, playlist, cachingFor(maxAge, isPrivate));
  }

  /** Sends a part, waiting for it if the playlist has announced it. */
  async #sendPart(
    request: FastifyRequest,
    reply: FastifyReply,
    { playbackId, isPrivate, name }: HandledFile & { name: string },
  ): Promise<FastifyReply> {
    const stream = await this.#follow(playbackId);
    if (stream === null) throw new ApiError('NOT_FOUND');
    const isThere = () => stream.partBytes(name) !== null;
    if (!isThere() && stream.nextPart === name) {
      await stream.until(
        () => isThere() || stream.nextPart !== name,
        waitMs(stream),
        request.signal,
      );
    }
    const bytes = stream.partBytes(name);
    if (bytes === null) throw new ApiError('NOT_FOUND');
    return reply
      .headers({
        ...mediaHeaders('video/iso.segment'),
        'cache-control': cachingFor(null, isPrivate),
      })
      .send(bytes);
  }

  async #sendSegment(
    request: FastifyRequest,
    reply: FastifyReply,
    { playbackId, rest, isPrivate, name }: HandledFile & { name: string },
  ): Promise<FastifyReply | null> {
    const contentType = mediaTypeOf(name);
    const isPlain = request.headers.range === undefined && !isConditional(request.headers);
    if (!isPlain || contentType === undefined) return null;
    const cached = await this.#segments.read(`media/${playbackId}/${rest}`);
    if (cached === null) return null;
    const { file, bytes } = cached;
    return reply
      .headers({
        ...mediaHeaders(contentType),
        'cache-control': cachingFor(null, isPrivate),
        'accept-ranges': 'bytes',
        etag: file.etag,
        'last-modified': file.modifiedAt.toUTCString(),
      })
      .send(bytes);
  }

  /** Returns null if the item has no segments, or if the database fails before they are known. */
  async #follow(playbackId: string): Promise<FollowedStream | null> {
    const following = this.#streams.get(playbackId) ?? this.#begin(playbackId);
    const stream = await following;
    stream?.touch();
    return stream;
  }

  #begin(playbackId: string): Promise<FollowedStream | null> {
    const following = this.#open(playbackId).catch(() => null);
    this.#streams.set(playbackId, following);
    void following.then((stream) => {
      const isCurrent = this.#streams.peek(playbackId) === following;
      if (isCurrent && stream === null) this.#streams.delete(playbackId);
    });
    return following;
  }

  async #open(playbackId: string): Promise<FollowedStream | null> {
    const { db, hints } = this.#parts;
    const key = await findByPlaybackId(db, playbackId);
    if (key === null) return null;
    const onClosed = () => void this.#streams.delete(playbackId);
    const stream = new FollowedStream({ db, hints, key, onClosed });
    try {
      await stream.refresh();
    } catch (error) {
      stream.close();
      throw error;
    }
    return stream.state === null ? null : stream;
  }

  [Symbol.dispose](): void {
    this.#streams.clear();
  }
}

/**
 * Where a broadcast plays from once its recording was processed, or null for anything else. The
 * address is relative, so a token in the path is kept.
 */
function movedTo({ playbackId, rest, mediaPrefix }: HandledFile): string | null {
  const isMaster = rest === `live/${playlistFiles.master}`;
  if (!isMaster || mediaPrefix === null || mediaPrefix === liveFolderOf(playbackId)) return null;
  return `../${mediaPrefix.slice(playbackId.length + 1)}/master.m3u8`;
}

function sendText(reply: FastifyReply, playlist: string, caching: string): FastifyReply {
  const headers = mediaHeaders('application/vnd.apple.mpegurl');
  return reply.headers({ ...headers, 'cache-control': caching }).send(playlist);
}

function waitMs({ state }: FollowedStream): number {
  return (state?.targetDurationSeconds ?? 2) * maxWaitTargets * 1_000;
}

function tooLate(): ApiError {
  return new ApiError('UNAVAILABLE', {
    message: 'The part did not arrive in time.',
    headers: { 'cache-control': 'no-store' },
  });
}
