import type { Tx } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers, Envelope, IdParams } from '../../platform/http/schemas.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import {
  ContentItem,
  entityTag,
  lockForRetry,
  presentItem,
  type ItemRow,
  type MediaUrls,
} from '../content/content.ts';
import { markPendingAgain } from '../content/item-media/item-media.ts';
import { enqueueProcessing, type ProcessingOrder, type SourceRetry } from './processing.ts';

type ProcessingRouteParts = {
  mutations: Mutations;
  urls: MediaUrls;
  sourceRetries: readonly SourceRetry[];
  /** Called when an item is waiting for processing again. */
  onQueued: () => void;
};

/** A retry has already waited, so it is queued like a clip of zero length. */
function orderOfRetry(row: ItemRow): ProcessingOrder {
  return row.upload_status === 'ready'
    ? { step: 'further', durationSeconds: 0 }
    : { step: 'first', sizeBytes: 0 };
}

export function addProcessingRoutes(app: HttpApp, parts: ProcessingRouteParts): void {
  const { mutations, urls, sourceRetries, onQueued } = parts;
  app.post(
    '/v1/content/:id/retry',
    {
      config: { access: 'secret' },
      schema: {
        operationId: 'retryProcessing',
        summary: 'Retry failed processing or a failed import',
        description:
          'Applies to items in `error` and to ready items whose `errorReason` says that renditions are missing.',
        tags: ['Content'],
        params: IdParams,
        response: answers({ 200: Envelope(ContentItem) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      await mutations.mutate(request, reply, async (tx) => {
        const item = await lockForRetry(tx, organizationId, request.params.id);
        const row = await markPendingAgain(tx, organizationId, item.content_id);
        if (item.source_key === null) {
          await getSourceAgain(sourceRetries, tx, organizationId, item.content_id);
        } else await enqueueProcessing(tx, organizationId, item.content_id, orderOfRetry(row));
        return { data: presentItem(row, urls), headers: { etag: entityTag(row) } };
      });
      onQueued();
      return reply;
    },
  );
}

/** @throws {ApiError} CONFLICT if no source of the bytes is known */
async function getSourceAgain(
  retries: readonly SourceRetry[],
  tx: Tx,
  organizationId: string,
  contentId: string,
): Promise<void> {
  for (const retry of retries) if (await retry(tx, organizationId, contentId)) return;
  throw new ApiError('CONFLICT', {
    message: 'The original file never arrived, so there is nothing to retry. Upload it again.',
  });
}
