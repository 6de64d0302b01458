/** One bulk job: its progress, and what could not be changed. */
import { Anchor, Button, Progress, Stack, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { api } from '../api.ts';
import { useChange, useList, useRead } from '../data.ts';
import { moment, whole } from '../format.ts';
import { Page } from '../page.tsx';
import { Failed, More, Show } from '../states.tsx';

export function JobPage({ id }: { id: string }): ReactNode {
  const job = useRead(
    '/v1/content/bulk/jobs/{id}',
    { path: { id } },
    { every: (answer) => (answer?.data.status === 'processing' ? 500 : false) },
  );
  const failures = useList('/v1/content/bulk/jobs/{id}/failures', { path: { id } });
  const cancel = useChange(() => api.post('/v1/content/bulk/jobs/{id}/cancel', { path: { id } }));
  return (
    <Page
      title="Bulk job"
      back={{ to: '/content/jobs', label: 'Bulk jobs' }}
      curl={{ path: `/v1/content/bulk/jobs/${id}` }}
    >
      <Show of={job}>
        {({ data }) => (
          <Stack maw={640}>
            <Text role="status">
              {`${data.status}: ${whole(data.processedItems)} of ${whole(data.totalItems)} items, ` +
                `${whole(data.failedItems)} failed. Created ${moment(data.createdAt)}.`}
            </Text>
            <Progress
              size="lg"
              value={data.totalItems === 0 ? 100 : (100 * data.processedItems) / data.totalItems}
              aria-label="Progress of the job"
            />
            {data.status === 'processing' && (
              <Button variant="default" w="fit-content" onClick={() => cancel.mutate()}>
                Cancel
              </Button>
            )}
            <Failed error={cancel.error} />
          </Stack>
        )}
      </Show>
      <Show of={failures}>
        {(data) =>
          data.length === 0 ? (
            <Text size="sm">No item has failed.</Text>
          ) : (
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Item</Table.Th>
                  <Table.Th>Why it could not be changed</Table.Th>
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
