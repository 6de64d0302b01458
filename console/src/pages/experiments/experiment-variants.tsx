/** The variants of a new experiment. */
import {
  Alert,
  Button,
  Group,
  NumberInput,
  Paper,
  Stack,
  TagsInput,
  TextInput,
  Title,
} from '@mantine/core';
import type { ReactNode } from 'react';
import type { Part } from './experiment-fields.tsx';
import {
  problemOfConfig,
  problemOfVariants,
  samples,
  type ExperimentType,
  type VariantDraft,
} from './experiment-rules.ts';
import { Values } from './experiment-values.tsx';
import { VariantWeights } from './experiment-weights.tsx';
import { useSignals } from '../feed/signals.ts';
import { t } from '../../texts/texts.ts';

export function Variants({ draft, change }: Part): ReactNode {
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
          name: '',
          triedBy: [],
          traffic: 0,
          config: samples[draft.type],
        },
      ],
    });
  const problem = problemOfVariants(variants);
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        {t('Variants')}
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
        {t('Add a variant')}
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
    <Paper withBorder p="sm" role="group" aria-label={t('Variant {id}', { id: variant.id })}>
      <Group align="flex-start">
        <TextInput
          label={isControl ? t('Id (the control)') : t('Id')}
          value={variant.id}
          onChange={(event) => change({ id: event.currentTarget.value })}
        />
        <TextInput
          label={t('Name')}
          placeholder={variant.id}
          maxLength={200}
          value={variant.name}
          onChange={(event) => change({ name: event.currentTarget.value })}
        />
        <NumberInput
          label={t('Share')}
          suffix=" %"
          w={100}
          min={0}
          max={100}
          value={variant.traffic}
          onChange={(value) => change({ traffic: Number(value) })}
        />
        <Configuration config={variant.config} type={type} change={change} />
        <TagsInput
          label={t('Tried by')}
          placeholder={t('user ids, not counted')}
          value={variant.triedBy}
          onChange={(triedBy) => change({ triedBy })}
        />
        {remove !== null && (
          <Button
            mt={25}
            variant="default"
            aria-label={t('Remove {id}', { id: variant.id })}
            onClick={remove}
          >
            {t('Remove')}
          </Button>
        )}
      </Group>
    </Paper>
  );
}

function Configuration({
  config,
  type,
  change,
}: {
  config: string;
  type: ExperimentType;
  change: (changes: Partial<VariantDraft>) => void;
}): ReactNode {
  const signals = useSignals();
  const problem = problemOfConfig(type, config, signals);
  if (type !== 'ranking') {
    return (
      <Values
        key={type}
        config={config}
        error={problem}
        change={(text) => change({ config: text })}
      />
    );
  }
  return (
    <VariantWeights
      config={config}
      error={problem}
      signals={signals ?? []}
      change={(text) => change({ config: text })}
    />
  );
}
