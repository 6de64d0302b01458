/** API keys: list, create (shown once), revoke. */
import {
  Alert,
  Button,
  Code,
  Group,
  Select,
  Stack,
  Table,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { get, request, type Page } from '../api.ts';
import { formText } from '../form-text.ts';
import { CopyCurl, Failed, Loading } from '../states.tsx';

type Key = {
  id: string;
  type: string;
  name: string;
  prefix: string;
  createdAt: string;
  lastUsedAt: string | null;
  revokedAt: string | null;
};

export function KeysPage(): ReactNode {
  const keys = useQuery({
    queryKey: ['keys'],
    queryFn: () => get<Page<Key>>('v1/keys?limit=100'),
  });
  return (
    <Stack>
      <Title order={1} size="h2">
        Keys
      </Title>
      <NewKey />
      {keys.isPending && <Loading />}
      {keys.isError && <Failed error={keys.error} retry={() => void keys.refetch()} />}
      {keys.data !== undefined && <Keys keys={keys.data.data} />}
      <CopyCurl method="GET" path="v1/keys" />
    </Stack>
  );
}

function NewKey(): ReactNode {
  const client = useQueryClient();
  const [type, setType] = useState<string | null>('publishable');
  const create = useMutation({
    mutationFn: (name: string) =>
      request<{ data: Key & { key: string } }>('POST', 'v1/keys', { name, type }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['keys'] }),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    create.mutate(formText(event.currentTarget, 'name'));
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
            onChange={setType}
          />
          <Button type="submit" loading={create.isPending}>
            Create key
          </Button>
        </Group>
      </form>
      {create.isError && <Failed error={create.error} />}
      {create.data !== undefined && (
        <Alert title="The key is shown this once: keep it" role="status">
          <Code>{create.data.data.key}</Code>
        </Alert>
      )}
    </Stack>
  );
}

function Keys({ keys }: { keys: Key[] }): ReactNode {
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: (id: string) => request('DELETE', `v1/keys/${id}`),
    onSuccess: () => client.invalidateQueries({ queryKey: ['keys'] }),
  });
  return (
    <Stack>
      {revoke.isError && <Failed error={revoke.error} />}
      <Table.ScrollContainer minWidth={560}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Name</Table.Th>
              <Table.Th>Type</Table.Th>
              <Table.Th>Begins with</Table.Th>
              <Table.Th>Last used</Table.Th>
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
                <Table.Td>
                  {key.lastUsedAt === null ? 'never' : new Date(key.lastUsedAt).toLocaleString()}
                </Table.Td>
                <Table.Td>
                  {key.revokedAt === null ? (
                    <Button
                      size="compact-sm"
                      variant="default"
                      aria-label={`Revoke ${key.name}`}
                      onClick={() => revoke.mutate(key.id)}
                    >
                      Revoke
                    </Button>
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
