/** Routes for simulcast targets, which can be added and removed individually, even while live. */
import { Type } from 'typebox';
import type { HttpApp } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import { answers, Closed, Envelope, IdParams } from '../../../platform/http/schemas.ts';
import { getStream, presentTargets, refuseUnknown, streamKeyOf } from '../live.ts';
import type { LiveRouteParts } from '../routes.ts';
import { NewSimulcastTarget, SimulcastTarget } from '../schemas.ts';
import { addTarget, checkTargets, removeTarget } from './targets.ts';

const tags = ['Live streams'];
const config = { access: 'secret' as const };
const url = '/v1/live-streams/:id/simulcast-targets';

export function addTargetRoutes(app: HttpApp, parts: LiveRouteParts): void {
  const { egress, mutations, onChange, vault } = parts;
  app.post(
    url,
    {
      config,
      schema: {
        operationId: 'addSimulcastTarget',
        summary: 'Add a simulcast target to a live stream',
        description:
          'The stream is relayed over RTMP as sent by the encoder, starting at the next key frame. A stream can have at most five targets.',
        tags,
        params: IdParams,
        body: NewSimulcastTarget,
        response: answers({ 201: Envelope(SimulcastTarget) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const key = streamKeyOf(organizationId, request.params.id);
      await checkTargets(egress, [request.body], () => 'url');
      await mutations.mutate(request, reply, async (tx) => {
        await getStream(tx, key);
        const targetId = await addTarget(tx, vault, key, request.body);
        const targets = presentTargets(await getStream(tx, key));
        const data = targets.find(({ id }) => id === targetId) ?? refuseUnknown();
        return { statusCode: 201, data };
      });
      onChange();
      return reply;
    },
  );
  app.delete(
    `${url}/:targetId`,
    {
      config,
      schema: {
        operationId: 'removeSimulcastTarget',
        summary: 'Remove a simulcast target from a live stream',
        description: 'The connection to the server is closed within a few seconds.',
        tags,
        params: Closed({ ...IdParams.properties, targetId: Type.String({ maxLength: 60 }) }),
        response: answers({
          200: Envelope(Type.Object({ id: Type.String(), deleted: Type.Literal(true) })),
        }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { id, targetId } = request.params;
      const key = streamKeyOf(organizationId, id);
      await mutations.mutate(request, reply, async (tx) => {
        await getStream(tx, key);
        await removeTarget(tx, key, targetId);
        return { data: { id: targetId, deleted: true } };
      });
      onChange();
      return reply;
    },
  );
}
