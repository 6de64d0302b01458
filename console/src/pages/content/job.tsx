/** One bulk job: its progress and failures. */
import { Anchor, Button, Progress, Stack, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, useList, useRead, type Schemas } from '../../data.ts';
import { moment, whole } from '../../format.ts';
import { Page } from '../../page.tsx';
import { Failed, More, Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

export function JobPage({ id }: { id: string }): ReactNode {
  const job = useRead(
    '/v1/content/bulk/jobs/{id}',
    { path: { id } },
    { every: (answer) => (answer?.data.status === 'processing' ? 500 : false) },
  );
  const failures = useList('/v1/content/bulk/jobs/{id}/failures', { path: { id } });
  return (
    <Page
      title={t('Bulk job')}
      back={{ to: '/content/jobs', label: t('Bulk jobs') }}
      curl={{ path: `/v1/content/bulk/jobs/${id}` }}
    >
      <Show of={job}>{({ data }) => <Progressed job={data} />}</Show>
      <Show of={failures}>
        {(data) =>
          data.length === 0 ? (
            <Text size="sm">{t('No item has failed.')}</Text>
          ) : (
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{t('Item')}</Table.Th>
                  <Table.Th>{t('Why it could not be changed')}</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {data.map((failure) => (
                  <Table.Tr key={failure.id}>
                    <Table.Td>
                      <Anchor href={`#/content/${failure.id}`} underline="always">
                        {failure.id}
                      </Anchor>
                    </Table.Td>
                    <Table.Td>{failure.error.message}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          )
        }
      </Show>
      <More of={failures} />
    </Page>
  );
}

function Progressed({ job: data }: { job: Schemas['BulkJob'] }): ReactNode {
  const path = { id: data.jobId };
  const cancel = useChange(() => api.post('/v1/content/bulk/jobs/{id}/cancel', { path }));
  return (
    <Stack maw={640}>
      <Text role="status">
        {t(
          '{status}: {processedItems} of {totalItems} items, {failedItems} failed. Created {createdAt}.',
          {
            status: data.status,
            processedItems: whole(data.processedItems),
            totalItems: whole(data.totalItems),
            failedItems: whole(data.failedItems),
            createdAt: moment(data.createdAt),
          },
        )}
      </Text>
      <Progress
        size="lg"
        value={data.totalItems === 0 ? 100 : (100 * data.processedItems) / data.totalItems}
        aria-label={t('Progress of the job')}
      />
      {data.status === 'processing' && (
        <Button variant="default" w="fit-content" onClick={() => cancel.mutate()}>
          {t('Cancel')}
        </Button>
      )}
      <Failed error={cancel.error} />
    </Stack>
  );
}
