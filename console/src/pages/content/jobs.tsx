/** Bulk jobs, and the form for a new one. */
import { Anchor, Table } from '@mantine/core';
import type { ReactNode } from 'react';
import { useList, type ItemOf } from '../../data.ts';
import { OpenButton, Side } from '../../drawer.tsx';
import { moment, whole } from '../../format.ts';
import { goTo, useParameters } from '../../location.ts';
import { Page } from '../../page.tsx';
import { Empty, More, Show } from '../../states.tsx';
import { operations } from './job-fields.tsx';
import { NewJob } from './job-form.tsx';
import { t } from '../../texts/texts.ts';

type Job = ItemOf<'/v1/content/bulk/jobs'>;

export function JobsPage(): ReactNode {
  // The library links to a new job with its filter, so the drawer and its filter are in the
  // address.
  const [{ make }, change] = useParameters();
  const jobs = useList(
    '/v1/content/bulk/jobs',
    {},
    { every: (rows) => (rows.some(({ status }) => status === 'processing') ? 1_000 : false) },
  );
  return (
    <Page
      title={t('Bulk jobs')}
      back={{ to: '/content', label: t('Content') }}
      curl={{ path: '/v1/content/bulk/jobs' }}
      actions={<OpenButton label={t('New bulk job')} open={() => change({ make: 'job' })} />}
    >
      {make === 'job' && (
        <Side title={t('New bulk job')} close={() => goTo('/content/jobs')}>
          <NewJob />
        </Side>
      )}
      <Show of={jobs}>
        {(data) =>
          data.length === 0 ? (
            <Empty>
              {t(
                'No bulk jobs yet. “New bulk job” changes all items that match a filter, after a dry run.',
              )}
            </Empty>
          ) : (
            <Jobs jobs={data} />
          )
        }
      </Show>
      <More of={jobs} />
    </Page>
  );
}

function Jobs({ jobs }: { jobs: readonly Job[] }): ReactNode {
  return (
    <Table.ScrollContainer minWidth={560}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Operation')}</Table.Th>
            <Table.Th>{t('Status')}</Table.Th>
            <Table.Th>{t('Items')}</Table.Th>
            <Table.Th>{t('Failed')}</Table.Th>
            <Table.Th>{t('Created')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {jobs.map((job) => (
            <Table.Tr key={job.jobId}>
              <Table.Td>
                <Anchor href={`#/content/jobs/${job.jobId}`} underline="always">
                  {operations[job.operation]}
                </Anchor>
              </Table.Td>
              <Table.Td>{job.status}</Table.Td>
              <Table.Td>
                {t('{processedItems} of {totalItems}', {
                  processedItems: whole(job.processedItems),
                  totalItems: whole(job.totalItems),
                })}
              </Table.Td>
              <Table.Td>{whole(job.failedItems)}</Table.Td>
              <Table.Td>{moment(job.createdAt)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
