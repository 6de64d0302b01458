/** Webhooks: list, and create with the secret shown once. */
import {
  Alert,
  Anchor,
  Button,
  Code,
  Group,
  Stack,
  Table,
  TagsInput,
  TextInput,
  Title,
} from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { get, request, type Page } from '../api.ts';
import { formText } from '../form-text.ts';
import { CopyCurl, Empty, Failed, Loading } from '../states.tsx';

export type Webhook = {
  id: string;
  url: string;
  events: string[];
  description: string | null;
  status: string;
};

const kinds = ['content.ready', 'content.errored', 'export.ready', 'bulk_job.complete', '*'];

export function WebhooksPage(): ReactNode {
  const webhooks = useQuery({
    queryKey: ['webhooks'],
    queryFn: () => get<Page<Webhook>>('v1/webhooks?limit=100'),
  });
  return (
    <Stack>
      <Title order={1} size="h2">
        Webhooks
      </Title>
      <NewWebhook />
      {webhooks.isPending && <Loading />}
      {webhooks.isError && <Failed error={webhooks.error} retry={() => void webhooks.refetch()} />}
      {webhooks.data !== undefined && <Webhooks webhooks={webhooks.data.data} />}
      <CopyCurl method="GET" path="v1/webhooks" />
    </Stack>
  );
}

function NewWebhook(): ReactNode {
  const client = useQueryClient();
  const [events, setEvents] = useState<string[]>(['content.ready']);
  const create = useMutation({
    mutationFn: (url: string) =>
      request<{ data: { secret: string } }>('POST', 'v1/webhooks', { url, events }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['webhooks'] }),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    create.mutate(formText(event.currentTarget, 'url'));
  };
  return (
    <Stack>
      <form onSubmit={submit}>
        <Group align="end">
          <TextInput
            name="url"
            label="URL"
            placeholder="https://example.com/hooks"
            required
            miw={280}
          />
          <TagsInput label="Events" data={kinds} value={events} onChange={setEvents} miw={220} />
          <Button type="submit" loading={create.isPending}>
            Create webhook
          </Button>
        </Group>
      </form>
      {create.isError && <Failed error={create.error} />}
      {create.data !== undefined && (
        <Alert title="The secret is shown this once: keep it" role="status">
          <Code>{create.data.data.secret}</Code>
        </Alert>
      )}
    </Stack>
  );
}

function Webhooks({ webhooks }: { webhooks: Webhook[] }): ReactNode {
  if (webhooks.length === 0) return <Empty>No webhook yet. The form above makes one.</Empty>;
  return (
    <Table.ScrollContainer minWidth={480}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>URL</Table.Th>
            <Table.Th>Events</Table.Th>
            <Table.Th>Status</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {webhooks.map((webhook) => (
            <Table.Tr key={webhook.id}>
              <Table.Td>
                <Anchor href={`#/webhooks/${webhook.id}`} underline="always">
                  {webhook.url}
                </Anchor>
              </Table.Td>
              <Table.Td>{webhook.events.join(', ')}</Table.Td>
              <Table.Td>{webhook.status}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
