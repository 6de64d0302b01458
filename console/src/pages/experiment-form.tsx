/** A new experiment: what it changes, for whom, and how long it will take to know. */
import {
  Alert,
  Button,
  Checkbox,
  Group,
  JsonInput,
  NumberInput,
  Paper,
  Select,
  SimpleGrid,
  Stack,
  TagsInput,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api } from '../api.ts';
import { useChange } from '../data.ts';
import { fromLocalTime, percent, whole, words } from '../format.ts';
import { goTo } from '../location.ts';
import { CopyCurl, Page } from '../page.tsx';
import { Failed } from '../states.tsx';
import {
  metrics,
  problemOfConfig,
  problemOfVariants,
  samples,
  type ExperimentType,
  type Metric,
  type VariantDraft,
} from './experiment-rules.ts';

type Draft = {
  name: string;
  description: string;
  type: ExperimentType;
  traffic: number;
  variants: readonly VariantDraft[];
  metrics: readonly Metric[];
  primaryMetric: Metric;
  countries: string[];
  devices: ('ios' | 'android' | 'web')[];
  userSegments: string[];
  endsAt: string;
};

const fresh: Draft = {
  name: '',
  description: '',
  type: 'ranking',
  traffic: 100,
  variants: [
    { key: 0, id: 'control', traffic: 50, config: '{}' },
    { key: 1, id: 'treatment', traffic: 50, config: samples.ranking },
  ],
  metrics: ['completionRate', 'watchTime'],
  primaryMetric: 'completionRate',
  countries: [],
  devices: [],
  userSegments: [],
  endsAt: '',
};

export function NewExperimentPage(): ReactNode {
  const [draft, setDraft] = useState(fresh);
  const change = (changes: Partial<Draft>) => setDraft((old) => ({ ...old, ...changes }));
  const create = useChange(() => api.post('/v1/experiments', { body: bodyOf(draft) }));
  const problems = problemsOf(draft);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate(undefined, { onSuccess: ({ data }) => goTo(`/experiments/${data.id}`) });
  };
  return (
    <Page title="New experiment" back={{ to: '/experiments', label: 'Experiments' }}>
      <form onSubmit={submit}>
        <Stack maw={900}>
          <Basics draft={draft} change={change} />
          <Variants draft={draft} change={change} />
          <Audience draft={draft} change={change} />
          <Metrics draft={draft} change={change} />
          <Planned draft={draft} />
          {draft.name !== '' && problems.length > 0 && (
            <Text size="sm" role="status">
              {problems[0]}
            </Text>
          )}
          <Group>
            <Button type="submit" loading={create.isPending} disabled={problems.length > 0}>
              Create draft
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

function problemsOf(draft: Draft): string[] {
  return [
    draft.name.trim() === '' ? 'The experiment needs a name.' : null,
    problemOfVariants(draft.variants),
    ...draft.variants.map(({ config }) => problemOfConfig(draft.type, config)),
    draft.metrics.includes(draft.primaryMetric) ? null : 'The deciding metric must be measured.',
    draft.endsAt !== '' && new Date(draft.endsAt) <= new Date()
      ? 'The end must be in the future.'
      : null,
  ].filter((problem) => problem !== null);
}

function bodyOf(draft: Draft) {
  const { name, description, type, primaryMetric, endsAt } = draft;
  return {
    name: name.trim(),
    description: description.trim() === '' ? null : description.trim(),
    type,
    traffic: draft.traffic / 100,
    variants: draft.variants.map(({ id, traffic, config }) => ({
      id: id.trim(),
      name: id.trim(),
      traffic: traffic / 100,
      config: JSON.parse(config) as Record<string, never>,
    })),
    metrics: [...draft.metrics],
    primaryMetric,
    targetingRules: audienceOf(draft),
    ...(endsAt !== '' && { endsAt: fromLocalTime(endsAt) }),
  };
}

function audienceOf({ countries, devices, userSegments }: Draft) {
  return { countries: countries.map((code) => code.toUpperCase()), devices, userSegments };
}

type Part = { draft: Draft; change: (changes: Partial<Draft>) => void };

function Basics({ draft, change }: Part): ReactNode {
  const choose = (type: ExperimentType) =>
    change({
      type,
      variants: draft.variants.map((variant, index) => ({
        ...variant,
        config: index === 0 ? '{}' : samples[type],
      })),
    });
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <TextInput
        label="Name"
        required
        maxLength={200}
        value={draft.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
      />
      <Select
        label="What it changes"
        allowDeselect={false}
        data={[
          { value: 'ranking', label: 'Ranking: the weights of the feed' },
          { value: 'config', label: 'Config: settings of the app' },
          { value: 'feature', label: 'Feature: flags' },
        ]}
        value={draft.type}
        onChange={(value) => choose(value ?? 'ranking')}
      />
      <TextInput
        label="Description"
        value={draft.description}
        onChange={(event) => change({ description: event.currentTarget.value })}
      />
      <TextInput
        type="datetime-local"
        label="End (empty: when you stop it)"
        value={draft.endsAt}
        onChange={(event) => change({ endsAt: event.currentTarget.value })}
      />
    </SimpleGrid>
  );
}

function Variants({ draft, change }: Part): ReactNode {
  const { variants } = draft;
  const update = (key: number, changes: Partial<VariantDraft>) =>
    change({
      variants: variants.map((each) => (each.key === key ? { ...each, ...changes } : each)),
    });
  const add = () =>
    change({
      variants: [
        ...variants,
        {
          key: Math.max(...variants.map(({ key }) => key)) + 1,
          id: `treatment-${variants.length}`,
          traffic: 0,
          config: samples[draft.type],
        },
      ],
    });
  const problem = problemOfVariants(variants);
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        Variants
      </Title>
      {variants.map((variant, index) => (
        <Variant
          key={variant.key}
          variant={variant}
          type={draft.type}
          isControl={index === 0}
          change={(changes) => update(variant.key, changes)}
          remove={
            variants.length > 2
              ? () => change({ variants: variants.filter((each) => each !== variant) })
              : null
          }
        />
      ))}
      {problem !== null && (
        <Alert color="yellow" role="alert">
          {problem}
        </Alert>
      )}
      <Button variant="default" w="fit-content" disabled={variants.length >= 10} onClick={add}>
        Add a variant
      </Button>
    </Stack>
  );
}

