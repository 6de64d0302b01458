/** Guardrails, during planning and in results. */
import {
  ActionIcon,
  Alert,
  Badge,
  Button,
  Group,
  Select,
  Stack,
  Table,
  Text,
  Title,
} from '@mantine/core';
import type { ReactNode } from 'react';
import type { Answer } from '../../data.ts';
import { moment, percent, words } from '../../format.ts';
import { NumberField } from '../../number-field.tsx';
import type { Part } from './experiment-fields.tsx';
import { t } from '../../texts/texts.ts';

type Results = Answer<'get', '/v1/experiments/{id}/results'>['data'];

export function GuardrailFields({
  draft,
  change,
  choices,
}: Part & { choices: readonly string[] }): ReactNode {
  const { guardrails } = draft;
  const free = choices.filter(
    (name) =>
      !draft.metrics.includes(name) && !guardrails.some((guardrail) => guardrail.metric === name),
  );
  const [next] = free;
  const set = (index: number, changes: Partial<(typeof guardrails)[number]>) =>
    change({
      guardrails: guardrails.map((one, at) => (at === index ? { ...one, ...changes } : one)),
    });
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        {t('Guardrails')}
      </Title>
      {guardrails.map(({ metric, margin }, index) => (
        <Group key={metric} align="flex-end">
          <Select
            label={t('Metric')}
            allowDeselect={false}
            data={[metric, ...free].map((value) => ({ value, label: words(value) }))}
            value={metric}
            onChange={(value) => set(index, { metric: value ?? metric })}
          />
          <NumberField
            label={t('May get worse by')}
            suffix=" %"
            min={0.1}
            max={100}
            value={margin}
            onChange={(margin) => set(index, { margin })}
          />
          <ActionIcon
            variant="default"
            size="lg"
            aria-label={t('Remove the guardrail {metric}', { metric: words(metric) })}
            onClick={() => change({ guardrails: guardrails.filter((_, at) => at !== index) })}
          >
            ×
          </ActionIcon>
        </Group>
      ))}
      {next !== undefined && (
        <Button
          variant="default"
          w="fit-content"
          onClick={() => change({ guardrails: [...guardrails, { metric: next, margin: 2 }] })}
        >
          {t('Add guardrail')}
        </Button>
      )}
    </Stack>
  );
}

const colors = { passed: 'teal', harmed: 'red', undecided: 'gray' } as const;

export function Guardrails({ results }: { results: Results }): ReactNode {
  const { guardrails = [], variants } = results;
  if (guardrails.length === 0) return null;
  const nameOf = (id: string) => variants.find((one) => one.id === id)?.name ?? id;
  const rows = guardrails.flatMap((guardrail) =>
    guardrail.variants.map((variant) => ({ ...guardrail, ...variant })),
  );
  const harmed = rows.filter(({ status }) => status === 'harmed');
  const signed = (value: number) => percent(value).replace('-', '−');
  return (
    <Stack gap="xs">
      {harmed.length > 0 && (
        <Alert color="red" title={t('A guardrail is harmed')} role="alert">
          {harmed
            .map(
              ({ metric, id, lift, margin, harmedAt }) =>
                `${words(metric)} of “${nameOf(id)}” is worse by more than ${percent(margin)}: ` +
                `${signed(lift ?? 0)}, found ${moment(harmedAt)}.`,
            )
            .join(' ')}
        </Alert>
      )}
      <Title order={2} size="h4">
        {t('Guardrails')}
      </Title>
      <Table.ScrollContainer minWidth={480}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('Metric')}</Table.Th>
              <Table.Th>{t('Variant')}</Table.Th>
              <Table.Th>{t('Margin')}</Table.Th>
              <Table.Th>{t('Lift')}</Table.Th>
              <Table.Th>{t('Status')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(({ metric, id, margin, lift, liftInterval, status }) => {
              const [low, high] = liftInterval ?? [];
              return (
                <Table.Tr key={`${metric} ${id}`}>
                  <Table.Td>{words(metric)}</Table.Td>
                  <Table.Td>{nameOf(id)}</Table.Td>
                  <Table.Td>{percent(margin)}</Table.Td>
                  <Table.Td>
                    {lift === null || low === undefined || high === undefined
                      ? '–'
                      : t('{lift} ({low} to {high})', {
                          lift: signed(lift),
                          low: signed(low),
                          high: signed(high),
                        })}
                  </Table.Td>
                  <Table.Td>
                    <Badge color={colors[status]} variant="light" autoContrast>
                      {status}
                    </Badge>
                  </Table.Td>
                </Table.Tr>
              );
            })}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Text size="sm">{t('A winner has to pass every guardrail.')}</Text>
    </Stack>
  );
}
