/** One experiment: what it is, what can be done with it, and its results. */
import { Alert, Badge, Code, Group, Stack, Table, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useRead, type Answer } from '../data.ts';
import { moment, percent, whole } from '../format.ts';
import { Page } from '../page.tsx';
import { Empty, Show } from '../states.tsx';
import { Actions } from './experiment-actions.tsx';
import { Decisions } from './experiment-decisions.tsx';
import { ResultsOf } from './experiment-results.tsx';
import { ExperimentStatus } from './experiments.tsx';

export type Experiment = Answer<'get', '/v1/experiments/{id}'>['data'];

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
  const { id, status, description, hypothesis, tags, group, pausedAt } = experiment;
  const { type, traffic, startedAt, endsAt, winner } = experiment;
  return (
    <Stack>
      <Group>
        <ExperimentStatus status={pausedAt === null ? status : 'paused'} />
        <Text size="sm">
          {[
            `${type} experiment on ${percent(traffic, 0)} of viewers`,
            startedAt !== null && `started ${moment(startedAt)}`,
            endsAt !== null && `ends ${moment(endsAt)}`,
            group !== null && `group ${group}`,
            winner !== null && `winner: ${winner}`,
          ]
            .filter(Boolean)
            .join(' · ')}
        </Text>
      </Group>
      {tags.length > 0 && (
        <Group gap="xs">
          {tags.map((tag) => (
            <Badge key={tag} variant="outline" color="gray" tt="none" maw="100%">
              {tag}
            </Badge>
          ))}
        </Group>
      )}
      {hypothesis !== null && (
        <Text style={{ overflowWrap: 'anywhere' }}>{`Hypothesis: ${hypothesis}`}</Text>
      )}
      {description !== null && <Text>{description}</Text>}
      {experiment.warnings.map(({ code, message }) => (
        <Alert key={code} color="yellow">
          {message}
        </Alert>
      ))}
      <Actions experiment={experiment} />
      {status === 'draft' ? (
        <Empty>Nobody takes part in a draft. Start it to see results here.</Empty>
      ) : (
        <ResultsOf id={id} experiment={experiment} />
      )}
      <Variants experiment={experiment} />
      <Decisions id={id} />
    </Stack>
  );
}

function Variants({ experiment }: { experiment: Experiment }): ReactNode {
  return (
    <Stack gap="xs">
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
              <Table.Th>Tried by</Table.Th>
              <Table.Th>Configuration</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {experiment.variants.map((variant) => (
              <Table.Tr key={variant.id}>
                <Table.Td>{variant.name}</Table.Td>
                <Table.Td>{percent(variant.traffic, 0)}</Table.Td>
                <Table.Td>{whole(variant.participants)}</Table.Td>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>
                  {testersOf(experiment, variant.id)}
                </Table.Td>
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

/** Users who see a variant for a trial, and are not counted. */
function testersOf({ forcedVariants }: Experiment, variantId: string): string {
  return forcedVariants
    .flatMap((forced) => (forced.variantId === variantId ? forced.userId : []))
    .join(', ');
}