function Variant({
  variant,
  type,
  isControl,
  change,
  remove,
}: {
  variant: VariantDraft;
  type: ExperimentType;
  isControl: boolean;
  change: (changes: Partial<VariantDraft>) => void;
  remove: (() => void) | null;
}): ReactNode {
  return (
    <Paper withBorder p="sm">
      <Group align="flex-start">
        <TextInput
          label={isControl ? 'Name (the control)' : 'Name'}
          value={variant.id}
          onChange={(event) => change({ id: event.currentTarget.value })}
        />
        <NumberInput
          label="Share"
          suffix=" %"
          w={100}
          min={0}
          max={100}
          value={variant.traffic}
          onChange={(value) => change({ traffic: Number(value) })}
        />
        <JsonInput
          label="Configuration"
          autosize
          minRows={1}
          miw={280}
          flex={1}
          value={variant.config}
          error={problemOfConfig(type, variant.config)}
          onChange={(config) => change({ config })}
        />
        {remove !== null && (
          <Button mt={25} variant="default" aria-label={`Remove ${variant.id}`} onClick={remove}>
            Remove
          </Button>
        )}
      </Group>
    </Paper>
  );
}

function Audience({ draft, change }: Part): ReactNode {
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        Who takes part
      </Title>
      <SimpleGrid cols={{ base: 1, sm: 4 }}>
        <NumberInput
          label="Share of viewers"
          suffix=" %"
          min={1}
          max={100}
          value={draft.traffic}
          onChange={(value) => change({ traffic: Number(value) || 1 })}
        />
        <TagsInput
          label="Countries"
          placeholder="all"
          value={draft.countries}
          onChange={(countries) => change({ countries })}
        />
        <TagsInput
          label="Devices"
          placeholder="all"
          data={['ios', 'android', 'web']}
          value={draft.devices}
          onChange={(devices) => change({ devices: devices as Draft['devices'] })}
        />
        <TagsInput
          label="Segments"
          placeholder="all"
          value={draft.userSegments}
          onChange={(userSegments) => change({ userSegments })}
        />
      </SimpleGrid>
    </Stack>
  );
}

function Metrics({ draft, change }: Part): ReactNode {
  return (
    <Group align="flex-end" gap="xl">
      <Checkbox.Group
        label="Measured"
        value={[...draft.metrics]}
        onChange={(value) => change({ metrics: value })}
      >
        <Group mt={4} mih={36}>
          {metrics.map((name) => (
            <Checkbox key={name} value={name} label={words(name)} />
          ))}
        </Group>
      </Checkbox.Group>
      <Select
        label="Decided by"
        allowDeselect={false}
        data={metrics.map((value) => ({ value, label: words(value) }))}
        value={draft.primaryMetric}
        onChange={(value) => change({ primaryMetric: value as Metric })}
      />
    </Group>
  );
}

/** How many participants and days it takes to see an effect of a given size. */
function Planned({ draft }: { draft: Draft }): ReactNode {
  const [effect, setEffect] = useState(5);
  const [body] = useDebouncedValue(
    {
      metric: draft.primaryMetric,
      effect: Math.max(effect, 0.1) / 100,
      variants: draft.variants.length,
      traffic: draft.traffic / 100,
      targetingRules: audienceOf(draft),
    },
    300,
  );
  const plan = useQuery({
    queryKey: ['/v1/experiments/plan', body],
    queryFn: ({ signal }) => api.post('/v1/experiments/plan', { body, signal }),
    placeholderData: keepPreviousData,
  });
  const found = plan.data?.data;
  return (
    <Paper withBorder p="sm">
      <Group align="flex-end">
        <NumberInput
          label="Smallest effect worth finding"
          suffix=" %"
          min={0.1}
          max={1_000}
          value={effect}
          onChange={(value) => setEffect(Number(value))}
        />
        <Text role="status" mih={36} flex={1} miw={240}>
          {found === undefined
            ? ''
            : found.days === null || found.unitsPerVariant === null
              ? 'There are not enough events yet to say how long this takes.'
              : `Takes ${whole(found.days)} days: ${whole(found.unitsPerVariant)} participants per variant, ` +
                `of ${whole(found.baseline.unitsPerDay)} viewers a day. ${words(draft.primaryMetric)} is ` +
                `${draft.primaryMetric === 'completionRate' || draft.primaryMetric === 'retention' ? percent(found.baseline.mean ?? 0) : (found.baseline.mean ?? 0).toFixed(2)} now.`}
        </Text>
      </Group>
      <Failed error={plan.error} />
    </Paper>
  );
}
