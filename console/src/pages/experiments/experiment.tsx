/** One experiment: its description, actions and results. */
import { Alert, Badge, Group, Stack, Table, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useRead, type Answer } from '../../data.ts';
import { moment, percent, whole } from '../../format.ts';
import { Page } from '../../page.tsx';
import { Empty, Show } from '../../states.tsx';
import { Configuration } from './experiment-configuration.tsx';
import { Assignments } from './experiment-assignments.tsx';
import { Actions } from './experiment-actions.tsx';
import { Decisions } from './experiment-decisions.tsx';
import { RenameVariant } from './experiment-rename.tsx';
import { ResultsOf } from './experiment-results.tsx';
import { ExperimentStatus } from './experiments.tsx';
import { t } from '../../texts/texts.ts';

export type Experiment = Answer<'get', '/v1/experiments/{id}'>['data'];

export function ExperimentPage({ id }: { id: string }): ReactNode {
  const experiment = useRead('/v1/experiments/{id}', { path: { id } });
  return (
    <Page
      title={experiment.data?.data.name ?? t('Experiment')}
      back={{ to: '/experiments', label: t('Experiments') }}
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
        <Text style={{ overflowWrap: 'anywhere' }}>
          {t('Hypothesis: {hypothesis}', { hypothesis })}
        </Text>
      )}
      {description !== null && <Text>{description}</Text>}
      {experiment.warnings.map(({ code, message }) => (
        <Alert key={code} color="yellow">
          {message}
        </Alert>
      ))}
      <Actions experiment={experiment} />
      {status === 'draft' ? (
        <Empty>{t('A draft has no participants. Start it to see results here.')}</Empty>
      ) : (
        <ResultsOf id={id} experiment={experiment} />
      )}
      <Variants experiment={experiment} />
      {status !== 'draft' && <Assignments experiment={experiment} />}
      <Decisions id={id} />
    </Stack>
  );
}

function Variants({ experiment }: { experiment: Experiment }): ReactNode {
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        {t('Variants')}
      </Title>
      <Table.ScrollContainer minWidth={560}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('Variant')}</Table.Th>
              <Table.Th>{t('Share')}</Table.Th>
              <Table.Th>{t('Participants')}</Table.Th>
              <Table.Th>{t('Tried by')}</Table.Th>
              <Table.Th>{t('Configuration')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {experiment.variants.map((variant) => (
              <Table.Tr key={variant.id}>
                <Table.Td>
                  {variant.name} <RenameVariant experimentId={experiment.id} variant={variant} />
                </Table.Td>
                <Table.Td>{percent(variant.traffic, 0)}</Table.Td>
                <Table.Td>{whole(variant.participants)}</Table.Td>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>
                  {testersOf(experiment, variant.id)}
                </Table.Td>
                <Table.Td>
                  <Configuration config={variant.config} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  );
}

/** Users who preview a variant and are not counted. */
function testersOf({ forcedVariants }: Experiment, variantId: string): string {
  return forcedVariants
    .flatMap((forced) => (forced.variantId === variantId ? forced.userId : []))
    .join(', ');
}
