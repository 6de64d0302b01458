/** Experiments, settings, flags and ranking rules of every kind and in every state. */
import type { TestService } from '../service.ts';
import { askOf, type Ask } from './ask.ts';
import { hostileEntries, hostileTexts } from './hostile-texts.ts';

const nested = {
  list: [1, null, { deep: [true, 'ü'] }],
  text: hostileTexts.image,
  empty: {},
};

const settings: Record<string, string | number | boolean> = {
  'player.autoplay': true,
  'player.buffer': 0.1 + 0.2,
  'app.nothing': '',
  ...Object.fromEntries(hostileEntries.map(([name, text]) => [`text.${name}`, text])),
};

const flags: Record<string, unknown> = {
  nested,
  off: false,
  nothing: null,
  list: [],
  hostile: Object.fromEntries(hostileEntries),
};

const experiment = (name: string, type: string, config: object, fields: object = {}) => ({
  name,
  description: hostileTexts.script,
  type,
  traffic: 0.1,
  variants: [
    { id: 'control', name: hostileTexts.arabic, traffic: 0.5 },
    { id: 'treatment', name: hostileTexts.image, traffic: 0.5, config },
  ],
  metrics: ['watchTime', 'completionRate', 'retention', 'sessionsPerUser'],
  ...fields,
});

/** @returns ids of experiments by type and state, such as `ranking draft` */
export async function buildConfiguration(service: TestService): Promise<Record<string, string>> {
  const ask = askOf(service);
  for (const [key, value] of Object.entries(settings)) {
    await ask('PUT', `/v1/settings/${key}`, { value });
  }
  for (const [key, value] of Object.entries(flags)) await ask('PUT', `/v1/flags/${key}`, { value });
  await buildRules(ask);
  await ask('PUT', '/v1/ranking/config', { weights: { recency: 0.3 }, exploration: 0.1 });
  await ask('PUT', '/v1/ranking/config', { weights: { engagement: 1 }, diversity: 0.5 });
  const ids: Record<string, string> = {};
  await buildMetrics(ask);
  for (const type of ['ranking', 'config', 'feature']) await buildExperiments(ask, type, ids);
  return ids;
}

/** A metric for each hostile text, and one of every ratio kind. */
async function buildMetrics(ask: Ask): Promise<void> {
  for (const [index, [, text]] of hostileEntries.entries()) {
    await ask('POST', '/v1/metrics', {
      name: `hostile${index}`,
      description: text,
      type: 'count',
      event: 'custom.purchase',
      where: [{ field: 'product', operator: 'eq', value: text }],
    });
  }
  await ask('POST', '/v1/metrics', {
    name: `a${'long'.repeat(15)}`,
    type: 'ratio',
    event: 'watchProgress',
    field: 'currentTime',
    denominator: { event: 'playStart' },
    windowHours: 24,
  });
}

async function buildExperiments(
  ask: Ask,
  type: string,
  ids: Record<string, string>,
): Promise<void> {
  const states = ['draft', 'running', 'won', 'undecided', 'rolledOut'];
  for (const [index, state] of states.entries()) {
    const configs: Record<string, object> = {
      ranking: { weights: { recency: 1 + index } },
      config: { [`app.n${index}`]: hostileTexts.image },
      feature: { [`flag.n${index}`]: nested },
    };
    const config = configs[type] ?? {};
    const fields = fieldsOf(state, type);
    const body = experiment(`${type}, ${state}`, type, config, fields);
    const { id } = await ask('POST', '/v1/experiments', body);
    ids[`${type} ${state}`] = id;
    if (state === 'draft') continue;
    await ask('POST', `/v1/experiments/${id}/start`);
    if (state === 'running') {
      await ask('PATCH', `/v1/experiments/${id}`, { traffic: 0.2 });
      await ask('POST', `/v1/experiments/${id}/decisions`, { note: hostileTexts.families });
      if (type === 'feature') await ask('POST', `/v1/experiments/${id}/pause`, {});
      continue;
    }
    const hasWinner = state === 'won';
    const stop = { reason: hostileTexts.template, ...(hasWinner && { winner: 'treatment' }) };
    await ask('POST', `/v1/experiments/${id}/stop`, stop);
    if (state !== 'rolledOut') continue;
    await ask('POST', `/v1/experiments/${id}/rollout`, { winner: 'treatment' });
  }
}

function fieldsOf(state: string, type: string): object {
  const practice = {
    hypothesis: hostileTexts.longWord,
    tags: [hostileTexts.formula, hostileTexts.prototype, hostileTexts.looksEmpty],
    ...(type !== 'ranking' && { group: hostileTexts.directionOverride }),
  };
  if (state === 'running') return { ...practice, targetingRules: { countries: ['DE', 'JP'] } };
  if (state !== 'draft') return {};
  const forcedVariants = [{ userId: hostileTexts.command, variantId: 'treatment' }];
  return { ...practice, forcedVariants };
}

async function buildRules(ask: Ask): Promise<void> {
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  const rules = [
    { type: 'boost', match: { tags: ['plain', hostileTexts.formula] }, factor: 2.5 },
    { type: 'suppress', match: { author: hostileTexts.script }, factor: 0.5 },
    { type: 'exclude', match: { section: hostileTexts.wide }, startsAt: tomorrow },
    { type: 'boost', match: { author: hostileTexts.hebrew }, factor: 3, endsAt: tomorrow },
  ];
  for (const rule of rules) await ask('POST', '/v1/ranking/rules', rule);
}
