/** Bulk jobs so far, and the form that makes one. */
import { Anchor, Table, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useList, type ItemOf } from '../data.ts';
import { moment, whole } from '../format.ts';
import { Page } from '../page.tsx';
import { Empty, More, Show } from '../states.tsx';
import { operations } from './job-fields.tsx';
import { NewJob } from './job-form.tsx';

type Job = ItemOf<'/v1/content/bulk/jobs'>;

export function JobsPage(): ReactNode {
  const jobs = useList(
    '/v1/content/bulk/jobs',
    {},
    { every: (rows) => (rows.some(({ status }) => status === 'processing') ? 1_000 : false) },
  );
  return (
    <Page
      title="Bulk jobs"
      back={{ to: '/content', label: 'Content' }}
      curl={{ path: '/v1/content/bulk/jobs' }}
    >
      <NewJob />
      <Title order={2} size="h4">
        Jobs so far
      </Title>
      <Show of={jobs}>
        {(data) =>
          data.length === 0 ? (
            <Empty>No bulk job yet. The form above makes one.</Empty>
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
            <Table.Th>Operation</Table.Th>
            <Table.Th>Status</Table.Th>
            <Table.Th>Items</Table.Th>
            <Table.Th>Failed</Table.Th>
            <Table.Th>Created</Table.Th>
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
              <Table.Td>{`${whole(job.processedItems)} of ${whole(job.totalItems)}`}</Table.Td>
              <Table.Td>{whole(job.failedItems)}</Table.Td>
              <Table.Td>{moment(job.createdAt)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
