/** Viewer keys, with which a server authenticates its users. */
import { Button, Group, Stack, Table, Text, TextInput, Title } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, useList, type ItemOf } from '../../data.ts';
import { Opener } from '../../drawer.tsx';
import { formText } from '../../form-text.ts';
import { moment } from '../../format.ts';
import { askThen } from '../../questions.tsx';
import { Empty, Failed, More, Show } from '../../states.tsx';
import { rotating, Shown } from './new-secret.tsx';
import { t } from '../../texts/texts.ts';

type ViewerKey = ItemOf<'/v1/viewer-keys'>;

export function ViewerKeys(): ReactNode {
  const keys = useList('/v1/viewer-keys', {});
  const rotate = useChange((id: string) =>
    api.post('/v1/viewer-keys/{id}/rotate', { path: { id }, body: { gracePeriod: 3_600 } }),
  );
  const remove = useChange((id: string) => api.delete('/v1/viewer-keys/{id}', { path: { id } }));
  return (
    <Stack role="region" aria-label={t('Viewer keys')}>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {t('Viewer keys')}
        </Title>
        <Opener label={t('New viewer key')}>{() => <NewViewerKey />}</Opener>
      </Group>
      <Text size="sm">
        {t(
          'Your server signs the ids of its users with such a key, so that nobody can impersonate another user.',
        )}
      </Text>
      <Failed error={rotate.error ?? remove.error} />
      {rotate.data !== undefined && <Shown secret={rotate.data.data.key} />}
      <Show of={keys}>
        {(data) =>
          data.length === 0 ? (
            <Empty>
              {t(
                'No viewer keys yet: apps send user ids without a signature. “New viewer key” creates one.',
              )}
            </Empty>
          ) : (
            <List
              keys={data}
              onRotate={(id) => rotate.mutate(id)}
              onRemove={(id) => remove.mutate(id)}
            />
          )
        }
      </Show>
      <More of={keys} />
    </Stack>
  );
}

function NewViewerKey(): ReactNode {
  const create = useChange((name: string) => api.post('/v1/viewer-keys', { body: { name } }));
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    create.mutate(formText(event.currentTarget, 'viewerKeyName'));
  };
  return (
    <Stack>
      <form onSubmit={submit}>
        <Stack align="start">
          <TextInput
            name="viewerKeyName"
            label={t('Name of the viewer key')}
            required
            maxLength={200}
            w="100%"
          />
          <Button type="submit" loading={create.isPending}>
            {t('Create viewer key')}
          </Button>
        </Stack>
      </form>
      <Failed error={create.error} />
      {create.data !== undefined && <Shown secret={create.data.data.key} />}
    </Stack>
  );
}

function List({
  keys,
  onRotate,
  onRemove,
}: {
  keys: readonly ViewerKey[];
  onRotate: (id: string) => void;
  onRemove: (id: string) => void;
}): ReactNode {
  const deleting = (name: string) => ({
    title: t('Delete “{name}”?', { name }),
    text: t('Signatures made with it are no longer valid. This cannot be undone.'),
    action: t('Delete the viewer key'),
  });
  return (
    <Table.ScrollContainer minWidth={480}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Name')}</Table.Th>
            <Table.Th>{t('Created')}</Table.Th>
            <Table.Th>{t('Ends')}</Table.Th>
            <Table.Th>{t('Action')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {keys.map(({ id, name, createdAt, expiresAt }) => (
            <Table.Tr key={id}>
              <Table.Td>{name}</Table.Td>
              <Table.Td>{moment(createdAt)}</Table.Td>
              <Table.Td>{expiresAt === null ? 'never' : moment(expiresAt)}</Table.Td>
              <Table.Td>
                <Group gap="xs">
                  <Button
                    size="compact-sm"
                    variant="default"
                    aria-label={t('Rotate {name}', { name })}
                    onClick={() => askThen(rotating(name), () => onRotate(id))}
                  >
                    {t('Rotate')}
                  </Button>
                  <Button
                    size="compact-sm"
                    variant="default"
                    aria-label={t('Delete {name}', { name })}
                    onClick={() => askThen(deleting(name), () => onRemove(id))}
                  >
                    {t('Delete')}
                  </Button>
                </Group>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
