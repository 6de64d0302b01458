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
import { api } from '../../api.ts';
import { useChange, useList, useRead, type Schemas } from '../../data.ts';
import { Opener } from '../../drawer.tsx';
import type { Filter, Read } from '../../condition-rules.ts';
import { problemText } from '../../conditions.tsx';
import { formText } from '../../form-text.ts';
import { moment } from '../../format.ts';
import { Copy, Page } from '../../page.tsx';
import { Empty, Failed, More, Show } from '../../states.tsx';
import { Catalogue, RecentEvents } from './webhook-catalogue.tsx';
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
import { t } from '../../texts/texts.ts';

type Webhook = Schemas['Webhook'];

export function WebhooksPage(): ReactNode {
  const webhooks = useList('/v1/webhooks', {});
  return (
    <Page
      title={t('Webhooks')}
      about={t('Events of the service, sent to your systems as they happen.')}
      curl={{ path: '/v1/webhooks' }}
      actions={<Opener label={t('New webhook')}>{() => <NewWebhookForm />}</Opener>}
    >
      <Show of={webhooks}>
        {(data) =>
          data.length === 0 ? (
            <Empty command="npx reelfeed webhooks listen --forward http://localhost:3000/hook">
              {t(
                'No webhooks yet. “New webhook” creates one; this shows events on your own machine:',
              )}
            </Empty>
          ) : (
            <Webhooks webhooks={data} />
          )
        }
      </Show>
      <More of={webhooks} />
      <Catalogue />
      <RecentEvents />
    </Page>
  );
}

function NewWebhookForm(): ReactNode {
  const [events, setEvents] = useState<string[]>(['content.ready']);
  const [type, setType] = useState<DestinationType>('https');
  const [problem, setProblem] = useState<Error | null>(null);
  const [filter, setFilter] = useState<Read<Filter | null>>({ value: null });
  const kinds = useRead('/v1/webhook-events', {});
  const names = kinds.data?.data.map(({ event }) => event) ?? [];
  const create = useChange((body: NewWebhook) => api.post('/v1/webhooks', { body }));
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = (name: string) => formText(event.currentTarget, name);
    setProblem(null);
    try {
      if ('problem' in filter) throw new Error(problemText(filter.problem));
      create.mutate({
        url: text('url'),
        events: events as NewWebhook['events'],
        description: text('description') || null,
        ...readOptions(event.currentTarget),
        filter: filter.value,
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
        <Stack>
          <TextInput name="url" label={t('URL')} placeholder={destinations[type].url} required />
          <TagsInput
            label={t('Events')}
            data={['*', 'content.*', ...names]}
            value={events}
            onChange={setEvents}
          />
          <TextInput name="description" label={t('Description')} />
          <NativeSelect
            label={t('Goes to')}
            value={type}
            onChange={({ currentTarget }) => setType(currentTarget.value as DestinationType)}
            data={Object.entries(destinations).map(([value, { label }]) => ({ value, label }))}
          />
          <DestinationFields type={type} />
          <details>
            <summary>
              <Text size="sm" component="span">
                {t('Filter, schedule, signature and more')}
              </Text>
            </summary>
            <OptionFields changeFilter={setFilter} />
          </details>
          <Failed error={problem ?? create.error} />
          <Button type="submit" w="fit-content" loading={create.isPending}>
            {t('Create webhook')}
          </Button>
        </Stack>
      </form>
      {made !== undefined && <MadeSecret secret={made.secret} />}
    </Stack>
  );
}

function MadeSecret({ secret }: { secret: string }): ReactNode {
  return (
    <Alert title={t('The secret is shown only once: store it safely')} role="status">
      <Stack gap="xs">
        <Group>
          <Code style={{ overflowWrap: 'anywhere' }}>{secret}</Code>
          <Copy text={secret} label={t('Copy')} />
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
            <Table.Th>{t('URL')}</Table.Th>
            <Table.Th>{t('Events')}</Table.Th>
            <Table.Th>{t('Health')}</Table.Th>
            <Table.Th>{t('Description')}</Table.Th>
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

/** A webhook's health in one word. */
export function Health({ webhook }: { webhook: Webhook }): ReactNode {
  const { status, disabledReason, failingSince } = webhook;
  const isFailing = failingSince !== null || disabledReason === 'failing';
  const word =
    status === 'disabled'
      ? disabledReason === 'failing'
        ? 'disabled: it failed for too long'
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
