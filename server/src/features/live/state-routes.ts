/** Reading one live stream: all of it with a secret key, its state with a publishable one. */
import type { HttpApp } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers, Envelope, IdParams } from '../../platform/http/schemas.ts';
import { getItem } from '../content/content.ts';
import type { Db, Tx } from '../../platform/database/database.ts';
import type { OrganizationId } from '../../platform/ids.ts';
import { countLiveViewers } from '../analytics/analytics.ts';
import { getStream, presentStream, refuseUnknown, streamKeyOf } from './live.ts';
import type { LiveStreamRow } from './queries.ts';
import type { LiveRouteParts } from './routes.ts';
import { LiveStream, LiveStreamState } from './schemas.ts';

const tags = ['Live streams'];

/** A stream as the API answers it, with its viewers of this moment. */
export async function present(db: Db | Tx, row: LiveStreamRow, rtmpUrl: string | null) {
  const organizationId = row.organization_id as OrganizationId;
  const viewers = await countLiveViewers(db, organizationId, [row.content_id]);
  return presentStream(row, rtmpUrl, viewers.get(row.content_id) ?? 0);
}

export function addStateRoutes(app: HttpApp, { db, rtmpUrl }: LiveRouteParts): void {
  app.get(
    '/v1/live-streams/:id',
    {
      config: { access: 'secret' },
      schema: {
        operationId: 'getLiveStream',
        summary: 'Get a live stream',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(LiveStream) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const row = await getStream(db, streamKeyOf(organizationId, request.params.id));
      return { data: await present(db, row, rtmpUrl) };
    },
  );

  app.get(
    '/v1/live-streams/:id/status',
    {
      config: { access: 'publishable' },
      schema: {
        operationId: 'getLiveStreamStatus',
        summary: 'Tell whether a live stream is live, and for how many',
        description: 'A publishable key reads those whose items are not private.',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(LiveStreamState) }),
      },
    },
    async (request) => {
      const { organizationId, type } = principalOf(request);
      const row = await getStream(db, streamKeyOf(organizationId, request.params.id));
      if (type === 'publishable') {
        const item = await getItem(db, organizationId, row.content_id).catch(refuseUnknown);
        if (item.visibility === 'private') refuseUnknown();
      }
      const { id, contentId, status, currentViewers, startedAt, endedAt } = await present(
        db,
        row,
        rtmpUrl,
      );
      const isLive = status === 'active';
      return { data: { id, contentId, status, isLive, currentViewers, startedAt, endedAt } };
    },
  );
}
