/** Edits a draft experiment: sends the changes for the version that was opened. */
import { Stack, Text } from '@mantine/core';
import { useRef, type ReactNode } from 'react';
import { api, readTagged } from '../../api.ts';
import { useTagged } from '../../data.ts';
import { DraftForm, useDraft } from '../../draft.tsx';
import type { Version } from '../../draft-saving.ts';
import { localTime } from '../../format.ts';
import { Page } from '../../page.tsx';
import { Show } from '../../states.tsx';
import { bodyOf, Fields, useProblems } from './experiment-form.tsx';
import type { Draft } from './experiment-rules.ts';
import type { Experiment } from './experiment.tsx';
import { t } from '../../texts/texts.ts';

type Body = NonNullable<Parameters<typeof api.patch<'/v1/experiments/{id}'>>[1]['body']>;

const percentOf = (share: number): number => Math.round(share * 100_000) / 1_000;

function draftOf(experiment: Experiment): Draft {
  const { name, description, hypothesis, group, type, primaryMetric, endsAt } = experiment;
  const { countries, devices, userSegments } = experiment.targetingRules;
  return {
    name,
    type,
    primaryMetric,
    metrics: experiment.metrics,
    description: description ?? '',
    hypothesis: hypothesis ?? '',
    group: group ?? '',
    tags: [...experiment.tags],
    traffic: percentOf(experiment.traffic),
    variants: experiment.variants.map((variant, key) => ({
      key,
      id: variant.id,
      name: variant.name,
      traffic: percentOf(variant.traffic),
      config: JSON.stringify(variant.config),
      triedBy: experiment.forcedVariants.flatMap((forced) =>
        forced.variantId === variant.id ? forced.userId : [],
      ),
    })),
    guardrails: experiment.guardrails.map(({ metric, margin }) => ({
      metric,
      margin: percentOf(margin),
    })),
    countries: [...(countries ?? [])],
    devices: [...(devices ?? [])] as Draft['devices'],
    userSegments: [...(userSegments ?? [])],
    endsAt: localTime(endsAt),
  };
}

/** The request fields that each form field affects. */
const places: Record<keyof Draft, readonly (keyof Body)[]> = {
  name: ['name'],
  description: ['description'],
  hypothesis: ['hypothesis'],
  tags: ['tags'],
  group: ['group'],
  type: ['type', 'variants', 'group'],
  traffic: ['traffic'],
  variants: ['variants', 'forcedVariants'],
  metrics: ['metrics'],
  primaryMetric: ['primaryMetric'],
  guardrails: ['guardrails'],
  countries: ['targetingRules'],
  devices: ['targetingRules'],
  userSegments: ['targetingRules'],
  endsAt: ['endsAt'],
};

/** Values for request fields that are absent if the form field is empty. */
const emptied: Partial<Body> = {
  hypothesis: null,
  group: null,
  endsAt: null,
  tags: [],
  forcedVariants: [],
};

export function EditExperimentPage({ id }: { id: string }): ReactNode {
  const experiment = useTagged<'/v1/experiments/{id}'>('/v1/experiments/{id}', addressOf(id));
  return (
    <Page
      title={t('Edit {value}', { value: experiment.data?.data.name ?? 'experiment' })}
      back={{ to: `/experiments/${id}`, label: t('the experiment') }}
      curl={{ path: `/v1/experiments/${id}` }}
    >
      <Show of={experiment}>
        {({ data, tag }) =>
          data.status === 'draft' ? (
            <Form experiment={data} tag={tag} />
          ) : (
            <Text>{t('It was started, so only its traffic and its end can still change.')}</Text>
          )
        }
      </Show>
    </Page>
  );
}

const addressOf = (id: string) => `/v1/experiments/${encodeURIComponent(id)}`;

function Form({ experiment, tag }: { experiment: Experiment; tag: string | null }): ReactNode {
  const { id } = experiment;
  const stored: Version<Draft> = { values: draftOf(experiment), tag };
  // Some request fields combine several form fields.
  const latest = useRef(stored.values);
  latest.current = stored.values;
  const draft = useDraft<Draft>({
    stored,
    read: async () => {
      const now = await readTagged<'/v1/experiments/{id}'>(addressOf(id));
      latest.current = draftOf(now.data);
      return { values: latest.current, tag: now.tag };
    },
    write: (changes, version) => {
      const whole = { ...emptied, ...bodyOf({ ...latest.current, ...changes }) } as Body;
      const names = new Set(Object.keys(changes).flatMap((name) => places[name as keyof Draft]));
      const body = Object.fromEntries([...names].map((name) => [name, whole[name]])) as Body;
      const headers = version === null ? {} : { 'if-match': version };
      return api.patch('/v1/experiments/{id}', { path: { id }, body, headers });
    },
  });
  const problems = useProblems(draft.values);
  return (
    <DraftForm draft={draft} labels={{}} label={t('Save draft')} isDisabled={problems.length > 0}>
      <Stack maw={900} key={draft.generation}>
        <Fields draft={draft.values} change={draft.change} problems={problems} />
      </Stack>
    </DraftForm>
  );
}
