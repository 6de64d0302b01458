import type { Db } from '../../platform/database/database.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers, Envelope, IdParams } from '../../platform/http/schemas.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { formatTimestamp } from '../../platform/values/time.ts';
import { recordDecision } from './decisions.ts';
import type { JudgingPlan } from './experiment.ts';
import { removeExperiment, rollOut, startExperiment, stopExperiment } from './lifecycle.ts';
import { freeze } from './freeze.ts';
import { experimentConfig, IfMatch, experimentTags } from './routes.ts';
import { Deleted, RolledOut, RolloutRequest, Started, Stopped, StopRequest } from './schemas.ts';

export type LifecycleRouteParts = {
  db: Db;
  mutations: Mutations;
  /** Statistical settings for experiments that start now. */
  plan: JudgingPlan;
  /** Waits until everything acknowledged so far is counted. */
  settle: () => Promise<void>;
  /** Called after a change is committed. */
  onChange: () => void;
};

export function addLifecycleRoutes(app: HttpApp, parts: LifecycleRouteParts): void {
  addStartRoute(app, parts);
  addStopRoute(app, parts);
  addRolloutRoute(app, parts);
  addDeleteRoute(app, parts);
}

function addStartRoute(app: HttpApp, { mutations, plan, onChange }: LifecycleRouteParts): void {
  app.post(
    '/v1/experiments/:id/start',
    {
      config: experimentConfig,
      schema: {
        operationId: 'startExperiment',
        summary: 'Start an experiment',
        description:
          'Ranking experiments share the traffic (409 `LAYER_FULL`), and no two running experiments can ' +
          'override the same setting or flag (409 `SETTING_IN_EXPERIMENT`).',
        tags: experimentTags,
        params: IdParams,
        headers: IfMatch,
        response: answers({ 200: Envelope(Started) }),
      },
    },
    async (request, reply) => {
      const { organizationId, callerId: by } = principalOf(request);
      const { id } = request.params;
      const ifMatch = request.headers['if-match'];
      await mutations.mutate(request, reply, async (tx) => {
        const row = await startExperiment(tx, organizationId, id, { ifMatch }, plan);
        await recordDecision(tx, row, { action: 'started', by });
        const startedAt = formatTimestamp(row.started_at);
        return { data: { id: row.experiment_id, status: row.status, startedAt } };
      });
      onChange();
      return reply;
    },
  );
}

function addStopRoute(app: HttpApp, parts: LifecycleRouteParts): void {
  const { mutations, settle, onChange } = parts;
  app.post(
    '/v1/experiments/:id/stop',
    {
      config: experimentConfig,
      // A stop without a winner and a reason needs no body.
      preValidation: async (request) => {
        request.body ??= {};
      },
      schema: {
        operationId: 'stopExperiment',
        summary: 'Stop an experiment',
        description:
          'All viewers get the base values again, or the values of `winner`, which is rolled out to the ' +
          'audience of the experiment. Results are frozen.',
        tags: experimentTags,
        params: IdParams,
        headers: IfMatch,
        body: StopRequest,
        response: answers({ 200: Envelope(Stopped) }),
      },
    },
    async (request, reply) => {
      const { organizationId, callerId: by } = principalOf(request);
      const { id } = request.params;
      const { winner = null, reason = null } = request.body;
      const ifMatch = request.headers['if-match'];
      const stop = { ifMatch, winner, reason };
      await mutations.mutateAfter(request, reply, settle, async (tx) => {
        const row = await stopExperiment(tx, organizationId, id, stop, freeze);
        const changes = { winner };
        await recordDecision(tx, row, { action: 'stopped', by, note: reason, changes });
        const stoppedAt = formatTimestamp(row.ended_at);
        const data = { id: row.experiment_id, status: row.status, stoppedAt, winner, reason };
        return { data };
      });
      onChange();
      return reply;
    },
  );
}

function addRolloutRoute(app: HttpApp, { mutations, onChange }: LifecycleRouteParts): void {
  app.post(
    '/v1/experiments/:id/rollout',
    {
      config: experimentConfig,
      schema: {
        operationId: 'rollOutExperiment',
        summary: 'Roll out a variant of an ended experiment',
        tags: experimentTags,
        params: IdParams,
        headers: IfMatch,
        body: RolloutRequest,
        response: answers({ 200: Envelope(RolledOut) }),
      },
    },
    async (request, reply) => {
      const { organizationId, callerId: by } = principalOf(request);
      const { id } = request.params;
      const { winner } = request.body;
      const ifMatch = request.headers['if-match'];
      await mutations.mutate(request, reply, async (tx) => {
        const row = await rollOut(tx, organizationId, id, { ifMatch, winner });
        await recordDecision(tx, row, { action: 'rolled_out', by, changes: { winner } });
        const rolledOutAt = formatTimestamp(row.rolled_out_at);
        return { data: { id: row.experiment_id, status: row.status, winner, rolledOutAt } };
      });
      onChange();
      return reply;
    },
  );
}

function addDeleteRoute(app: HttpApp, { mutations, onChange }: LifecycleRouteParts): void {
  app.delete(
    '/v1/experiments/:id',
    {
      config: experimentConfig,
      schema: {
        operationId: 'deleteExperiment',
        summary: 'Delete an experiment',
        description:
          'Also deletes its results. Rolled-out values stay in effect. A running experiment must be stopped first ' +
          '(409 `EXPERIMENT_RUNNING`).',
        tags: experimentTags,
        params: IdParams,
        headers: IfMatch,
        response: answers({ 200: Envelope(Deleted) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { id } = request.params;
      const ifMatch = request.headers['if-match'];
      await mutations.mutate(request, reply, async (tx) => {
        const row = await removeExperiment(tx, organizationId, id, { ifMatch });
        return { data: { id: row.experiment_id, deleted: true } };
      });
      onChange();
      return reply;
    },
  );
}
