/** Webhooks: list, and create with the secret shown once. */
import {
  Alert,
  Anchor,
  Badge,
  Button,
  Code,
  Group,
  NativeSelect,
  Stack,
  Table,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api } from '../api.ts';
import { useChange, useList, useRead, type Schemas } from '../data.ts';
import { formText } from '../form-text.ts';
import { moment } from '../format.ts';
import { Copy, Page } from '../page.tsx';
import { Empty, Failed, More, Show } from '../states.tsx';
import { Catalogue } from './webhook-catalogue.tsx';
import {
  DestinationFields,
  destinations,
  OptionFields,
  readDestination,
  readOptions,
  type DestinationType,
  type NewWebhook,
} from './webhook-options.tsx';
import { Receiver } from './webhook-receiver.tsx';

type Webhook = Schemas['Webhook'];

export function WebhooksPage(): ReactNode {
  const webhooks = useList('/v1/webhooks', {});
  return (
    <Page title="Webhooks" curl={{ path: '/v1/webhooks' }}>
      <NewWebhookForm />
      <Catalogue />
      <Show of={webhooks}>
        {(data) =>
          data.length === 0 ? (
            <Empty command="npx reelfeed webhooks listen --forward http://localhost:3000/hook">
              No webhook yet. The form above makes one; this shows events on your own machine:
            </Empty>
          ) : (
            <Webhooks webhooks={data} />
          )
        }
      </Show>
      <More of={webhooks} />
    </Page>
  );
}

function NewWebhookForm(): ReactNode {
  const [events, setEvents] = useState<string[]>(['content.ready']);
  const [type, setType] = useState<DestinationType>('https');
  const [problem, setProblem] = useState<Error | null>(null);
  const kinds = useRead('/v1/webhook-events', {});
  const names = kinds.data?.data.map(({ event }) => event) ?? [];
  const create = useChange((body: NewWebhook) => api.post('/v1/webhooks', { body }));
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = (name: string) => formText(event.currentTarget, name);
    setProblem(null);
    try {
      create.mutate({
        url: text('url'),
        events: events as NewWebhook['events'],
        description: text('description') || null,
        ...readOptions(event.currentTarget),
        ...(type !== 'https' && { destination: readDestination(event.currentTarget, type) }),
      });
    } catch (error) {
      setProblem(error as Error);
    }
  };
  const made = create.data?.data;
  return (
    <Stack>
      <form onSubmit={submit}>
        <Group align="end">
          <TextInput
            name="url"
            label="URL"
            placeholder={destinations[type].url}
            required
            miw={280}
          />
          <TagsInput
            label="Events"
            data={['*', 'content.*', ...names]}
            value={events}
            onChange={setEvents}
            miw={220}
          />
          <TextInput name="description" label="Description" />
          <NativeSelect
            label="Goes to"
            value={type}
            onChange={({ currentTarget }) => setType(currentTarget.value as DestinationType)}
            data={Object.entries(destinations).map(([value, { label }]) => ({ value, label }))}
          />
          <Button type="submit" loading={create.isPending}>
            Create webhook
          </Button>
        </Group>
        <DestinationFields type={type} />
        <details>
          <summary>
            <Text size="sm" component="span">
              Filter, schedule, signature and more
            </Text>
          </summary>
          <OptionFields />
        </details>
      </form>
      <Failed error={problem ?? create.error} />
      {made !== undefined && <MadeSecret secret={made.secret} />}
    </Stack>
  );
}

function MadeSecret({ secret }: { secret: string }): ReactNode {
  return (
    <Alert title="The secret is shown this once: keep it" role="status">
      <Stack gap="xs">
        <Group>
          <Code style={{ overflowWrap: 'anywhere' }}>{secret}</Code>
          <Copy text={secret} label="Copy" />
        </Group>
        <Receiver />
      </Stack>
    </Alert>
  );
}

function Webhooks({ webhooks }: { webhooks: readonly Webhook[] }): ReactNode {
  return (
    <Table.ScrollContainer minWidth={480}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>URL</Table.Th>
            <Table.Th>Events</Table.Th>
            <Table.Th>Health</Table.Th>
            <Table.Th>Description</Table.Th>
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
              <Table.Td>
                <Health webhook={webhook} />
              </Table.Td>
              <Table.Td>{webhook.description}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** How a webhook is, in a word. */
export function Health({ webhook }: { webhook: Webhook }): ReactNode {
  const { status, disabledReason, failingSince } = webhook;
  const isFailing = failingSince !== null || disabledReason === 'failing';
  const word =
    status === 'disabled'
      ? disabledReason === 'failing'
        ? 'disabled: it failed too long'
        : 'disabled'
      : failingSince !== null
        ? `failing since ${moment(failingSince)}`
        : 'healthy';
  return (
    <Badge variant="outline" color={isFailing ? 'red' : 'gray'} tt="none">
      {word}
    </Badge>
  );
}
