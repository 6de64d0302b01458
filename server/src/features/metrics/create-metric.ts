import type { Db, Tx } from '../../platform/database/database.ts';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import { newTypeId, parseTypeId, type OrganizationId } from '../../platform/values/ids.ts';
import { enqueue } from '../../platform/queue/queue.ts';
import { formatTimestamp } from '../../platform/values/time.ts';
import { computeMetricsJob } from './compute-job.ts';
import type { Condition, Counted, MetricDefinition } from './definition.ts';
import { metricErrors } from './errors.ts';
import type { MetricUse } from './metrics.ts';
import {
  insertMetric,
  lockMetric,
  markDeleted,
  selectMetrics,
  type MetricId,
  type MetricRow,
} from './queries.ts';
import type { NewMetricBody } from './schemas.ts';

export const maxMetrics = 100;
const builtIn: readonly string[] = ['completionRate', 'watchTime', 'sessionsPerUser', 'retention'];

export function presentMetric({ metricId, name, description, definition, ...row }: MetricRow) {
  const { type, counted, denominator, windowHours, cap, direction } = definition;
  return {
    id: metricId,
    name,
    description,
    type,
    ...counted,
    denominator,
    windowHours,
    cap,
    direction,
    createdAt: formatTimestamp(row.createdAt),
    computedAt: formatTimestamp(row.computedAt),
  };
}

/** @throws ApiError VALIDATION_ERROR, CONFLICT */
export async function createMetric(
  tx: Tx,
  organizationId: OrganizationId,
  body: NewMetricBody,
): Promise<MetricRow> {
  const { name, description = null } = body;
  if (builtIn.includes(name)) throw fieldError('name', 'is the name of a built-in metric');
  const definition = definitionOf(body);
  if ((await countMetrics(tx, organizationId)) >= maxMetrics) {
    throw new ApiError('CONFLICT', { message: `There are already ${maxMetrics} metrics.` });
  }
  const metricId: MetricId = newTypeId('met');
  const metric = await insertMetric(tx, {
    organizationId,
    metricId,
    name,
    description,
    definition,
  });
  if (metric === null) {
    throw new ApiError('CONFLICT', { message: `There is already a metric "${name}".` });
  }
  // Enqueued without a unique key: a job that is already running may have listed the metrics before
  // this one was created.
  await enqueue(tx, computeMetricsJob, {}, { organizationId });
  return metric;
}

async function countMetrics(db: Db, organizationId: string): Promise<number> {
  return (await selectMetrics(db, organizationId)).length;
}

function definitionOf(body: NewMetricBody): MetricDefinition {
  const { type, event, field = null, where = [], denominator = null, cap = null } = body;
  const isOverField = type === 'sum' || type === 'mean';
  if (isOverField && field === null) throw fieldError('field', `is required for a ${type}`);
  if (!isOverField && type !== 'ratio' && field !== null) {
    throw fieldError('field', `is not allowed for a ${type}`);
  }
  if (type === 'ratio' && denominator === null) {
    throw fieldError('denominator', 'is required for a ratio');
  }
  if (type !== 'ratio' && denominator !== null) {
    throw fieldError('denominator', `is not allowed for a ${type}`);
  }
  if (type === 'share' && cap !== null) throw fieldError('cap', 'is not allowed for a share');
  return {
    type,
    counted: countedOf({ event, field, where }, ''),
    denominator: denominator === null ? null : countedOf(denominator, 'denominator.'),
    windowHours: body.windowHours ?? null,
    cap,
    direction: body.direction ?? 'increase',
  };
}

function countedOf(
  { event, field, where = [] }: Pick<NewMetricBody, 'event' | 'field' | 'where'>,
  path: string,
): Counted {
  return {
    event,
    field: field ?? null,
    where: where.map((condition, index) =>
      checkCondition(condition, `${path}where[${index}].value`),
    ),
  };
}

/** @throws ApiError VALIDATION_ERROR if the operator does not accept the value */
export function checkCondition(condition: Condition, path: string): Condition {
  const { operator, value } = condition;
  switch (operator) {
    case 'in':
      if (!Array.isArray(value)) throw fieldError(path, 'must be a list for `in`');
      break;
    case 'exists':
      if (typeof value !== 'boolean') throw fieldError(path, 'must be true or false for `exists`');
      break;
    case 'eq':
    case 'ne':
      if (Array.isArray(value)) throw fieldError(path, `must be one value for \`${operator}\``);
      break;
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      if (typeof value !== 'number') throw fieldError(path, `must be a number for \`${operator}\``);
      break;
    default:
      operator satisfies never;
  }
  return condition;
}

/** @throws ApiError NOT_FOUND, METRIC_IN_USE */
export async function deleteMetric(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  uses: readonly MetricUse[],
): Promise<MetricId> {
  const metric = await findLocked(tx, organizationId, id);
  for (const use of uses) {
    const used = await use(tx, organizationId, metric.name);
    if (used === null) continue;
    throw new ApiError(metricErrors.METRIC_IN_USE, { message: `The metric is used by ${used}.` });
  }
  await markDeleted(tx, metric.number);
  return metric.metricId as MetricId;
}

async function findLocked(tx: Tx, organizationId: string, id: string): Promise<MetricRow> {
  const metricId = parseTypeId('met', id);
  const metric = metricId === null ? null : await lockMetric(tx, organizationId, metricId);
  if (metric === null) throw new ApiError('NOT_FOUND');
  return metric;
}
