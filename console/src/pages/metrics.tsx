/** Metrics of the organization's own: list, define, delete. */
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
import { api } from '../api.ts';
import { useChange, useRead, type Answer } from '../data.ts';
import { moment } from '../format.ts';
import { CopyCurl, Page } from '../page.tsx';
import { Empty, Failed, Show } from '../states.tsx';
import { bodyOf, freshMetric, problemOf, types, type MetricDraft } from './metric-rules.ts';

type Metric = Answer<'get', '/v1/metrics'>['data'][number];

export function MetricsPage(): ReactNode {
  const metrics = useRead('/v1/metrics', {});
  return (
    <Page title="Metrics" curl={{ path: '/v1/metrics' }}>
      <Text size="sm">
        What experiments can be judged by, beside completion rate, watch time, sessions and
        retention. A kind such as <Code>custom.purchase</Code> is taken from apps once a metric
        counts it.
      </Text>
      <NewMetricForm />
      <Show of={metrics}>
        {({ data }) =>
          data.length === 0 ? <Empty>No metric of your own yet.</Empty> : <Metrics metrics={data} />
        }
      </Show>
    </Page>
  );
}

function NewMetricForm(): ReactNode {
  const [draft, setDraft] = useState(freshMetric);
  const change = (changes: Partial<MetricDraft>) => setDraft((old) => ({ ...old, ...changes }));
  const create = useChange(() => api.post('/v1/metrics', { body: bodyOf(draft) }));
  const problem = problemOf(draft);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate(undefined, { onSuccess: () => setDraft(freshMetric) });
  };
  return (
    <form onSubmit={submit}>
      <Stack maw={900}>
        <Fields draft={draft} change={change} />
        {draft.name !== '' && problem !== null && (
          <Text size="sm" role="status">
            {problem}
          </Text>
        )}
        <Group>
          <Button type="submit" loading={create.isPending} disabled={problem !== null}>
            Define metric
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
  const text = (name: 'name' | 'event' | 'field' | 'where' | 'denominator') => ({
    value: draft[name],
    onChange: (event: { currentTarget: { value: string } }) =>
      change({ [name]: event.currentTarget.value }),
  });
  const hasField = draft.type !== 'count' && draft.type !== 'share';
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }}>
      <TextInput label="Name" required maxLength={64} {...text('name')} />
      <Select
        label="Counts"
        allowDeselect={false}
        data={types}
        value={draft.type}
        onChange={(value) => change({ type: value ?? 'count' })}
      />
      <TextInput label="Kind of event" required {...text('event')} />
      {hasField && (
        <TextInput
          label={draft.type === 'ratio' ? 'Field of data (empty: events)' : 'Field of data'}
          {...text('field')}
        />
      )}
      {draft.type === 'ratio' && (
        <TextInput label="Divided by events of kind" {...text('denominator')} />
      )}
      <TextInput
        label="Conditions on data (JSON, empty: none)"
        placeholder='{ "currency": "EUR" }'
        {...text('where')}
      />
      <NumberInput
        label="Hours after exposure (empty: all)"
        min={1}
        max={2_160}
        value={draft.windowHours}
        onChange={(value) => change({ windowHours: value })}
      />
      {draft.type !== 'share' && (
        <NumberInput
          label={draft.type === 'mean' ? 'Most for an event' : 'Most for a participant'}
          min={0}
          value={draft.cap}
          onChange={(value) => change({ cap: value })}
        />
      )}
      <Select
        label="Better is"
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

function Metrics({ metrics }: { metrics: readonly Metric[] }): ReactNode {
  return (
    <Table.ScrollContainer minWidth={640}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Type</Table.Th>
            <Table.Th>Counts</Table.Th>
            <Table.Th>Better is</Table.Th>
            <Table.Th>Past events</Table.Th>
            <Table.Th>Action</Table.Th>
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
                  ? 'being counted'
                  : `counted ${moment(metric.computedAt)}`}
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
      <Button size="compact-sm" variant="default" aria-label={`Delete ${name}`} onClick={open}>
        Delete
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={`Delete “${name}”?`}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <Stack>
          <Text size="sm">
            What it has counted is removed, and custom kinds that no other metric counts are
            refused. Results of experiments that have ended stay.
          </Text>
          <Failed error={remove.error} />
          <Button
            color="red.9"
            loading={remove.isPending}
            onClick={() => remove.mutate(undefined, { onSuccess: close })}
          >
            Delete the metric
          </Button>
        </Stack>
      </Modal>
    </>
  );
}
