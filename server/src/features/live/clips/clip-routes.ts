import type { HttpApp } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import { answers, Envelope, IdParams } from '../../../platform/http/schemas.ts';
import type { Mutations } from '../../../platform/idempotency/idempotency.ts';
import { presentItem, type MediaUrls } from '../../content/content.ts';
import { getStream, streamKeyOf } from '../live.ts';
import { ClipResults, DescribedClips, NewClips } from './clip-schemas.ts';
import { createClips, type MadeClip } from './clips.ts';

export type ClipRouteParts = {
  mutations: Mutations;
  urls: MediaUrls;
  /** Maximum duration of a video. */
  maxClipDurationMs: number;
  /** Called after clips are created. */
  onQueued: () => void;
};

export function addClipRoutes(app: HttpApp, parts: ClipRouteParts): void {
  const { mutations, urls, maxClipDurationMs, onQueued } = parts;
  app.post(
    '/v1/live-streams/:id/clips',
    {
      config: {
        access: 'secret',
        checksText: true,
        describedBody: { 'application/json': { schema: DescribedClips } },
      },
      schema: {
        operationId: 'createLiveClips',
        summary: 'Create up to 20 clips of a live stream',
        description:
          'Works both while the stream is live and from its recording. The items are created immediately and processed like ' +
          'uploads. A clip with an invalid value fails individually.',
        tags: ['Live streams'],
        params: IdParams,
        body: NewClips,
        response: answers({ 201: Envelope(ClipResults) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const key = streamKeyOf(organizationId, request.params.id);
      await mutations.mutate(request, reply, async (tx) => {
        const stream = await getStream(tx, key);
        const { clips } = request.body;
        const made = await createClips(tx, key, stream, clips, maxClipDurationMs);
        return { statusCode: 201, data: present(made, urls) };
      });
      onQueued();
      return reply;
    },
  );
}

function present(made: readonly MadeClip[], urls: MediaUrls) {
  const created = made.filter(({ status }) => status === 'created').length;
  return {
    results: made.map((one, index) =>
      one.status === 'failed'
        ? { index, status: one.status, error: one.error }
        : { index, status: one.status, item: presentItem(one.row, urls) },
    ),
    totalCreated: created,
    totalFailed: made.length - created,
  };
}
