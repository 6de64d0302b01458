import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Db } from '../../platform/database/database.ts';
import { principalOf, type Principal } from '../../platform/http/principal.ts';
import { answers, Envelope, IdParams, Nullable, Timestamp } from '../../platform/http/schemas.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { formatTimestamp } from '../../platform/values/time.ts';
import { CaptionTrack, CarouselImage, DerivedMediaFields } from '../content/content.ts';
import type { FileHandlers } from './file-handlers.ts';
import { checkFileRequest, type FileRequest, type FileRules } from './file-rules.ts';
import { signItem, type MediaAccess } from './playback.ts';
import { sendMedia } from './send-media.ts';

export type PlaybackRouteParts = {
  db: Db;
  storage: Storage;
  mutations: Mutations;
  access: MediaAccess;
  fileRules: FileRules;
  fileHandlers: FileHandlers;
};

export function addPlaybackRoutes(app: HttpApp, parts: PlaybackRouteParts): void {
  addPlaybackTokenRoute(app, parts);
  addFileRoutes(app, parts);
}

const PlaybackToken = Type.Object({
  streamingUrl: Nullable(Type.String({ description: 'Null for carousels.' })),
  thumbnailUrl: Nullable(Type.String()),
  ...DerivedMediaFields,
  images: Type.Array(CarouselImage),
  captionTracks: Type.Array(CaptionTrack),
  expiresAt: Timestamp,
  expiresIn: Type.Integer({ description: 'Seconds.' }),
});

function addPlaybackTokenRoute(app: HttpApp, parts: PlaybackRouteParts): void {
  app.post(
    '/v1/content/:id/playback-token',
    {
      config: { access: 'publishable', role: 'viewer' },
      schema: {
        operationId: 'createPlaybackToken',
        summary: 'Get signed URLs for a protected item',
        description: 'With a publishable key, only for published items that are not private.',
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
          data: await present(tx, parts.access, principal, id),
        }));
      }
      return { data: await present(parts.db, parts.access, principal, id) };
    },
  );
}

/** Signed URLs as the API returns them. */
async function present(db: Db, access: MediaAccess, principal: Principal, id: string) {
  const nowMs = Date.now();
  const { expiresAt, derived, ...urls } = await signItem(db, access, principal, id, nowMs);
  return {
    ...urls,
    ...derived,
    expiresAt: formatTimestamp(expiresAt),
    expiresIn: Math.floor((expiresAt.getTime() - nowMs) / 1_000),
  };
}

const fileConfig = { access: 'public', limitedAs: 'media' } as const;
const preflight = { access: 'public', limitedAs: 'nothing' } as const;

/** Any text is accepted: a name that no file can have is NOT_FOUND, like any unknown id. */
const FileParams = Type.Object({ playbackId: Type.String(), '*': Type.String() });
const TokenParams = Type.Object({ token: Type.String(), ...FileParams.properties });

function addFileRoutes(app: HttpApp, parts: PlaybackRouteParts): void {
  const { storage, access, fileRules, fileHandlers } = parts;
  async function serve(
    request: FastifyRequest,
    reply: FastifyReply,
    file: FileRequest,
  ): Promise<FastifyReply> {
    // Errors must not be cached longer than their cause; a file overrides this with its own
    // caching.
    reply.headers({ 'access-control-allow-origin': '*', 'cache-control': 'no-store' });
    const rules = await fileRules.of(file);
    const { isPrivate } = checkFileRequest(rules, file, access, Date.now());
    const mediaPrefix = rules?.mediaPrefix ?? null;
    const sent = await fileHandlers.handle(request, reply, { ...file, isPrivate, mediaPrefix });
    if (sent !== null) return sent;
    return sendMedia(request, reply, storage, {
      key: `media/${file.playbackId}/${file.rest}`,
      isPrivate,
      isGrowing: rules?.isGrowing ?? false,
      maxAgeSeconds: fileHandlers.maxAgeSeconds(file.rest),
      captions: rules?.captions ?? [],
    });
  }

  app.get(
    '/media/:playbackId/*',
    { schema: { hide: true, params: FileParams }, config: fileConfig },
    (request, reply) =>
      serve(request, reply, {
        playbackId: request.params.playbackId,
        rest: request.params['*'],
        token: null,
      }),
  );
  app.get(
    '/media/t/:token/:playbackId/*',
    { schema: { hide: true, params: TokenParams }, config: fileConfig },
    (request, reply) =>
      serve(request, reply, {
        playbackId: request.params.playbackId,
        rest: request.params['*'],
        token: request.params.token,
      }),
  );
  for (const url of ['/media/:playbackId/*', '/media/t/:token/:playbackId/*']) {
    app.options(url, { schema: { hide: true }, config: preflight }, (_request, reply) =>
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
}
