/** Routes for experiments as resources. State changes are in `lifecycle-routes.ts`. */
import { Type, type Static } from 'typebox';
import type { Db, Tx } from '../../platform/database/database.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import { momentAndId, readPage, type ListCursors } from '../../platform/http/list-cursor.ts';
import { principalOf } from '../../platform/http/principal.ts';
import {
  answers,
  Closed,
  Envelope,
  IdParams,
  ListEnvelope,
  OneOf,
  pageQuery,
} from '../../platform/http/schemas.ts';
import type { Answer, Mutations } from '../../platform/idempotency/idempotency.ts';
import { parseTimestamp, formatTimestamp } from '../../platform/values/time.ts';
import { countExposures, unitsOf } from './assignments/exposure-queries.ts';
import {
  experimentTag,
  experimentStatuses,
  presentExperiment,
  presentSummary,
  requireExperimentId,
  type ExperimentRow,
  type JudgingPlan,
  type Variant,
} from './experiment.ts';
import { recordDecision } from './decisions.ts';
import { createExperiment, patchExperiment } from './lifecycle.ts';
import { countExperiments, listExperiments } from './list-queries.ts';
import { readDatabaseClock, findExperiment, type ExperimentValues } from './queries.ts';
import {
  Experiment,
  ExperimentDetails,
  ExperimentPatch,
  ExperimentSummary,
  NewExperiment,
} from './schemas.ts';
import { warningsOf } from './warnings.ts';

export type ExperimentRouteParts = {
  db: Db;
  cursors: ListCursors;
  mutations: Mutations;
  /** Statistical settings for experiments that start now. */
  plan: JudgingPlan;
  /** Called after a change is committed. */
  onChange: () => void;
};

export const experimentTags = ['Experiments'];
export const experimentConfig = { access: 'secret' as const };

export const IfMatch = Type.Object({
  'if-match': Type.Optional(Type.String({ description: '`ETag` of the version to change.' })),
});

export function addExperimentRoutes(app: HttpApp, parts: ExperimentRouteParts): void {
  addListRoute(app, parts);
  addCreateRoute(app, parts);
  addGetRoute(app, parts);
  addPatchRoute(app, parts);
}

/** @throws ApiError NOT_FOUND */
export async function getExperiment(
  db: Db,
  organizationId: Parameters<typeof findExperiment>[1],
  id: string,
): Promise<ExperimentRow> {
  const row = await findExperiment(db, organizationId, requireExperimentId(id));
  if (row === null) throw new ApiError('NOT_FOUND');
  return row;
}

