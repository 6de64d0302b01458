/** Fields that select a query's events: a kind, and conditions on the item and on `data`. */
import { Button, CloseButton, Group, Paper, Select, Stack, Text, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useRead } from '../../data.ts';
import { words } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import {
  isOfItem,
  itemFields,
  operators,
  type Chosen,
  type Condition,
  type Operator,
} from './journey-question.ts';

const kinds =
  'impression playStart watchProgress completion swipe like unlike share save unsave notInterested report rebuffer qualityChange error'.split(
    ' ',
  );
const maxConditions = 10;

export type Declared = {
  kinds: readonly string[];
  /** The keys of `data` that metrics declare for a kind. */
  keysOf: (kind: string) => readonly string[];
};

/** The available kinds and keys: built-in ones and those of metrics. */
export function useDeclared(): Declared {
  const metrics = useRead('/v1/metrics', {}).data?.data ?? [];
  const parts = metrics.flatMap(({ event, field, where, denominator }) => [
    { event, field, where },
    ...(denominator === null
      ? []
      : [
          {
            event: denominator.event,
            field: denominator.field ?? null,
            where: denominator.where ?? [],
          },
        ]),
  ]);
  return {
    kinds: [...new Set([...kinds, ...parts.map(({ event }) => event)])],
    keysOf: (kind) => [
      ...new Set(
        parts
          .filter(({ event }) => event === kind)
          .flatMap(({ field, where }) => [field, ...where.map((one) => one.field)])
          .filter((key) => key !== null),
      ),
    ],
  };
}

type Parts = {
  label: string;
  chosen: Chosen;
  declared: Declared;
  /** Whether the kind is optional. */
  isAny?: boolean;
  change: (chosen: Chosen) => void;
  remove?: (() => void) | undefined;
};

export function EventFields({
  label,
  chosen,
  declared,
  isAny = false,
  change,
  remove,
}: Parts): ReactNode {
  const { event, conditions } = chosen;
  const isTaken = (field: string) =>
    isOfItem(field) && conditions.some((one) => one.field === field);
  const fields = [...itemFields, ...declared.keysOf(event).map((key) => `data.${key}`)];
  const next = fields.find((field) => !isTaken(field));
  const put = (index: number, condition: Condition | null) =>
    change({
      event,
      conditions: conditions.flatMap((one, at) =>
        at !== index ? [one] : condition === null ? [] : [condition],
      ),
    });
  return (
    <Paper withBorder p="sm" role="group" aria-label={label}>
      <Stack gap="xs">
        <Group align="end" gap="xs">
          <KindField {...{ label, chosen, declared, isAny, change }} />
          <Button
            variant="default"
            aria-label={t('Add condition: {step}', { step: label })}
            disabled={next === undefined || conditions.length >= maxConditions}
            onClick={() =>
              change({
                event,
                conditions: [...conditions, { field: next ?? 'tag', operator: 'eq', value: '' }],
              })
            }
          >
            {t('Add condition')}
          </Button>
          {remove !== undefined && (
            <Button
              variant="subtle"
              color="gray"
              c="dimmed"
              aria-label={t('Remove {step}', { step: label })}
              onClick={remove}
            >
              {t('Remove')}
            </Button>
          )}
        </Group>
        {conditions.map((condition, index) => (
          <ConditionFields
            key={String(index)}
            condition={condition}
            fields={fields.filter((field) => field === condition.field || !isTaken(field))}
            change={(changed) => put(index, changed)}
          />
        ))}
      </Stack>
    </Paper>
  );
}

function KindField({ label, chosen, declared, isAny = false, change }: Parts): ReactNode {
  const { event, conditions } = chosen;
  return (
    <Select
      label={label}
      searchable
      clearable={isAny}
      allowDeselect={false}
      placeholder={isAny ? t('any event') : t('Choose an event')}
      w={220}
      data={[...new Set([...declared.kinds, ...(event === '' ? [] : [event])])]}
      value={event === '' ? null : event}
      onChange={(value) =>
        // Keys of `data` belong to a kind.
        change({
          event: value ?? '',
          conditions: conditions.filter(({ field }) => isOfItem(field)),
        })
      }
    />
  );
}

const operatorChoices = Object.entries(operators).map(([value, sign]) => ({
  value,
  label: value === 'in' ? t('one of') : value === 'exists' ? t('exists') : sign,
}));

function ConditionFields({
  condition,
  fields,
  change,
}: {
  condition: Condition;
  fields: readonly string[];
  change: (condition: Condition | null) => void;
}): ReactNode {
  const { field, operator, value } = condition;
  return (
    <Group gap="xs">
      <Select
        aria-label={t('Field')}
        allowDeselect={false}
        w={160}
        data={[...new Set([...fields, field])].map((name) => ({
          value: name,
          label: name === 'contentId' ? t('Item id') : isOfItem(name) ? words(name) : name,
        }))}
        value={field}
        onChange={(name) => change({ field: name ?? field, operator: 'eq', value })}
      />
      {isOfItem(field) ? (
        <Text span>=</Text>
      ) : (
        <Select
          aria-label={t('Operator')}
          allowDeselect={false}
          w={110}
          data={operatorChoices}
          value={operator}
          onChange={(sign) => change({ ...condition, operator: (sign ?? 'eq') as Operator })}
        />
      )}
      {operator === 'exists' && !isOfItem(field) ? (
        <Select
          aria-label={t('Value')}
          allowDeselect={false}
          w={160}
          data={[
            { value: 'true', label: t('yes') },
            { value: 'false', label: t('no') },
          ]}
          value={value === 'false' ? 'false' : 'true'}
          onChange={(chosen) => change({ ...condition, value: chosen ?? 'true' })}
        />
      ) : (
        <TextInput
          aria-label={t('Value')}
          placeholder={operator === 'in' ? 'EUR, USD' : t('Value')}
          w={160}
          value={value}
          onChange={(event) => change({ ...condition, value: event.currentTarget.value })}
        />
      )}
      <CloseButton
        aria-label={t('Remove the condition on {field}', { field })}
        onClick={() => change(null)}
      />
    </Group>
  );
}
