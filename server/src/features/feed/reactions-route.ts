import type { FastifyRequest } from 'fastify';
import { Type, type Static } from 'typebox';
import type { Db } from '../../platform/database/database.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import { parseContentId } from '../../platform/values/ids.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers, Closed } from '../../platform/http/schemas.ts';
import { selectMarks, viewerKeyOf } from '../analytics/analytics.ts';
import { isVouchedFor, type SignatureReader } from '../keys/keys.ts';
import { ViewerSecrets } from '../organizations/organizations.ts';
import { viewerId } from './schemas.ts';
import { viewerOfRequest } from './viewer-of-request.ts';

const maxItems = 100;

const Query = Closed({
  contentIds: Type.String({
    minLength: 1,
    maxLength: 8_000,
    description: `Comma-separated list of at most ${maxItems} item ids. Unknown ones are ignored.`,
  }),
  userId: viewerId('Identified user. Same as the header X-User-Id.'),
  deviceId: viewerId('Device of a viewer without a user id. Same as the header X-Device-Id.'),
});

const ViewerReactions = Type.Object({
  data: Type.Object({
    likes: Type.Array(Type.String(), { description: 'Ids of the items that the viewer likes.' }),
    saves: Type.Array(Type.String(), {
      description: 'Ids of the items that the viewer has saved.',
    }),
  }),
  meta: Type.Object({ requestId: Type.String() }),
});

type Parts = { readonly db: Db; readonly viewerSignatures: SignatureReader };

/**
 * Returns what a viewer has liked and saved, so that a player can show it on all of the user's
 * devices.
 */
export function addReactionsRoute(app: HttpApp, { db, viewerSignatures }: Parts): void {
  const secrets = new ViewerSecrets();
  app.get(
    '/v1/feed/reactions',
    {
      config: { access: 'publishable' },
      schema: {
        operationId: 'listViewerReactions',
        summary: 'List which of the given items the viewer likes or has saved',
        description:
          'For each pair of kinds (`like` and `unlike`, `save` and `unsave`), the viewer’s latest event ' +
          'decides. Events take effect here within one second. With a publishable key, a `userId` ' +
          'requires a signature in the header `X-Viewer-Signature`, so that nobody else can read what a ' +
          'user likes. Without a `userId`, the response covers the events of the device that had no user id.',
        tags: ['Feed'],
        querystring: Query,
        response: answers({ 200: ViewerReactions }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const contentIds = idsOf(request.query.contentIds);
      const viewer = await viewerOf(request, request.query, viewerSignatures);
      const key = await viewerKeyOf(db, secrets, organizationId, viewer);
      const marks = key === null ? [] : await selectMarks(db, organizationId, key, contentIds);
      const idsWith = (mark: 'like' | 'save') =>
        contentIds.filter((id) => marks.some((one) => one.contentId === id && one.mark === mark));
      return {
        data: { likes: idsWith('like'), saves: idsWith('save') },
        meta: { requestId: request.id },
      };
    },
  );
}

/** @throws ApiError VALIDATION_ERROR */
function idsOf(list: string): string[] {
  const named = list.split(',').map((id) => id.trim());
  if (named.length > maxItems) {
    throw fieldError('query.contentIds', `must contain at most ${maxItems} items`);
  }
  return [...new Set(named.flatMap((id) => parseContentId(id) ?? []))];
}

/** @throws ApiError VALIDATION_ERROR, FORBIDDEN */
async function viewerOf(
  request: FastifyRequest,
  query: Static<typeof Query>,
  signatures: SignatureReader,
): Promise<{ readonly userId: string } | { readonly deviceId: string }> {
  const { userId, deviceId } = viewerOfRequest(request, query);
  if (userId === undefined) {
    if (deviceId === undefined) throw fieldError('query.userId', 'or `deviceId` is required');
    return { deviceId };
  }
  if (await isVouchedFor(request, userId, signatures)) return { userId };
  throw new ApiError('FORBIDDEN', {
    message:
      'With a publishable key, reading the reactions of a user requires a signature in X-Viewer-Signature.',
  });
}
