/** The results of an experiment: intervals, the sample-ratio warning, and the decision in words. */
import { Alert, Paper, Stack, Table, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Interval } from '../../charts/interval.tsx';
import { useRead, type Answer } from '../../data.ts';
import { moment, percent, whole, words } from '../../format.ts';
import { Show } from '../../states.tsx';
import { Breakdown } from './experiment-breakdown.tsx';
import { Guardrails } from './experiment-guardrails.tsx';
import { Sharing } from './experiment-sharing.tsx';
import type { Experiment } from './experiment.tsx';
import { t } from '../../texts/texts.ts';

type Results = Answer<'get', '/v1/experiments/{id}/results'>['data'];
type Variant = Results['variants'][number];

export function ResultsOf({ id, experiment }: { id: string; experiment: Experiment }): ReactNode {
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
          <Guardrails results={data} />
          <Decision experiment={experiment} results={data} />
          {experiment.metrics.map((metric) => (
            <MetricResults
              key={metric}
              metric={metric}
              isPrimary={metric === experiment.primaryMetric}
              variants={data.variants}
            />
          ))}
          <Price inference={data.inference} />
          <Breakdown experiment={experiment} />
          <Sharing id={id} />
          <Text size="sm">
            {t('As of {asOf}, after {days} days.', {
              asOf: moment(data.asOf),
              days: data.duration.days,
            })}
          </Text>
        </Stack>
      )}
    </Show>
  );
}

/** The statistical cost of having no planned end. */
function Price({ inference }: { inference: Results['inference'] }): ReactNode {
  const factor = inference?.sampleFactor ?? null;
  if (factor === null) return null;
  return (
    <Text size="sm">
      {t('Without a planned end, the same effect takes {value} times as many participants.', {
        value: factor.toFixed(1),
      })}
    </Text>
  );
}

function SampleRatio({ health }: { health: Results['health'] }): ReactNode {
  if (health.srm.ok) return null;
  return (
    <Alert
      color="red"
      title={t('The sizes of the variants do not match their shares')}
      role="alert"
    >
      {t(
        'Participants are missing from one of them (p = {value}), so the numbers below cannot be trusted. Look for redirects, crashes and filters that affect only one variant.',
        { value: health.srm.pValue.toExponential(1) },
      )}
    </Alert>
  );
}

/** The recommendation in plain words. */
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
    guardrail: `A variant is better in ${metric}, but worse in another metric, or has not passed every guardrail. Weigh them.`,
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
      <Text fw={700}>{t('Decision')}</Text>
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
        {isPrimary ? t('{metric} (decides)', { metric: words(metric) }) : words(metric)}
      </Title>
      <Table layout="fixed">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Variant')}</Table.Th>
            <Table.Th w={110}>{t('Participants')}</Table.Th>
            <Table.Th w={90}>{t('Value')}</Table.Th>
            <Table.Th w={170}>{t('Lift')}</Table.Th>
            <Table.Th>
              {bounds.length === 0
                ? t('Interval')
                : t('Interval, from −{reach} to +{reach2}', {
                    reach: percent(reach, 0),
                    reach2: percent(reach, 0),
                  })}
            </Table.Th>
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
  const sign = (number: number) => `${number > 0 ? '+' : ''}${percent(number).replace('-', '−')}`;
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
        <Interval
          label={t('Lift {text}', { text })}
          estimate={lift}
          interval={[low, high]}
          reach={reach}
        />
      </Table.Td>
    </>
  );
}
