/** Client-side validation of experiments by the service's rules. */
import type { Signal } from '../feed/signals.ts';

/** The built-in metrics; an organization may define others. */
export const metrics = ['completionRate', 'watchTime', 'sessionsPerUser', 'retention'] as const;
export type BuiltInMetric = (typeof metrics)[number];

export function isBuiltIn(metric: string): metric is BuiltInMetric {
  return (metrics as readonly string[]).includes(metric);
}
export type ExperimentType = 'ranking' | 'config' | 'feature';

/** A variant's form fields; traffic in percent, the configuration as JSON text. */
export type VariantDraft = {
  key: number;
  id: string;
  /** If empty, the id is used. */
  name: string;
  traffic: number;
  config: string;
  /** Users who preview it. */
  triedBy: string[];
};

export const samples: Record<ExperimentType, string> = {
  ranking: '{ "weights": { "recency": 0.3, "engagement": 0.7 } }',
  config: '{ "player.preload": 3 }',
  feature: '{ "new-player": true }',
};

/**
 * Returns null if a variant's configuration is valid. Without `signals`, names and limits are left
 * to the service.
 */
export function problemOfConfig(
  type: ExperimentType,
  text: string,
  signals: readonly Signal[] | undefined,
): string | null {
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch {
    return 'This is not valid JSON.';
  }
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    return 'This must be an object: { … }.';
  }
  if (type === 'ranking') return problemOfRanking(config, signals);
  for (const [name, value] of Object.entries(config)) {
    if (!/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/.test(name)) return `“${name}” is not a valid name.`;
    if (type === 'config' && !['string', 'number', 'boolean'].includes(typeof value)) {
      return `“${name}” must be a text, a number, true or false.`;
    }
  }
  return null;
}

function problemOfRanking(config: object, signals: readonly Signal[] | undefined): string | null {
  const unknown = Object.keys(config).find((name) => name !== 'weights');
  if (unknown !== undefined) return `“${unknown}” is not known; there is “weights”.`;
  if (!('weights' in config)) return null;
  const { weights } = config;
  if (typeof weights !== 'object' || weights === null || Array.isArray(weights)) {
    return '“weights” must be an object.';
  }
  const byName = new Map<string, number>(signals?.map(({ name, maxWeight }) => [name, maxWeight]));
  const names = [...byName.keys()];
  for (const [name, weight] of Object.entries(weights)) {
    const most = signals === undefined ? Infinity : byName.get(name);
    if (most === undefined) return `“${name}” is not a signal: ${names.join(', ')}.`;
    if (typeof weight !== 'number' || weight < 0) return `“${name}” must be 0 or more.`;
    if (weight > most) return `“${name}” must be at most ${most}.`;
  }
  const given = new Map<string, unknown>(Object.entries(weights));
  const isNothingLeft = names.length > 0 && names.every((name) => given.get(name) === 0);
  return isNothingLeft ? 'At least one weight must be above zero.' : null;
}

/** Returns null if the variants are consistent. */
export function problemOfVariants(variants: readonly VariantDraft[]): string | null {
  const ids = variants.map(({ id }) => id.trim());
  if (ids.some((id) => !/^[A-Za-z0-9_-]{1,64}$/.test(id))) {
    return 'A variant needs an id of letters, digits, _ and -.';
  }
  if (new Set(ids).size < ids.length) return 'Two variants have the same id.';
  const testers = variants.flatMap(({ triedBy }) => triedBy);
  if (new Set(testers).size < testers.length) return 'A user can try one variant only.';
  const sum = variants.reduce((total, { traffic }) => total + traffic, 0);
  return Math.abs(sum - 100) < 0.001
    ? null
    : `The shares of the variants must be 100 % together, and are ${sum} %.`;
}

/** The form's fields; shares are in percent. */
export type Draft = {
  name: string;
  description: string;
  hypothesis: string;
  tags: string[];
  group: string;
  type: ExperimentType;
  traffic: number;
  variants: readonly VariantDraft[];
  metrics: readonly string[];
  primaryMetric: string;
  /** Margins are in percent. */
  guardrails: readonly { metric: string; margin: number }[];
  countries: string[];
  devices: ('ios' | 'android' | 'web')[];
  userSegments: string[];
  endsAt: string;
};

/** The audience in the API's format. */
export function audienceOf({ countries, devices, userSegments }: Draft) {
  return { countries: countries.map((code) => code.toUpperCase()), devices, userSegments };
}
