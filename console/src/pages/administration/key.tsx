/** The latest requests of one key. */
import { Badge, Group, Select, Stack, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useList, useRead, type ItemOf } from '../../data.ts';
import { moment, whole } from '../../format.ts';
import { useParameters } from '../../location.ts';
import { Page } from '../../page.tsx';
import { Empty, More, Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

type Request = ItemOf<'/v1/keys/{id}/requests'>;

export function KeyPage({ id }: { id: string }): ReactNode {
  const [{ minStatus }, change] = useParameters();
  const query = minStatus === undefined ? {} : { minStatus: Number(minStatus) };
  const requests = useList('/v1/keys/{id}/requests', { path: { id }, query }, { every: 5_000 });
  const keys = useRead('/v1/keys', { query: { limit: 100 } });
  const key = keys.data?.data.find((each) => each.id === id);
  return (
    <Page
      title={key?.name ?? t('Requests of a key')}
      back={{ to: '/keys', label: t('Keys') }}
      curl={{ path: `/v1/keys/${id}/requests` }}
    >
      {key !== undefined && (
        <Group>
          <Badge variant="outline" color="gray" tt="none">
            {key.type}
          </Badge>
          <Text size="sm">
            {key.rateLimit === null
              ? t('No rate limit of its own')
              : t('At most {rateLimit} requests per minute', { rateLimit: whole(key.rateLimit) })}
          </Text>
        </Group>
      )}
      <Select
        label={t('Answers')}
        placeholder={t('all')}
        clearable
        w={200}
        data={[
          { value: '400', label: t('Failures (400 and above)') },
          { value: '429', label: t('Rate limit and errors (429 and above)') },
          { value: '500', label: t('Errors of the service (500 and above)') },
        ]}
        value={minStatus ?? null}
        onChange={(value) => change({ minStatus: value })}
      />
      <Show of={requests}>
        {(data) =>
          data.length === 0 ? (
            <Empty>
              {t('No requests yet. They appear here a few seconds after they are answered.')}
            </Empty>
          ) : (
            <Requests requests={data} />
          )
        }
      </Show>
      <More of={requests} />
    </Page>
  );
}

function Requests({ requests }: { requests: readonly Request[] }): ReactNode {
  const leftOut = requests.reduce((sum, each) => sum + each.leftOut, 0);
  return (
    <Stack gap="xs">
      <Table.ScrollContainer minWidth={640}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('Time')}</Table.Th>
              <Table.Th>{t('Request')}</Table.Th>
              <Table.Th>{t('Status')}</Table.Th>
              <Table.Th>{t('Took')}</Table.Th>
              <Table.Th>{t('Id')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {requests.map((each) => (
              <Table.Tr key={each.requestId}>
                <Table.Td>{moment(each.time)}</Table.Td>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>
                  {`${each.method} ${each.route}`}
                </Table.Td>
                <Table.Td fw={each.statusCode >= 400 ? 700 : 400}>{each.statusCode}</Table.Td>
                <Table.Td>{`${whole(each.durationMs)} ms`}</Table.Td>
                <Table.Td>{each.requestId}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {leftOut > 0 && (
        <Text size="sm">
          {t('{leftOut} more requests in busy seconds were not recorded.', {
            leftOut: whole(leftOut),
          })}
        </Text>
      )}
    </Stack>
  );
}
