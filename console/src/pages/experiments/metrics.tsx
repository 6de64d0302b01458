/** Custom metrics of the organization: list, define, delete. */
import {
  Button,
  Code,
  Group,
  Modal,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Table,
  Text,
  TextInput,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { metricGrammar } from '../../condition-rules.ts';
import { Conditions } from '../../conditions.tsx';
import { useChange, useRead, type Answer } from '../../data.ts';
import { Opener } from '../../drawer.tsx';
import { moment } from '../../format.ts';
import { CopyCurl, Page } from '../../page.tsx';
import { Empty, Failed, Show } from '../../states.tsx';
import { useDeclared } from '../analytics/journey-events.tsx';
import { bodyOf, freshMetric, problemOf, types, type MetricDraft } from './metric-rules.ts';
import { t } from '../../texts/texts.ts';

type Metric = Answer<'get', '/v1/metrics'>['data'][number];

export function MetricsPage(): ReactNode {
  const metrics = useRead('/v1/metrics', {});
  return (
    <Page
      title={t('Metrics')}
      curl={{ path: '/v1/metrics' }}
      actions={<Opener label={t('New metric')}>{(close) => <NewMetricForm done={close} />}</Opener>}
    >
      <Text size="sm">
        {t(
          'Metrics for judging experiments, besides completion rate, watch time, sessions and retention. A kind such as',
        )}{' '}
        <Code>custom.purchase</Code> {t('is accepted from apps once a metric counts it.')}
      </Text>
      <Show of={metrics}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>{t('No custom metrics yet.')}</Empty>
          ) : (
            <Metrics metrics={data} />
          )
        }
      </Show>
    </Page>
  );
}

function NewMetricForm({ done }: { done: () => void }): ReactNode {
  const [draft, setDraft] = useState(freshMetric);
  const change = (changes: Partial<MetricDraft>) => setDraft((old) => ({ ...old, ...changes }));
  const create = useChange(() => api.post('/v1/metrics', { body: bodyOf(draft) }));
  const problem = problemOf(draft);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate(undefined, { onSuccess: done });
  };
  return (
    <form onSubmit={submit}>
      <Stack maw={900}>
        <Fields draft={draft} change={change} />
        <MetricConditions draft={draft} change={change} />
        {draft.name !== '' && problem !== null && (
          <Text size="sm" role="status">
            {problem}
          </Text>
        )}
        <Group>
          <Button type="submit" loading={create.isPending} disabled={problem !== null}>
            {t('Define metric')}
          </Button>
          {problem === null && <CopyCurl method="POST" path="/v1/metrics" body={bodyOf(draft)} />}
        </Group>
        <Failed error={create.error} />
      </Stack>
    </form>
  );
}

function Fields({
  draft,
  change,
}: {
  draft: MetricDraft;
  change: (changes: Partial<MetricDraft>) => void;
}): ReactNode {
  const text = (name: 'name' | 'event' | 'field' | 'denominator' | 'denominatorField') => ({
    value: draft[name],
    onChange: (event: { currentTarget: { value: string } }) =>
      change({ [name]: event.currentTarget.value }),
  });
  const hasField = draft.type !== 'count' && draft.type !== 'share';
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }}>
      <TextInput label={t('Name')} required maxLength={64} {...text('name')} />
      <Select
        label={t('Counts')}
        allowDeselect={false}
        data={types}
        value={draft.type}
        onChange={(value) => change({ type: value ?? 'count' })}
      />
      <TextInput label={t('Kind of event')} required {...text('event')} />
      {hasField && (
        <TextInput
          label={draft.type === 'ratio' ? t('Field of data (empty: events)') : t('Field of data')}
          {...text('field')}
        />
      )}
      {draft.type === 'ratio' && (
        <>
          <TextInput label={t('Divided by events of kind')} {...text('denominator')} />
          <TextInput
            label={t('Their field of data (empty: events)')}
            {...text('denominatorField')}
          />
        </>
      )}
      <NumberInput
        label={t('Hours after exposure (empty: all)')}
        min={1}
        max={2_160}
        value={draft.windowHours}
        onChange={(value) => change({ windowHours: value })}
      />
      {draft.type !== 'share' && (
        <NumberInput
          label={draft.type === 'mean' ? t('Maximum per event') : t('Maximum per participant')}
          min={0}
          value={draft.cap}
          onChange={(value) => change({ cap: value })}
        />
      )}
      <Select
        label={t('Better is')}
        allowDeselect={false}
        data={[
          { value: 'increase', label: 'more' },
          { value: 'decrease', label: 'less' },
        ]}
        value={draft.direction}
        onChange={(value) => change({ direction: value ?? 'increase' })}
      />
    </SimpleGrid>
  );
}

