/** Experiments by status, and a link to create one. */
import { Anchor, Badge, Button, SegmentedControl, Table } from '@mantine/core';
import type { ReactNode } from 'react';
import { useList, type ItemOf } from '../../data.ts';
import { moment, words } from '../../format.ts';
import { useParameters } from '../../location.ts';
import { Page } from '../../page.tsx';
import { Empty, More, Show } from '../../states.tsx';
import { Holdout } from './experiment-holdout.tsx';
import { t } from '../../texts/texts.ts';

const statuses = ['', 'draft', 'running', 'completed', 'stopped'] as const;
type Status = (typeof statuses)[number];

export function ExperimentsPage(): ReactNode {
  const [values, change] = useParameters();
  const status = (values['status'] ?? '') as Status;
  const query = status === '' ? {} : { status };
  const experiments = useList('/v1/experiments', { query });
  return (
    <Page
      title={t('Experiments')}
      curl={{ path: '/v1/experiments', query }}
      actions={
        <>
          <Holdout />
          <Button component="a" href="#/experiments/new">
            {t('New experiment')}
          </Button>
        </>
      }
    >
      <SegmentedControl
        aria-label={t('Status')}
        w="fit-content"
        maw="100%"
        value={status}
        onChange={(value) => change({ status: value })}
        data={statuses.map((value) => ({ value, label: value === '' ? 'all' : value }))}
      />
      <Show of={experiments}>
        {(data) =>
          data.length === 0 ? (
            <Empty>
              {t('No experiments yet.')}{' '}
              <Anchor href="#/experiments/new" underline="always">
                {t('Create one')}
              </Anchor>
              {t(', or run')} <code>npm run demo</code> {t('to see running ones.')}
            </Empty>
          ) : (
            <Experiments experiments={data} />
          )
        }
      </Show>
      <More of={experiments} />
    </Page>
  );
}

function Experiments({
  experiments,
}: {
  experiments: readonly ItemOf<'/v1/experiments'>[];
}): ReactNode {
  return (
    <Table.ScrollContainer minWidth={560}>
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Name')}</Table.Th>
            <Table.Th>{t('Status')}</Table.Th>
            <Table.Th>{t('Type')}</Table.Th>
            <Table.Th>{t('Decided by')}</Table.Th>
            <Table.Th>{t('Started')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {experiments.map((experiment) => (
            <Table.Tr key={experiment.id}>
              <Table.Td>
                <Anchor href={`#/experiments/${experiment.id}`} underline="always">
                  {experiment.name}
                </Anchor>
              </Table.Td>
              <Table.Td>
                <ExperimentStatus
                  status={experiment.pausedAt === null ? experiment.status : 'paused'}
                />
              </Table.Td>
              <Table.Td>{experiment.type}</Table.Td>
              <Table.Td>{words(experiment.primaryMetric)}</Table.Td>
              <Table.Td>{moment(experiment.startedAt)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

export function ExperimentStatus({ status }: { status: string }): ReactNode {
  return (
    <Badge
      variant={status === 'running' ? 'filled' : 'outline'}
      color={status === 'running' ? 'teal.9' : 'gray'}
      tt="none"
    >
      {status}
    </Badge>
  );
}
