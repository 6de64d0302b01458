import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Db } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { principalOf, type Principal } from '../../platform/http/principal.ts';
import { answers, Envelope, IdParams, Nullable, Timestamp } from '../../platform/http/schemas.ts';
import type { HttpApp } from '../../platform/http/server.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { formatTimestamp } from '../../platform/time.ts';
import { getItem, noSuchItem, type ItemRow } from '../content/content.ts';
import type { MediaAccess } from './media-urls.ts';
import { sendMedia } from './send-media.ts';
import { findPlaybackRules, type PlaybackRules } from './queries.ts';

export type PlaybackRouteParts = {
  db: Db;
  storage: Storage;
  mutations: Mutations;
  access: MediaAccess;
};

/** `forgetRules` is called after a change that must take effect on media files at once. */
export function addPlaybackRoutes(
  app: HttpApp,
  parts: PlaybackRouteParts,
): { forgetRules(): void } {
  addPlaybackTokenRoute(app, parts);
  return addFileRoutes(app, parts);
}

const PlaybackToken = Type.Object({
  streamingUrl: Type.String(),
  thumbnailUrl: Nullable(Type.String()),
  expiresAt: Timestamp,
  expiresIn: Type.Integer({ description: 'Seconds.' }),
});

function addPlaybackTokenRoute(app: HttpApp, parts: PlaybackRouteParts): void {
  app.post(
    '/v1/content/:id/playback-token',
    {
      config: { access: 'publishable' },
      schema: {
        operationId: 'createPlaybackToken',
        summary: 'Get signed URLs for a protected item',
        description: 'A publishable key gets them for published items that are not private.',
        tags: ['Playback'],
        params: IdParams,
        response: answers({ 200: Envelope(PlaybackToken) }),
      },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      const { id } = request.params;
      if (principal.type === 'secret') {
        return parts.mutations.mutate(request, reply, async (tx) => ({
          data: await signItem(tx, parts.access, principal, id),
        }));
      }
      return { data: await signItem(parts.db, parts.access, principal, id) };
    },
  );
}

/** @throws ApiError NOT_FOUND, NOT_PROTECTED, CONTENT_NOT_READY */
async function signItem(db: Db, access: MediaAccess, principal: Principal, id: string) {
  const row = await getItem(db, principal.organizationId, id);
  const isViewer = principal.type === 'publishable';
  if (isViewer && !mayViewersPlay(row)) throw noSuchItem();
  if (!row.protected && row.visibility !== 'private') throw new ApiError('NOT_PROTECTED');
  if (row.media_prefix === null) throw new ApiError('CONTENT_NOT_READY');
  const nowMs = Date.now();
  const { streamingUrl, thumbnailUrl, expiresAt } = access.sign(row, nowMs);
  return {
    streamingUrl,
    thumbnailUrl,
    expiresAt: formatTimestamp(expiresAt),
    expiresIn: Math.floor((expiresAt.getTime() - nowMs) / 1_000),
  };
}

/** An item that a viewer may know of: the same conditions as the feed's, unlisted ones included. */
function mayViewersPlay(row: ItemRow): boolean {
  const nowMs = Date.now();
  const isDue = row.publish_at === null || row.publish_at.getTime() <= nowMs;
  const isOver = row.expires_at !== null && row.expires_at.getTime() <= nowMs;
  return row.visibility !== 'private' && row.publish_status === 'published' && isDue && !isOver;
}

/** Any text is let through: what no file can be called is NOT_FOUND, as every unknown id. */
const FileParams = Type.Object({ playbackId: Type.String(), '*': Type.String() });
const TokenParams = Type.Object({ token: Type.String(), ...FileParams.properties });

/** Rules are read at most once a second for each item, however many segments are fetched. */
const rulesCachedForMs = 1_000;
const mostCachedRules = 5_000;

function addFileRoutes(
  app: HttpApp,
  { db, storage, access }: PlaybackRouteParts,
): { forgetRules(): void } {
  const cache = new Map<string, { rules: Promise<PlaybackRules | null>; readAt: number }>();

  function rulesOf(playbackId: string): Promise<PlaybackRules | null> {
    const cached = cache.get(playbackId);
    const nowMs = performance.now();
    if (cached !== undefined && nowMs - cached.readAt < rulesCachedForMs) return cached.rules;
    if (cache.size >= mostCachedRules) cache.clear();
    const rules = findPlaybackRules(db, playbackId);
    rules.catch(() => cache.delete(playbackId));
    cache.set(playbackId, { rules, readAt: nowMs });
    return rules;
  }

  async function serve(
    request: FastifyRequest,
    reply: FastifyReply,
    file: { playbackId: string; rest: string; token: string | null },
  ): Promise<FastifyReply> {
    // A refusal must not outlive its reason in a cache; a file replaces this with its own rule.
    reply.headers({ 'access-control-allow-origin': '*', 'cache-control': 'no-store' });
    const rules = await rulesOf(file.playbackId);
    if (rules === null) throw new ApiError('NOT_FOUND');
    const needsToken = rules.isProtected || rules.visibility === 'private';
    const hasToken = file.token !== null && access.accepts(file.token, file.playbackId, Date.now());
    if (needsToken ? !hasToken : file.token !== null && !hasToken) {
      throw new ApiError('FORBIDDEN', { message: 'A valid playback token is required.' });
    }
    return sendMedia(request, reply, storage, {
      key: `media/${file.playbackId}/${file.rest}`,
      isPrivate: needsToken,
    });
  }

  app.get(
    '/media/:playbackId/*',
    { schema: { hide: true, params: FileParams }, config: { access: 'public' } },
    (request, reply) =>
      serve(request, reply, {
        playbackId: request.params.playbackId,
        rest: request.params['*'],
        token: null,
      }),
  );
  app.get(
    '/media/t/:token/:playbackId/*',
    { schema: { hide: true, params: TokenParams }, config: { access: 'public' } },
    (request, reply) =>
      serve(request, reply, {
        playbackId: request.params.playbackId,
        rest: request.params['*'],
        token: request.params.token,
      }),
  );
  for (const url of ['/media/:playbackId/*', '/media/t/:token/:playbackId/*']) {
    app.options(url, { schema: { hide: true }, config: { access: 'public' } }, (_request, reply) =>
      reply
        .headers({
          'access-control-allow-origin': '*',
          'access-control-allow-methods': 'GET, HEAD',
          'access-control-allow-headers': 'Range',
          'access-control-max-age': '86400',
        })
        .status(204)
        .send(),
    );
  }
  return { forgetRules: () => cache.clear() };
}
