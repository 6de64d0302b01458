import type { Db } from '../../platform/database/database.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers, Envelope, IdParams, ListEnvelope } from '../../platform/http/schemas.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { createMetric, deleteMetric, maxMetrics, presentMetric } from './create-metric.ts';
import type { MetricUse } from './metrics.ts';
import { selectMetrics } from './queries.ts';
import { DeletedMetric, Metric, NewMetric } from './schemas.ts';

export type MetricRouteParts = {
  readonly db: Db;
  readonly mutations: Mutations;
  readonly uses: readonly MetricUse[];
  /** Called after a metric is committed. */
  readonly onQueued: () => void;
};

const config = { access: 'secret' as const };
const tags = ['Metrics'];

export function addMetricRoutes(app: HttpApp, parts: MetricRouteParts): void {
  const { db, mutations, uses, onQueued } = parts;
  app.get(
    '/v1/metrics',
    {
      config,
      schema: {
        operationId: 'listMetrics',
        summary: 'List the metrics of the organization',
        description: `Returns the metrics that the organization has defined, oldest first. There are at most ${maxMetrics}.`,
        tags,
        response: answers({ 200: ListEnvelope(Metric) }),
      },
    },
    async (request) => {
      const rows = await selectMetrics(db, principalOf(request).organizationId);
      return { data: rows.map(presentMetric), meta: { total: rows.length, nextCursor: null } };
    },
  );
  app.post(
    '/v1/metrics',
    {
      config,
      schema: {
        operationId: 'createMetric',
        summary: 'Define a metric',
        description:
          'Defines a metric over events of one kind, with conditions on `data`. Events already in the log are ' +
          'counted in the background; `computedAt` is the time when this was complete. A definition never changes.',
        tags,
        body: NewMetric,
        response: answers({ 201: Envelope(Metric) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      await mutations.mutate(request, reply, async (tx) => ({
        statusCode: 201,
        data: presentMetric(await createMetric(tx, organizationId, request.body)),
      }));
      onQueued();
      return reply;
    },
  );
  app.delete(
    '/v1/metrics/:id',
    {
      config,
      schema: {
        operationId: 'deleteMetric',
        summary: 'Delete a metric',
        description:
          'Rejected (409 `METRIC_IN_USE`) while a draft or a running experiment uses the metric. Results of ' +
          'ended experiments keep it.',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(DeletedMetric) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      return mutations.mutate(request, reply, async (tx) => ({
        data: {
          id: await deleteMetric(tx, organizationId, request.params.id, uses),
          deleted: true,
        },
      }));
    },
  );
}