function addListRoute(app: HttpApp, { db, cursors }: ExperimentRouteParts): void {
  app.get(
    '/v1/experiments',
    {
      config: experimentConfig,
      schema: {
        operationId: 'listExperiments',
        summary: 'List experiments',
        description: 'Newest first.',
        tags: experimentTags,
        querystring: Closed({
          status: Type.Optional(OneOf(experimentStatuses)),
          tag: Type.Optional(Type.String({ minLength: 1, maxLength: 50 })),
          ...pageQuery,
        }),
        response: answers({ 200: ListEnvelope(ExperimentSummary) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { status = null, tag = null, ...page } = request.query;
      const filter = { status, tag };
      const scope = { list: 'experiments', organizationId, filter };
      return readPage(cursors, scope, page, {
        count: () => countExperiments(db, organizationId, filter),
        read: (limit, after) =>
          listExperiments(db, organizationId, filter, {
            limit,
            after: momentAndId(after),
          }),
        position: (row) => [row.position, row.experiment_id],
        present: presentSummary,
      });
    },
  );
}

export async function answerExperiment(
  tx: Tx,
  row: ExperimentRow,
  plan: JudgingPlan,
  statusCode = 200,
): Promise<Answer> {
  const warnings = await warningsOf(tx, row, await readDatabaseClock(tx), plan);
  const data = { ...presentExperiment(row), warnings };
  return { statusCode, data, headers: { etag: experimentTag(row) } };
}

function addCreateRoute(app: HttpApp, { mutations, plan, onChange }: ExperimentRouteParts): void {
  app.post(
    '/v1/experiments',
    {
      config: experimentConfig,
      schema: {
        operationId: 'createExperiment',
        summary: 'Create an experiment',
        description:
          'The experiment is a draft until it is started. `targeting` is an alias of `targetingRules`.',
        tags: experimentTags,
        body: NewExperiment,
        response: answers({ 201: Envelope(Experiment) }),
      },
    },
    async (request, reply) => {
      const { organizationId, callerId: by } = principalOf(request);
      const values = toValues(request.body);
      await mutations.mutate(request, reply, async (tx) => {
        const row = await createExperiment(tx, organizationId, values);
        await recordDecision(tx, row, { action: 'created', by });
        return answerExperiment(tx, row, plan, 201);
      });
      onChange();
      return reply;
    },
  );
}

function addGetRoute(app: HttpApp, { db, plan }: ExperimentRouteParts): void {
  app.get(
    '/v1/experiments/:id',
    {
      config: experimentConfig,
      schema: {
        operationId: 'getExperiment',
        summary: 'Get an experiment with its participants',
        tags: experimentTags,
        params: IdParams,
        response: answers({ 200: Envelope(ExperimentDetails) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const row = await getExperiment(db, organizationId, request.params.id);
      const counts = await countExposures(db, row.number);
      const participants = row.variants.map((_, index) => unitsOf(counts, index));
      reply.header('etag', experimentTag(row));
      const warnings = await warningsOf(db, row, new Date(), plan);
      return { data: { ...presentExperiment(row, participants), warnings } };
    },
  );
}

function addPatchRoute(app: HttpApp, { mutations, plan, onChange }: ExperimentRouteParts): void {
  app.patch(
    '/v1/experiments/:id',
    {
      config: experimentConfig,
      schema: {
        operationId: 'updateExperiment',
        summary: 'Change an experiment',
        description:
          'A draft can be changed freely. In a running experiment, `traffic` can be increased and `endsAt` can be moved later until it is reached; ' +
          'no participant is reassigned. Other changes are rejected (409 `EXPERIMENT_NOT_DRAFT`). ' +
          'With `If-Match`, the change is rejected (412) if the experiment has changed since.',
        tags: experimentTags,
        params: IdParams,
        headers: IfMatch,
        body: ExperimentPatch,
        response: answers({ 200: Envelope(Experiment) }),
      },
    },
    async (request, reply) => {
      const { organizationId, callerId: by } = principalOf(request);
      const ifMatch = request.headers['if-match'];
      const { body } = request;
      await mutations.mutate(request, reply, async (tx) => {
        const row = await patchExperiment(
          tx,
          organizationId,
          request.params.id,
          { ifMatch },
          (before) => toValues({ ...bodyOf(before), ...body }),
        );
        if (row.status === 'running') {
          await recordDecision(tx, row, { action: 'changed', by, changes: body });
        }
        return answerExperiment(tx, row, plan);
      });
      onChange();
      return reply;
    },
  );
}

type Body = Static<typeof NewExperiment>;

/**
 * A stored experiment in the form of a request body. If the list of metrics changes, its primary
 * metric is chosen again.
 */
function bodyOf(row: ExperimentRow): Body & { storedPrimary: string } {
  return {
    name: row.name,
    description: row.description,
    type: row.type,
    traffic: row.traffic,
    variants: row.variants.map((variant) => ({ ...variant })),
    metrics: [...row.metrics],
    storedPrimary: row.primary_metric,
    guardrails: row.guardrails.map((guardrail) => ({ ...guardrail })),
    endsAt: formatTimestamp(row.ends_at),
    hypothesis: row.hypothesis,
    tags: [...row.tags],
    group: row.exclusion_group,
    forcedVariants: [...row.forced_variants],
    storedTargeting: row.targeting,
  } as Body & { storedPrimary: string };
}

function toValues(
  body: Body & { storedPrimary?: string; storedTargeting?: object },
): ExperimentValues {
  if (body.targeting !== undefined && body.targetingRules !== undefined) {
    throw fieldError('targeting', 'is an alias of targetingRules: give only one of them');
  }
  const { metrics } = body;
  const kept = metrics.find((metric) => metric === body.storedPrimary);
  return {
    name: body.name,
    description: body.description ?? null,
    type: body.type,
    traffic: body.traffic ?? 1,
    variants: body.variants.map(({ config: overrides = {}, ...rest }): Variant => ({
      ...rest,
      config: overrides,
    })),
    metrics,
    primaryMetric: body.primaryMetric ?? kept ?? metrics[0] ?? 'watchTime',
    guardrails: body.guardrails ?? [],
    targeting: body.targetingRules ?? body.targeting ?? body.storedTargeting ?? {},
    endsAt: body.endsAt == null ? null : parseTimestamp(body.endsAt),
    hypothesis: body.hypothesis ?? null,
    tags: body.tags ?? [],
    group: body.group ?? null,
    forcedVariants: body.forcedVariants ?? [],
  };
}
