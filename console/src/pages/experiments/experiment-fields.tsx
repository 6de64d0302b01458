/** The fields of a new experiment except its variants. */
import {
  Checkbox,
  Group,
  Select,
  SimpleGrid,
  Stack,
  TagsInput,
  TextInput,
  Title,
} from '@mantine/core';
import type { ReactNode } from 'react';
import { words } from '../../format.ts';
import { NumberField } from '../../number-field.tsx';
import { samples, type Draft, type ExperimentType } from './experiment-rules.ts';
import { t } from '../../texts/texts.ts';

export type Part = { draft: Draft; change: (changes: Partial<Draft>) => void };

export function Basics({ draft, change }: Part): ReactNode {
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
        label={t('Name')}
        required
        maxLength={200}
        value={draft.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
      />
      <Select
        label={t('What it changes')}
        allowDeselect={false}
        data={[
          { value: 'ranking', label: t('Ranking: the weights of the feed') },
          { value: 'config', label: t('Config: settings of the app') },
          { value: 'feature', label: t('Feature: flags') },
        ]}
        value={draft.type}
        onChange={(value) => choose(value ?? 'ranking')}
      />
      <TextInput
        label={t('Description')}
        value={draft.description}
        onChange={(event) => change({ description: event.currentTarget.value })}
      />
      <TextInput
        label={t('Hypothesis')}
        placeholder={t('What you expect, and why')}
        maxLength={2_000}
        value={draft.hypothesis}
        onChange={(event) => change({ hypothesis: event.currentTarget.value })}
      />
      <TagsInput
        label={t('Tags')}
        maxTags={20}
        value={draft.tags}
        onChange={(tags) => change({ tags })}
      />
      {draft.type !== 'ranking' && (
        <TextInput
          label={t('Group (its experiments never share a viewer)')}
          maxLength={100}
          value={draft.group}
          onChange={(event) => change({ group: event.currentTarget.value })}
        />
      )}
      <TextInput
        type="datetime-local"
        label={t('End (empty: when you stop it)')}
        value={draft.endsAt}
        onChange={(event) => change({ endsAt: event.currentTarget.value })}
      />
    </SimpleGrid>
  );
}

export function Audience({ draft, change }: Part): ReactNode {
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        {t('Who takes part')}
      </Title>
      <SimpleGrid cols={{ base: 1, sm: 4 }}>
        <NumberField
          label={t('Share of viewers')}
          suffix=" %"
          min={1}
          max={100}
          value={draft.traffic}
          onChange={(traffic) => change({ traffic })}
        />
        <TagsInput
          label={t('Countries')}
          placeholder={t('all')}
          value={draft.countries}
          onChange={(countries) => change({ countries })}
        />
        <TagsInput
          label={t('Devices')}
          placeholder={t('all')}
          data={['ios', 'android', 'web']}
          value={draft.devices}
          onChange={(devices) => change({ devices: devices as Draft['devices'] })}
        />
        <TagsInput
          label={t('Segments')}
          placeholder={t('all')}
          value={draft.userSegments}
          onChange={(userSegments) => change({ userSegments })}
        />
      </SimpleGrid>
    </Stack>
  );
}

export function Metrics({
  draft,
  change,
  choices,
}: Part & { choices: readonly string[] }): ReactNode {
  return (
    <Group align="flex-end" gap="xl">
      <Checkbox.Group
        maw="100%"
        style={{ overflowWrap: 'anywhere' }}
        label={t('Measured')}
        value={[...draft.metrics]}
        onChange={(value) => change({ metrics: value })}
      >
        <Group mt={4} mih={36}>
          {choices.map((name) => (
            <Checkbox key={name} value={name} label={words(name)} />
          ))}
        </Group>
      </Checkbox.Group>
      <Select
        label={t('Decided by')}
        allowDeselect={false}
        data={choices.map((value) => ({ value, label: words(value) }))}
        value={draft.primaryMetric}
        onChange={(value) => change({ primaryMetric: value ?? draft.primaryMetric })}
      />
    </Group>
  );
}
