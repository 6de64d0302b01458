/** Active sessions in the organization, and their origin. */
import { Button, Stack, Table, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, useList, type Schemas } from '../../data.ts';
import { moment } from '../../format.ts';
import { Failed, More, Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

type Session = Schemas['Session'];

export function Sessions(): ReactNode {
  const sessions = useList('/v1/sessions', {});
  const end = useChange((id: string) => api.delete('/v1/sessions/{id}', { path: { id } }));
  const endAll = useChange((personId: string) =>
    api.delete('/v1/sessions', { query: { personId } }),
  );
  return (
    <Stack role="region" aria-label={t('Sessions')}>
      <Title order={2} size="h4">
        {t('Sessions')}
      </Title>
      <Failed error={end.error ?? endAll.error} />
      <Show of={sessions}>
        {(data) =>
          data.length === 0 ? (
            <Text size="sm">{t('Nobody is signed in with an account.')}</Text>
          ) : (
            <SessionTable
              sessions={data}
              onEnd={(id) => end.mutate(id)}
              onEndAll={(personId) => endAll.mutate(personId)}
            />
          )
        }
      </Show>
      <More of={sessions} />
    </Stack>
  );
}

export function SessionTable({
  sessions,
  onEnd,
  onEndAll,
}: {
  sessions: readonly Session[];
  onEnd: (id: string) => void;
  onEndAll?: (personId: string) => void;
}): ReactNode {
  return (
    <Table.ScrollContainer minWidth={640}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Person')}</Table.Th>
            <Table.Th>{t('Address')}</Table.Th>
            <Table.Th>{t('Browser')}</Table.Th>
            <Table.Th>{t('Last used')}</Table.Th>
            <Table.Th>{t('Action')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sessions.map(({ id, person, address, userAgent, lastUsedAt, isCurrent }) => (
            <Table.Tr key={id}>
              <Table.Td>{person.name}</Table.Td>
              <Table.Td>{address}</Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{userAgent}</Table.Td>
              <Table.Td>{isCurrent ? t('now, here') : moment(lastUsedAt)}</Table.Td>
              <Table.Td>
                <Button size="compact-sm" variant="default" onClick={() => onEnd(id)}>
                  {t('End')}
                </Button>{' '}
                {onEndAll !== undefined && (
                  <Button size="compact-sm" variant="default" onClick={() => onEndAll(person.id)}>
                    {t('End all sessions of this person')}
                  </Button>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
