/** Permanently deleted items, and whether their files and events are gone. */
import { Badge, Code, Select, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useList } from '../../data.ts';
import { moment } from '../../format.ts';
import { useParameters } from '../../location.ts';
import { Page } from '../../page.tsx';
import { Empty, More, Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

const states = ['pending', 'complete'] as const;

export function PurgesPage(): ReactNode {
  const [{ status }, change] = useParameters();
  const chosen = states.find((each) => each === status);
  const purges = useList(
    '/v1/purges',
    { query: chosen === undefined ? {} : { status: chosen } },
    { every: (rows) => (rows.some((row) => row.status === 'pending') ? 2_000 : false) },
  );
  return (
    <Page title={t('Purges')} curl={{ path: '/v1/purges' }}>
      <Text size="sm">
        {t(
          'A permanent deletion removes an item immediately, and its files and events in the background. Its entry is kept for another 30 days.',
        )}
      </Text>
      <Select
        label={t('Status')}
        placeholder={t('any')}
        clearable
        w={160}
        data={states}
        value={chosen ?? null}
        onChange={(value) => change({ status: value })}
      />
      <Show of={purges}>
        {(data) =>
          data.length === 0 ? (
            <Empty>{t('Nothing has been permanently deleted.')}</Empty>
          ) : (
            <Table.ScrollContainer minWidth={560}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>{t('Item')}</Table.Th>
                    <Table.Th>{t('Status')}</Table.Th>
                    <Table.Th>{t('Deleted')}</Table.Th>
                    <Table.Th>{t('Complete')}</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {data.map((purge) => (
                    <Table.Tr key={`${purge.contentId} ${purge.deletedAt}`}>
                      <Table.Td>
                        <Code>{purge.contentId}</Code>
                      </Table.Td>
                      <Table.Td>
                        <Badge variant="outline" color="gray" tt="none">
                          {purge.status}
                        </Badge>
                      </Table.Td>
                      <Table.Td>{moment(purge.deletedAt)}</Table.Td>
                      <Table.Td>{moment(purge.completedAt)}</Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          )
        }
      </Show>
      <More of={purges} />
    </Page>
  );
}
