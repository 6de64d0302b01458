/** A new experiment: what it changes, for whom, and how long it will take. */
import { Button, Group, Stack, Text } from '@mantine/core';
import { useEffect, useState, type FormEvent, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, useRead } from '../../data.ts';
import { fromLocalTime } from '../../format.ts';
import { goTo } from '../../location.ts';
import { CopyCurl, Page } from '../../page.tsx';
import { Failed } from '../../states.tsx';
import { useUnsaved } from '../../unsaved.ts';
import { Audience, Basics, Metrics, type Part } from './experiment-fields.tsx';
import { GuardrailFields } from './experiment-guardrails.tsx';
import { Planned } from './experiment-plan.tsx';
import {
  audienceOf,
  metrics,
  problemOfConfig,
  problemOfVariants,
  samples,
  type Draft,
} from './experiment-rules.ts';
import { Variants } from './experiment-variants.tsx';
import { useSignals, type Signal } from '../feed/signals.ts';
import { t } from '../../texts/texts.ts';

const fresh: Draft = {
  name: '',
  description: '',
  hypothesis: '',
  tags: [],
  group: '',
  type: 'ranking',
  traffic: 100,
  variants: [
    { key: 0, id: 'control', name: '', traffic: 50, config: '{}', triedBy: [] },
    { key: 1, id: 'treatment', name: '', traffic: 50, config: samples.ranking, triedBy: [] },
  ],
  metrics: ['completionRate', 'watchTime'],
  primaryMetric: 'completionRate',
  guardrails: [],
  countries: [],
  devices: [],
  userSegments: [],
  endsAt: '',
};

/** Leaving asks for confirmation only if there is unsaved input, so not right after creation. */
export function NewExperimentPage(): ReactNode {
  const [draft, setDraft] = useState(fresh);
  const create = useChange(() => api.post('/v1/experiments', { body: bodyOf(draft) }), {
    reads: 'none',
  });
  useUnsaved(draft !== fresh && !create.isSuccess);
  const change = (changes: Partial<Draft>) => setDraft((old) => ({ ...old, ...changes }));
  const problems = useProblems(draft);
  const id = create.data?.data.id;
  useEffect(() => {
    if (id !== undefined) goTo(`/experiments/${id}`);
  }, [id]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <Page title={t('New experiment')} back={{ to: '/experiments', label: t('Experiments') }}>
      <form onSubmit={submit}>
        <Stack maw={900}>
          <Fields draft={draft} change={change} problems={problems} />
          <Group>
            <Button type="submit" loading={create.isPending} disabled={problems.length > 0}>
              {t('Create draft')}
            </Button>
            {problems.length === 0 && (
              <CopyCurl method="POST" path="/v1/experiments" body={bodyOf(draft)} />
            )}
          </Group>
          <Failed error={create.error} />
        </Stack>
      </form>
    </Page>
  );
}

/** All fields of an experiment, with their problems. */
export function Fields({
  draft,
  change,
  problems,
}: Part & { problems: readonly string[] }): ReactNode {
  const own = useRead('/v1/metrics', {}).data?.data ?? [];
  const choices = [...metrics, ...own.map(({ name }) => name)];
  return (
    <>
      <Basics draft={draft} change={change} />
      <Variants draft={draft} change={change} />
      <Audience draft={draft} change={change} />
      <Metrics draft={draft} change={change} choices={choices} />
      <GuardrailFields draft={draft} change={change} choices={choices} />
      <Planned draft={draft} change={change} />
      {draft.name !== '' && problems.length > 0 && (
        <Text size="sm" role="status">
          {problems[0]}
        </Text>
      )}
    </>
  );
}

export const useProblems = (draft: Draft): string[] => problemsOf(draft, useSignals());

function problemsOf(draft: Draft, signals: readonly Signal[] | undefined): string[] {
  return [
    draft.name.trim() === '' ? 'The experiment needs a name.' : null,
    problemOfVariants(draft.variants),
    ...draft.variants.map(({ config }) => problemOfConfig(draft.type, config, signals)),
    draft.guardrails.some(({ metric }) => draft.metrics.includes(metric))
      ? 'A guardrail can’t be one of the measured metrics.'
      : null,
    draft.metrics.includes(draft.primaryMetric) ? null : 'The deciding metric must be measured.',
    draft.endsAt !== '' && new Date(draft.endsAt) <= new Date()
      ? 'The end must be in the future.'
      : null,
  ].filter((problem) => problem !== null);
}

export function bodyOf(draft: Draft) {
  const { name, description, type, primaryMetric, endsAt } = draft;
  const forcedVariants = draft.variants.flatMap(({ id, triedBy }) =>
    triedBy.map((userId) => ({ userId, variantId: id.trim() })),
  );
  return {
    name: name.trim(),
    description: description.trim() === '' ? null : description.trim(),
    type,
    traffic: draft.traffic / 100,
    ...(draft.hypothesis.trim() !== '' && { hypothesis: draft.hypothesis.trim() }),
    ...(draft.tags.length > 0 && { tags: draft.tags }),
    ...(draft.group.trim() !== '' && type !== 'ranking' && { group: draft.group.trim() }),
    variants: draft.variants.map(({ id, name: shown, traffic, config }) => ({
      id: id.trim(),
      name: shown.trim() === '' ? id.trim() : shown.trim(),
      traffic: traffic / 100,
      config: JSON.parse(config) as Record<string, never>,
    })),
    ...(forcedVariants.length > 0 && { forcedVariants }),
    metrics: [...draft.metrics],
    primaryMetric,
    guardrails: draft.guardrails.map(({ metric, margin }) => ({ metric, margin: margin / 100 })),
    targetingRules: audienceOf(draft),
    ...(endsAt !== '' && { endsAt: fromLocalTime(endsAt) }),
  };
}
