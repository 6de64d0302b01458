/** The participants of an experiment and their variants. */
import { Anchor, Group, Select, Stack, Table, Text, TextInput, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';
import { useList, type ItemOf } from '../../data.ts';
import { moment } from '../../format.ts';
import { Empty, More, Show } from '../../states.tsx';
import type { Experiment } from './experiment.tsx';
import { t } from '../../texts/texts.ts';

type Assignment = ItemOf<'/v1/experiments/{id}/assignments'>;

export function Assignments({ experiment }: { experiment: Experiment }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Title order={2} size="h4" display="inline">
          {t('Participants')}
        </Title>
      </summary>
      {isOpen && <Participants experiment={experiment} />}
    </details>
  );
}

function Participants({ experiment: { id, variants } }: { experiment: Experiment }): ReactNode {
  const [variantId, setVariant] = useState<string | null>(null);
  const [user, setUser] = useState('');
  const [userId] = useDebouncedValue(user.trim(), 250);
  const assignments = useList('/v1/experiments/{id}/assignments', {
    path: { id },
    query: { ...(variantId !== null && { variantId }), ...(userId !== '' && { userId }) },
  });
  const nameOf = (of: string) => variants.find((variant) => variant.id === of)?.name ?? of;
  return (
    <Stack gap="xs" pt="xs">
      <Group align="end">
        <Select
          label={t('Variant')}
          placeholder={t('any')}
          clearable
          data={variants.map((variant) => ({ value: variant.id, label: variant.name }))}
          value={variantId}
          onChange={setVariant}
        />
        <TextInput
          label={t('User id')}
          placeholder={t('any')}
          value={user}
          onChange={(event) => setUser(event.currentTarget.value)}
        />
      </Group>
      <Show of={assignments}>
        {(data) =>
          data.length === 0 ? (
            <Empty>{t('No participant matches.')}</Empty>
          ) : (
            <Rows assignments={data} nameOf={nameOf} />
          )
        }
      </Show>
      <More of={assignments} />
    </Stack>
  );
}

function Rows({
  assignments,
  nameOf,
}: {
  assignments: readonly Assignment[];
  nameOf: (id: string) => string;
}): ReactNode {
  return (
    <Table.ScrollContainer minWidth={520}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Viewer')}</Table.Th>
            <Table.Th>{t('Variant')}</Table.Th>
            <Table.Th>{t('Since')}</Table.Th>
            <Table.Th>{t('Country')}</Table.Th>
            <Table.Th>{t('Device')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {assignments.map((one) => (
            <Table.Tr key={`${one.userId} ${one.deviceId} ${one.variantId}`}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                {one.userId === null ? (
                  t('device {deviceId}', { deviceId: one.deviceId ?? '' })
                ) : (
                  <Anchor
                    href={`#/viewers?userId=${encodeURIComponent(one.userId)}`}
                    underline="always"
                  >
                    {one.userId}
                  </Anchor>
                )}
              </Table.Td>
              <Table.Td>
                {nameOf(one.variantId)}
                {one.isInSeveralVariants && (
                  <Text size="xs">{t('in several variants: excluded')}</Text>
                )}
              </Table.Td>
              <Table.Td>{moment(one.exposedAt)}</Table.Td>
              <Table.Td>{one.country ?? '–'}</Table.Td>
              <Table.Td>{one.device ?? '–'}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
