/** One experiment: start, results with intervals, the decision in words, stop and roll-out. */
import {
  Alert,
  Button,
  Code,
  Group,
  Modal,
  Paper,
  Select,
  Stack,
  Table,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';
import { api } from '../api.ts';
import { Interval } from '../charts.tsx';
import { useChange, useRead, type Answer } from '../data.ts';
import { moment, percent, whole, words } from '../format.ts';
import { goTo } from '../location.ts';
import { Page } from '../page.tsx';
import { Empty, Failed, Show } from '../states.tsx';
import { ExperimentStatus } from './experiments.tsx';

type Experiment = Answer<'get', '/v1/experiments/{id}'>['data'];
type Results = Answer<'get', '/v1/experiments/{id}/results'>['data'];
type Variant = Results['variants'][number];

export function ExperimentPage({ id }: { id: string }): ReactNode {
  const experiment = useRead('/v1/experiments/{id}', { path: { id } });
  return (
    <Page
      title={experiment.data?.data.name ?? 'Experiment'}
      back={{ to: '/experiments', label: 'Experiments' }}
      curl={{ path: `/v1/experiments/${id}/results` }}
    >
      <Show of={experiment}>{({ data }) => <Content experiment={data} />}</Show>
    </Page>
  );
}

function Content({ experiment }: { experiment: Experiment }): ReactNode {
  const { id, status, description, type, traffic, startedAt, endsAt, winner } = experiment;
  return (
    <Stack>
      <Group>
        <ExperimentStatus status={status} />
        <Text size="sm">
          {[
            `${type} experiment on ${percent(traffic, 0)} of viewers`,
            startedAt !== null && `started ${moment(startedAt)}`,
            endsAt !== null && `ends ${moment(endsAt)}`,
            winner !== null && `winner: ${winner}`,
          ]
            .filter(Boolean)
            .join(' · ')}
        </Text>
      </Group>
      {description !== null && <Text>{description}</Text>}
      <Actions experiment={experiment} />
      {status === 'draft' ? (
        <Empty>Nobody takes part in a draft. Start it to see results here.</Empty>
      ) : (
        <ResultsOf id={id} experiment={experiment} />
      )}
      <Title order={2} size="h4">
        Variants
      </Title>
      <Table.ScrollContainer minWidth={420}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Variant</Table.Th>
              <Table.Th>Share</Table.Th>
              <Table.Th>Participants</Table.Th>
              <Table.Th>Configuration</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {experiment.variants.map((variant) => (
              <Table.Tr key={variant.id}>
                <Table.Td>{variant.name}</Table.Td>
                <Table.Td>{percent(variant.traffic, 0)}</Table.Td>
                <Table.Td>{whole(variant.participants)}</Table.Td>
                <Table.Td>
                  <Code>{JSON.stringify(variant.config)}</Code>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  );
}

function Actions({ experiment }: { experiment: Experiment }): ReactNode {
  const { id, status, variants, winner } = experiment;
  const path = { id };
  const start = useChange(() => api.post('/v1/experiments/{id}/start', { path }));
  const remove = useChange(() => api.delete('/v1/experiments/{id}', { path }));
  const [isStopping, stopping] = useDisclosure();
  const [isRollingOut, rollingOut] = useDisclosure();
  const isOver = status === 'stopped' || status === 'completed';
  return (
    <Group>
      {status === 'draft' && (
        <Button loading={start.isPending} onClick={() => start.mutate()}>
          Start
        </Button>
      )}
      {status === 'running' && <Button onClick={stopping.open}>Stop…</Button>}
      {isOver && <Button onClick={rollingOut.open}>Roll out…</Button>}
      {status !== 'running' && (
        <Button
          variant="default"
          onClick={() => remove.mutate(undefined, { onSuccess: () => goTo('/experiments') })}
        >
          Delete
        </Button>
      )}
      <Failed error={start.error ?? remove.error} />
      <StopDialog id={id} variants={variants} isOpen={isStopping} close={stopping.close} />
      <RollOutDialog
        id={id}
        variants={variants}
        winner={winner}
        isOpen={isRollingOut}
        close={rollingOut.close}
      />
    </Group>
  );
}

type DialogParts = {
  id: string;
  variants: Experiment['variants'];
  isOpen: boolean;
  close: () => void;
};

function StopDialog({ id, variants, isOpen, close }: DialogParts): ReactNode {
  const [winner, setWinner] = useState<string | null>(null);
  const [reason, setReason] = useState('');
  const stop = useChange(() =>
    api.post('/v1/experiments/{id}/stop', {
      path: { id },
      body: { ...(winner !== null && { winner }), ...(reason !== '' && { reason }) },
    }),
  );
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title="Stop the experiment"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        <Text size="sm">
          Viewers go back to what everybody gets. Nothing can be added to the results after that.
        </Text>
        <Select
          label="Winner"
          placeholder="none"
          clearable
          data={variants.map((variant) => ({ value: variant.id, label: variant.name }))}
          value={winner}
          onChange={setWinner}
        />
        <TextInput
          label="Reason"
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <Failed error={stop.error} />
        <Button
          loading={stop.isPending}
          onClick={() => stop.mutate(undefined, { onSuccess: close })}
        >
          Stop the experiment
        </Button>
      </Stack>
    </Modal>
  );
}

function RollOutDialog({
  id,
  variants,
  winner,
  isOpen,
  close,
}: DialogParts & { winner: string | null }): ReactNode {
  const [chosen, setChosen] = useState<string | null>(winner);
  const rollOut = useChange((to: string) =>
    api.post('/v1/experiments/{id}/rollout', { path: { id }, body: { winner: to } }),
  );
  const config = variants.find((variant) => variant.id === chosen)?.config;
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title="Roll out a variant"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        <Text size="sm">Every viewer gets the configuration of this variant from now on.</Text>
        <Select
          label="Variant"
          data={variants.map((variant) => ({ value: variant.id, label: variant.name }))}
          value={chosen}
          onChange={setChosen}
        />
        {config !== undefined && <Code block>{JSON.stringify(config, null, 2)}</Code>}
        <Failed error={rollOut.error} />
        <Button
          disabled={chosen === null}
          loading={rollOut.isPending}
          onClick={() => chosen !== null && rollOut.mutate(chosen, { onSuccess: close })}
        >
          Roll out
        </Button>
      </Stack>
    </Modal>
  );
}

function ResultsOf({ id, experiment }: { id: string; experiment: Experiment }): ReactNode {
  const results = useRead(
    '/v1/experiments/{id}/results',
    { path: { id } },
    { every: experiment.status === 'running' ? 10_000 : false },
  );
  return (
    <Show of={results}>
      {({ data }) => (
        <Stack>
          <SampleRatio health={data.health} />
          <Decision experiment={experiment} results={data} />
          {experiment.metrics.map((metric) => (
            <MetricResults
              key={metric}
              metric={metric}
              isPrimary={metric === experiment.primaryMetric}
              variants={data.variants}
            />
          ))}
          <Text size="sm">{`As of ${moment(data.asOf)}, after ${data.duration.days} days.`}</Text>
        </Stack>
      )}
    </Show>
  );
}

function SampleRatio({ health }: { health: Results['health'] }): ReactNode {
  if (health.srm.ok) return null;
  return (
    <Alert color="red" title="The variants are not as large as their shares ask for" role="alert">
      {`Something loses participants in one of them (p = ${health.srm.pValue.toExponential(1)}), so no ` +
        'number below can be trusted. Look for redirects, crashes and filters that only one variant has.'}
    </Alert>
  );
}

/** The recommendation as a person would say it. */
function Decision({
  experiment,
  results,
}: {
  experiment: Experiment;
  results: Results;
}): ReactNode {
  const { winner, reason, confidence, minimumDetectableEffect: effect } = results.recommendation;
  const metric = words(experiment.primaryMetric).toLowerCase();
  const nameOf = (id: string) => results.variants.find((one) => one.id === id)?.name ?? id;
  const found = `No difference in ${metric} was found. A difference of ${percent(effect ?? 0)} would have been found four times out of five.`;
  const why: Record<NonNullable<typeof reason>, string> = {
    min_runtime: 'Too early to say: it has run for too few full days, and weekdays differ.',
    min_sample: 'Too early to say: a variant has too few participants.',
    srm: 'Nothing can be said: participants are missing from one variant.',
    not_significant: effect === null ? `No difference in ${metric} was found.` : found,
    guardrail: `A variant is better in ${metric}, but worse in another metric. Weigh them.`,
    no_data: 'Nothing can be said yet: there are no events.',
    zero_variance: `Nothing can be said: everybody did the same in ${metric}.`,
    zero_baseline: `Nothing can be said: ${metric} of the control is zero, so there is no lift.`,
  };
  const text =
    winner !== null
      ? `“${nameOf(winner)}” wins by ${metric}, with a confidence of ${percent(confidence)}. Stop the experiment and roll it out.`
      : reason === null
        ? 'There is no recommendation.'
        : why[reason];
  return (
    <Paper withBorder p="md" role="status">
      <Text fw={700}>Decision</Text>
      <Text>{text}</Text>
    </Paper>
  );
}

function MetricResults({
  metric,
  isPrimary,
  variants,
}: {
  metric: string;
  isPrimary: boolean;
  variants: readonly Variant[];
}): ReactNode {
  const bounds = variants.flatMap(({ metrics }) => metrics[metric]?.liftInterval ?? []);
  const reach = Math.max(...bounds.map(Math.abs), 0.01) * 1.1;
  const value = (number: number) =>
    metric === 'completionRate' || metric === 'retention' ? percent(number) : number.toFixed(2);
  return (
    <Table.ScrollContainer minWidth={620}>
      <Title order={2} size="h4">
        {isPrimary ? `${words(metric)} (decides)` : words(metric)}
      </Title>
      <Table layout="fixed">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Variant</Table.Th>
            <Table.Th w={110}>Participants</Table.Th>
            <Table.Th w={90}>Value</Table.Th>
            <Table.Th w={170}>Lift</Table.Th>
            <Table.Th>{`−${percent(reach, 0)} … +${percent(reach, 0)}`}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {variants.map(({ id, name, participants, metrics }) => {
            const result = metrics[metric];
            return (
              <Table.Tr key={id}>
                <Table.Td>{name}</Table.Td>
                <Table.Td>{whole(participants)}</Table.Td>
                <Table.Td>{result === undefined ? '–' : value(result.value)}</Table.Td>
                <Lift result={result} reach={reach} />
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Lift({
  result,
  reach,
}: {
  result: Variant['metrics'][string] | undefined;
  reach: number;
}): ReactNode {
  const { lift = null, liftInterval = null, significant = false } = result ?? {};
  const [low, high] = liftInterval ?? [];
  const sign = (number: number) => `${number > 0 ? '+' : ''}${percent(number)}`;
  if (lift === null || low === undefined || high === undefined) {
    return (
      <>
        <Table.Td>–</Table.Td>
        <Table.Td />
      </>
    );
  }
  const text = `${sign(lift)} (${sign(low)} to ${sign(high)})`;
  return (
    <>
      <Table.Td fw={significant ? 700 : 400}>{text}</Table.Td>
      <Table.Td>
        <Interval label={`Lift ${text}`} estimate={lift} interval={[low, high]} reach={reach} />
      </Table.Td>
    </>
  );
}