function MetricConditions({
  draft: { type, event, denominator },
  change,
}: {
  draft: MetricDraft;
  change: (changes: Partial<MetricDraft>) => void;
}): ReactNode {
  const { keysOf } = useDeclared();
  const shared = { grammar: metricGrammar, initial: metricGrammar.none };
  return (
    <>
      <Conditions
        {...shared}
        label={t('Conditions on data')}
        description={t('All must hold. Quotes turn a number into text: "7".')}
        fields={keysOf(event.trim())}
        change={(where) => change({ where })}
      />
      {type === 'ratio' && (
        <Conditions
          {...shared}
          label={t('Conditions on what it is divided by')}
          fields={keysOf(denominator.trim())}
          change={(denominatorWhere) => change({ denominatorWhere })}
        />
      )}
    </>
  );
}

function Metrics({ metrics }: { metrics: readonly Metric[] }): ReactNode {
  return (
    <Table.ScrollContainer minWidth={640}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Name')}</Table.Th>
            <Table.Th>{t('Type')}</Table.Th>
            <Table.Th>{t('Counts')}</Table.Th>
            <Table.Th>{t('Better is')}</Table.Th>
            <Table.Th>{t('Past events')}</Table.Th>
            <Table.Th>{t('Action')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {metrics.map((metric) => (
            <Table.Tr key={metric.id}>
              <Table.Td>{metric.name}</Table.Td>
              <Table.Td>{metric.type}</Table.Td>
              <Table.Td>{describe(metric)}</Table.Td>
              <Table.Td>{metric.direction === 'increase' ? 'more' : 'less'}</Table.Td>
              <Table.Td>
                {metric.computedAt === null
                  ? t('being counted')
                  : t('counted {computedAt}', { computedAt: moment(metric.computedAt) })}
              </Table.Td>
              <Table.Td>
                <Delete of={metric} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function describe({ event, field, where, denominator, windowHours, cap }: Metric): string {
  return [
    field === null ? event : `${field} of ${event}`,
    where.length > 0 && `with ${where.length} ${where.length === 1 ? 'condition' : 'conditions'}`,
    denominator !== null && `per ${denominator.event}`,
    windowHours !== null && `within ${windowHours} h`,
    cap !== null && `at most ${cap}`,
  ]
    .filter(Boolean)
    .join(', ');
}

function Delete({ of: { id, name } }: { of: Metric }): ReactNode {
  const [isOpen, { open, close }] = useDisclosure();
  const remove = useChange(() => api.delete('/v1/metrics/{id}', { path: { id } }));
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={t('Delete {name}', { name })}
        onClick={open}
      >
        {t('Delete')}
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={t('Delete “{name}”?', { name })}
        closeButtonProps={{ 'aria-label': t('Close') }}
      >
        <Stack>
          <Text size="sm">
            {t(
              'Its counts are removed, and custom kinds that no other metric counts are rejected. Results of ended experiments are kept.',
            )}
          </Text>
          <Failed error={remove.error} />
          <Button
            data-autofocus
            color="red.9"
            loading={remove.isPending}
            onClick={() => remove.mutate(undefined, { onSuccess: close })}
          >
            {t('Delete the metric')}
          </Button>
        </Stack>
      </Modal>
    </>
  );
}
