/** Rules for experiments that the schema can't express. */
import { ApiError, type ErrorDetail } from '../../platform/http/errors.ts';
import { problemsOfPartialWeights } from '../feed/feed.ts';
import { isSettingKey, problemOfValue } from '../settings/settings.ts';
import type { ExperimentType, ForcedVariant, Variant } from './experiment.ts';

const sumTolerance = 1e-6;
const maxConfigKeys = 100;

export type Definition = {
  readonly type: ExperimentType;
  readonly variants: readonly Variant[];
  readonly metrics: readonly string[];
  readonly primaryMetric: string;
  readonly endsAt: Date | null;
  readonly group: string | null;
  readonly forcedVariants: readonly ForcedVariant[];
};

/** @throws ApiError VALIDATION_ERROR listing every problem */
export function checkDefinition(
  definition: Definition,
  now: Date,
  problemsOfMetrics: readonly ErrorDetail[],
): void {
  const details = [
    ...problemsOfMetrics,
    ...problemsOfVariants(definition.variants),
    ...definition.variants.flatMap(({ config }, index) =>
      problemsOfConfig(definition.type, config, `variants[${index}].config`),
    ),
  ];
  details.push(...problemsOfForced(definition));
  if (definition.type === 'ranking' && definition.group !== null) {
    const message =
      'is allowed only for config and feature experiments; ranking experiments always exclude each other';
    details.push({ path: 'group', message });
  }
  if (!definition.metrics.includes(definition.primaryMetric)) {
    const message = `must be one of the experiment's metrics: ${definition.metrics.join(', ')}`;
    details.push({ path: 'primaryMetric', message });
  }
  if (definition.endsAt !== null && definition.endsAt <= now) {
    details.push({ path: 'endsAt', message: 'must be in the future' });
  }
  const [first] = details;
  if (first === undefined) return;
  throw new ApiError('VALIDATION_ERROR', {
    message: `${first.path}: ${first.message}`,
    details: details.slice(0, 20),
  });
}

function problemsOfForced({ variants, forcedVariants }: Definition): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  const seen = new Set<string>();
  for (const [index, { userId, variantId }] of forcedVariants.entries()) {
    const path = `forcedVariants[${index}]`;
    if (seen.has(userId))
      details.push({ path: `${path}.userId`, message: 'is listed more than once' });
    seen.add(userId);
    if (variants.some(({ id }) => id === variantId)) continue;
    const ids = variants.map(({ id }) => id).join(', ');
    details.push({ path: `${path}.variantId`, message: `must be one of the variants: ${ids}` });
  }
  return details;
}

function problemsOfVariants(variants: readonly Variant[]): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  const seen = new Set<string>();
  for (const [index, { id }] of variants.entries()) {
    if (seen.has(id)) {
      const message = `"${id}" is already the id of another variant`;
      details.push({ path: `variants[${index}].id`, message });
    }
    seen.add(id);
  }
  const sum = variants.reduce((total, { traffic }) => total + traffic, 0);
  if (Math.abs(sum - 1) > sumTolerance) {
    const message = `traffic of the variants must sum to 1.0, but sums to ${Number(sum.toFixed(9))}`;
    details.push({ path: 'variants', message });
  }
  return details;
}

function problemsOfConfig(
  type: ExperimentType,
  config: Readonly<Record<string, unknown>>,
  path: string,
): ErrorDetail[] {
  if (type === 'ranking') return problemsOfRanking(config, path);
  const kind = type === 'config' ? 'setting' : 'flag';
  const entries = Object.entries(config);
  if (entries.length > maxConfigKeys) {
    return [{ path, message: `must have at most ${maxConfigKeys} keys` }];
  }
  return entries.flatMap(([key, value]) => {
    if (!isSettingKey(key))
      return [{ path: `${path}.${key}`, message: `is not a valid name of a ${kind}` }];
    const message = problemOfValue(kind, value);
    return message === null ? [] : [{ path: `${path}.${key}`, message }];
  });
}

/** An empty object leaves the ranking unchanged. */
function problemsOfRanking(config: Readonly<Record<string, unknown>>, path: string): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  for (const key of Object.keys(config)) {
    if (key === 'weights' || key === 'objective') continue;
    details.push({ path: `${path}.${key}`, message: 'is not known' });
  }
  const { weights, objective } = config;
  if (objective !== undefined && objective !== 'weights' && objective !== 'learned') {
    details.push({ path: `${path}.objective`, message: 'must be weights or learned' });
  }
  if (weights === undefined) return details;
  if (typeof weights !== 'object' || weights === null || Array.isArray(weights)) {
    return [...details, { path: `${path}.weights`, message: 'must be an object' }];
  }
  const problems = problemsOfPartialWeights(weights as Readonly<Record<string, unknown>>);
  return [...details, ...problems.map((one) => ({ ...one, path: `${path}.${one.path}` }))];
}
