/** API keys: list, create (shown once), rotate, revoke. */
import {
  Alert,
  Button,
  Code,
  Group,
  Modal,
  MultiSelect,
  Select,
  Stack,
  Table,
  Text,
  TextInput,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api } from '../api.ts';
import { useChange, useList, type ItemOf } from '../data.ts';
import { fromLocalTime, moment } from '../format.ts';
import { formText } from '../form-text.ts';
import { Copy, Page } from '../page.tsx';
import { Empty, Failed, More, Show } from '../states.tsx';

type Key = ItemOf<'/v1/keys'>;
type NewKey = Parameters<typeof api.post<'/v1/keys'>>[1]['body'];

const areas = [
  'analytics',
  'audit',
  'content',
  'events',
  'experiments',
  'feed',
  'keys',
  'live',
  'organization',
  'settings',
  'webhooks',
];
const scopes = areas.flatMap((area) => [`${area}:read`, `${area}:write`]);

export function KeysPage(): ReactNode {
  const keys = useList('/v1/keys', {});
  return (
    <Page title="Keys" curl={{ path: '/v1/keys' }}>
      <NewKeyForm />
      <Show of={keys}>
        {(data) => (data.length === 0 ? <Empty>No key yet.</Empty> : <Keys keys={data} />)}
      </Show>
      <More of={keys} />
    </Page>
  );
}

function NewKeyForm(): ReactNode {
  const [type, setType] = useState<Key['type']>('publishable');
  const [chosen, setChosen] = useState<string[]>([]);
  const create = useChange((body: NewKey) => api.post('/v1/keys', { body }));
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    create.mutate({
      type,
      name: formText(event.currentTarget, 'name'),
      expiresAt: fromLocalTime(formText(event.currentTarget, 'expiresAt')),
      ...(chosen.length > 0 && { scopes: chosen as NonNullable<NewKey['scopes']> }),
    });
  };
  return (
    <Stack>
      <form onSubmit={submit}>
        <Group align="end">
          <TextInput name="name" label="Name" required maxLength={200} />
          <Select
            label="Type"
            data={['publishable', 'secret']}
            allowDeselect={false}
            value={type}
            onChange={(value) => setType(value ?? 'publishable')}
          />
          <MultiSelect
            label="Scopes"
            placeholder={chosen.length === 0 ? 'everything' : ''}
            data={scopes}
            miw={200}
            value={chosen}
            onChange={setChosen}
          />
          <TextInput name="expiresAt" type="datetime-local" label="Ends (empty: never)" />
          <Button type="submit" loading={create.isPending}>
            Create key
          </Button>
        </Group>
      </form>
      <Failed error={create.error} />
      {create.data !== undefined && <Shown secret={create.data.data.key} />}
    </Stack>
  );
}

function Shown({ secret }: { secret: string }): ReactNode {
  return (
    <Alert title="The key is shown this once: keep it" role="status">
      <Group>
        <Code style={{ overflowWrap: 'anywhere' }}>{secret}</Code>
        <Copy text={secret} label="Copy" />
      </Group>
    </Alert>
  );
}

function Keys({ keys }: { keys: readonly Key[] }): ReactNode {
  const rotate = useChange((id: string) =>
    api.post('/v1/keys/{id}/rotate', { path: { id }, body: { gracePeriod: 3_600 } }),
  );
  return (
    <Stack>
      <Failed error={rotate.error} />
      {rotate.data !== undefined && (
        <>
          <Text size="sm">The old key keeps working for an hour.</Text>
          <Shown secret={rotate.data.data.key} />
        </>
      )}
      <Table.ScrollContainer minWidth={640}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Name</Table.Th>
              <Table.Th>Type</Table.Th>
              <Table.Th>Begins with</Table.Th>
              <Table.Th>Scopes</Table.Th>
              <Table.Th>Last used</Table.Th>
              <Table.Th>Ends</Table.Th>
              <Table.Th>Action</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {keys.map((key) => (
              <Table.Tr key={key.id}>
                <Table.Td>{key.name}</Table.Td>
                <Table.Td>{key.type}</Table.Td>
                <Table.Td>
                  <Code>{key.prefix}…</Code>
                </Table.Td>
                <Table.Td>{key.scopes?.join(', ') ?? 'everything'}</Table.Td>
                <Table.Td>{key.lastUsedAt === null ? 'never' : moment(key.lastUsedAt)}</Table.Td>
                <Table.Td>{key.expiresAt === null ? 'never' : moment(key.expiresAt)}</Table.Td>
                <Table.Td>
                  {key.revokedAt === null ? (
                    <Group gap="xs">
                      <Button
                        size="compact-sm"
                        variant="default"
                        aria-label={`Rotate ${key.name}`}
                        onClick={() => rotate.mutate(key.id)}
                      >
                        Rotate
                      </Button>
                      <Revoke of={key} />
                    </Group>
                  ) : (
                    <Text size="sm">revoked</Text>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  );
}

function Revoke({ of: { id, name } }: { of: Key }): ReactNode {
  const [isOpen, { open, close }] = useDisclosure();
  const revoke = useChange(() => api.delete('/v1/keys/{id}', { path: { id } }));
  return (
    <>
      <Button size="compact-sm" variant="default" aria-label={`Revoke ${name}`} onClick={open}>
        Revoke
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={`Revoke “${name}”?`}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <Stack>
          <Text size="sm">Everything that uses it is refused at once. This cannot be undone.</Text>
          <Failed error={revoke.error} />
          <Button
            color="red.9"
            loading={revoke.isPending}
            onClick={() => revoke.mutate(undefined, { onSuccess: close })}
          >
            Revoke the key
          </Button>
        </Stack>
      </Modal>
    </>
  );
}
