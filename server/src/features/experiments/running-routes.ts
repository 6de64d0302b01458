/** Routes to pause and resume experiments, to rename variants, and to copy experiments. */
import { Type } from 'typebox';
import type { HttpApp } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers, Closed, Envelope, IdParams } from '../../platform/http/schemas.ts';
import type { LifecycleRouteParts } from './lifecycle-routes.ts';
import { cloneExperiment } from './clone.ts';
import { recordDecision } from './decisions.ts';
import { experimentConfig, IfMatch, answerExperiment, experimentTags } from './routes.ts';
import { renameVariant, setPaused } from './running-changes.ts';
import { Experiment, Note } from './schemas.ts';

type Parts = Pick<LifecycleRouteParts, 'mutations' | 'plan' | 'onChange'>;

export function addRunningRoutes(app: HttpApp, parts: Parts): void {
  addPauseRoute(app, parts, {
    isPaused: true,
    path: '/v1/experiments/:id/pause',
    operationId: 'pauseExperiment',
    summary: 'Pause a running experiment',
    description:
      'Until it is resumed, all viewers get the base values and no new participants enter. Its status stays ' +
      '`running`, and its planned end does not move.',
  });
  addPauseRoute(app, parts, {
    isPaused: false,
    path: '/v1/experiments/:id/resume',
    operationId: 'resumeExperiment',
    summary: 'Resume a paused experiment',
    description: 'Participants get the same variants as before.',
  });
  addRenameRoute(app, parts);
  addCloneRoute(app, parts);
}

type PauseRoute = {
  isPaused: boolean;
  path: `/v1/experiments/:id/${'pause' | 'resume'}`;
  operationId: string;
  summary: string;
  description: string;
};

function addPauseRoute(
  app: HttpApp,
  { mutations, plan, onChange }: Parts,
  { isPaused, path, ...described }: PauseRoute,
): void {
  app.post(
    path,
    {
      config: experimentConfig,
      preValidation: async (request) => {
        request.body ??= {};
      },
      schema: {
        ...described,
        tags: experimentTags,
        params: IdParams,
        headers: IfMatch,
        body: Closed({ note: Type.Optional(Note) }),
        response: answers({ 200: Envelope(Experiment) }),
      },
    },
    async (request, reply) => {
      const { organizationId, callerId: by } = principalOf(request);
      const { note = null } = request.body;
      const change = { ifMatch: request.headers['if-match'], isPaused };
      await mutations.mutate(request, reply, async (tx) => {
        const paused = await setPaused(tx, organizationId, request.params.id, change);
        const action = isPaused ? 'paused' : 'resumed';
        if (paused.isChanged) await recordDecision(tx, paused.row, { action, by, note });
        return answerExperiment(tx, paused.row, plan);
      });
      onChange();
      return reply;
    },
  );
}

function addRenameRoute(app: HttpApp, { mutations, plan, onChange }: Parts): void {
  app.patch(
    '/v1/experiments/:id/variants/:variantId',
    {
      config: experimentConfig,
      schema: {
        operationId: 'renameVariant',
        summary: 'Rename a variant',
        description: 'Possible at any time. The id of the variant does not change.',
        tags: experimentTags,
        params: Type.Object({ id: Type.String(), variantId: Type.String() }),
        headers: IfMatch,
        body: Closed({ name: Type.String({ minLength: 1, maxLength: 200 }) }),
        response: answers({ 200: Envelope(Experiment) }),
      },
    },
    async (request, reply) => {
      const { organizationId, callerId: by } = principalOf(request);
      const { id, variantId } = request.params;
      const { name } = request.body;
      const change = { ifMatch: request.headers['if-match'], variantId, name };
      await mutations.mutate(request, reply, async (tx) => {
        const row = await renameVariant(tx, organizationId, id, change);
        const changes = { variants: [{ id: variantId, name }] };
        await recordDecision(tx, row, { action: 'changed', by, changes });
        return answerExperiment(tx, row, plan);
      });
      onChange();
      return reply;
    },
  );
}

function addCloneRoute(app: HttpApp, { mutations, plan, onChange }: Parts): void {
  app.post(
    '/v1/experiments/:id/clone',
    {
      config: experimentConfig,
      preValidation: async (request) => {
        request.body ??= {};
      },
      schema: {
        operationId: 'cloneExperiment',
        summary: 'Clone an experiment as a draft',
        description: 'Copies the complete definition, except an `endsAt` in the past.',
        tags: experimentTags,
        params: IdParams,
        body: Closed({ name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })) }),
        response: answers({ 201: Envelope(Experiment) }),
      },
    },
    async (request, reply) => {
      const { organizationId, callerId: by } = principalOf(request);
      const { id } = request.params;
      const name = request.body.name ?? null;
      await mutations.mutate(request, reply, async (tx) => {
        const { row, from } = await cloneExperiment(tx, organizationId, id, name);
        const changes = { from: from.experiment_id };
        await recordDecision(tx, row, { action: 'cloned', by, changes });
        return answerExperiment(tx, row, plan, 201);
      });
      onChange();
      return reply;
    },
  );
}
