/** One webhook: its health, a test send, its secret, and its deliveries. */
import {
  Alert,
  Button,
  Code,
  Group,
  Paper,
  SimpleGrid,
  Stack,
  Select,
  Text,
  TextInput,
} from '@mantine/core';
import { useInterval } from '@mantine/hooks';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, useRead, type Answer } from '../../data.ts';
import { fromLocalTime, localTime, moment, whole } from '../../format.ts';
import { formText } from '../../form-text.ts';
import { goTo } from '../../location.ts';
import { Copy, Page } from '../../page.tsx';
import { askThen } from '../../questions.tsx';
import { Failed, Show } from '../../states.tsx';
import { meaningOf } from './delivery-errors.ts';
import { Deliveries } from './deliveries.tsx';
import { Access } from './webhook-access.tsx';
import { WebhookCharts } from './webhook-charts.tsx';
import { Forwarding } from './webhook-forwarding.tsx';
import { Receiver } from './webhook-receiver.tsx';
import { destinations } from './webhook-options.tsx';
import { Settings } from './webhook-settings.tsx';
import { Health } from './webhooks.tsx';
import { t } from '../../texts/texts.ts';

type Webhook = Answer<'get', '/v1/webhooks/{id}'>['data'];
type EventName = Parameters<typeof api.post<'/v1/webhooks/{id}/test'>>[1]['body']['event'];

export function WebhookPage({ id }: { id: string }): ReactNode {
  const webhook = useRead('/v1/webhooks/{id}', { path: { id } }, { every: 5_000 });
  return (
    <Page
      title={webhook.data?.data.url ?? t('Webhook')}
      back={{ to: '/webhooks', label: t('Webhooks') }}
      curl={{ path: `/v1/webhooks/${id}/deliveries` }}
    >
      <Show of={webhook}>{({ data }) => <Content webhook={data} />}</Show>
      <Deliveries id={id} />
    </Page>
  );
}

function Content({ webhook }: { webhook: Webhook }): ReactNode {
  const { stats, events, description, destination, customer } = webhook;
  const facts = [
    [t('Events'), events.join(', ')],
    [t('Deliveries'), whole(stats.totalDeliveries)],
    [t('Failed'), whole(stats.failedDeliveries)],
    [t('Last delivery'), moment(stats.lastDeliveryAt)],
    [t('Goes to'), destinations[destination.type].label],
    [t('Customer'), customer ?? '–'],
  ];
  return (
    <Stack>
      <Group>
        <Health webhook={webhook} />
        {description !== null && <Text size="sm">{description}</Text>}
      </Group>
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }}>
        {facts.map(([name, value]) => (
          <Paper key={name} withBorder p="sm">
            <Text size="sm">{name}</Text>
            <Text fw={700} style={{ overflowWrap: 'anywhere' }}>
              {value}
            </Text>
          </Paper>
        ))}
      </SimpleGrid>
      <Actions webhook={webhook} />
      <WebhookCharts id={webhook.id} />
      <Settings key={webhook.id} webhook={webhook} />
      <Access webhook={webhook} />
      {events.includes('events.batch') && <Forwarding webhookId={webhook.id} />}
      <TestSend id={webhook.id} />
      <Recover webhook={webhook} />
      <Receiver />
    </Stack>
  );
}

function Actions({
  webhook: { id, status, previousSecretExpiresAt },
}: {
  webhook: Webhook;
}): ReactNode {
  const path = { id };
  const next = status === 'active' ? 'disabled' : 'active';
  const toggle = useChange(() => api.patch('/v1/webhooks/{id}', { path, body: { status: next } }));
  const rotate = useChange(() => api.post('/v1/webhooks/{id}/rotate-secret', { path }));
  const remove = useChange(() => api.delete('/v1/webhooks/{id}', { path }));
  return (
    <Stack gap="xs">
      <Group>
        <Button variant="default" loading={toggle.isPending} onClick={() => toggle.mutate()}>
          {status === 'active' ? t('Disable') : t('Enable')}
        </Button>
        <Button
          variant="default"
          loading={rotate.isPending}
          onClick={() => askThen(replacing, () => rotate.mutate())}
        >
          {t('Replace the secret…')}
        </Button>
        <Button
          variant="default"
          loading={remove.isPending}
          onClick={() =>
            askThen(removing, () =>
              remove.mutate(undefined, { onSuccess: () => goTo('/webhooks') }),
            )
          }
        >
          {t('Remove…')}
        </Button>
      </Group>
      <Failed error={toggle.error ?? rotate.error ?? remove.error} />
      {rotate.data !== undefined && <NewSecret secret={rotate.data.data.secret} />}
      {previousSecretExpiresAt !== null && <OldSecret endsAt={previousSecretExpiresAt} />}
    </Stack>
  );
}

const replacing = {
  title: t('Replace the secret?'),
  text: t(
    'Deliveries are signed with the old and the new secret for a while, so that your receiver can switch.',
  ),
  action: t('Replace the secret'),
};
const removing = {
  title: t('Remove the webhook?'),
  text: t('Its deliveries are removed with it. This cannot be undone.'),
  action: t('Remove the webhook'),
};

function NewSecret({ secret }: { secret: string }): ReactNode {
  return (
    <Alert title={t('The new secret is shown only once: store it safely')}>
      <Group>
        <Code style={{ overflowWrap: 'anywhere' }}>{secret}</Code>
        <Copy text={secret} label={t('Copy')} />
      </Group>
    </Alert>
  );
}

/** Remaining validity of the replaced secret, also after the page is reopened. */
function OldSecret({ endsAt }: { endsAt: string }): ReactNode {
  const [now, setNow] = useState(Date.now());
  useInterval(() => setNow(Date.now()), 1_000, { autoInvoke: true });
  const left = Math.max(0, Math.round((Date.parse(endsAt) - now) / 1_000));
  const clock = [Math.floor(left / 3_600), Math.floor(left / 60) % 60, left % 60]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
  return (
    <Text size="sm">
      {left === 0
        ? t('The old secret is no longer valid.')
        : t('The old secret is valid for another {clock}.', { clock })}
    </Text>
  );
}

function TestSend({ id }: { id: string }): ReactNode {
  const [event, setEvent] = useState<EventName>('content.ready');
  const kinds = useRead('/v1/webhook-events', {});
  const send = useChange(() =>
    api.post('/v1/webhooks/{id}/test', { path: { id }, body: { event } }),
  );
  const result = send.data?.data;
  return (
    <Stack gap="xs">
      <Group align="end">
        <Select
          label={t('Made-up event')}
          allowDeselect={false}
          data={kinds.data?.data.map((kind) => kind.event) ?? [event]}
          value={event}
          onChange={(value) => setEvent(value ?? 'content.ready')}
        />
        <Button loading={send.isPending} onClick={() => send.mutate()}>
          {t('Send a test')}
        </Button>
      </Group>
      <Failed error={send.error} />
      {result !== undefined && (
        <Alert color={result.status === 'success' ? 'teal' : 'red'} role="status">
          {t('{value} in {responseTime} ms: {value2}', {
            value: result.status === 'success' ? 'Delivered' : 'Failed',
            responseTime: result.responseTime,
            value2: result.statusCode ?? meaningOf(result.lastError),
          })}
          {result.response !== null && result.response !== '' && (
            <Code block>{result.response}</Code>
          )}
        </Alert>
      )}
    </Stack>
  );
}

/** Resends failed deliveries, or events that the webhook never received, since a given time. */
function Recover({ webhook: { id, failingSince } }: { webhook: Webhook }): ReactNode {
  const path = { id };
  const recover = useChange((since: string) =>
    api.post('/v1/webhooks/{id}/recover', { path, body: { since } }),
  );
  const replay = useChange((since: string) =>
    api.post('/v1/webhooks/{id}/replay', { path, body: { since } }),
  );
  const dayAgo = new Date(Date.now() - 86_400_000).toISOString();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const since = fromLocalTime(formText(event.currentTarget, 'since')) ?? dayAgo;
    const { submitter } = event.nativeEvent as SubmitEvent;
    const isReplay = submitter?.getAttribute('value') === 'replay';
    (isReplay ? replay : recover).mutate(since);
  };
  return (
    <form onSubmit={submit}>
      <Group align="end">
        <TextInput
          name="since"
          type="datetime-local"
          label={t('Since')}
          defaultValue={localTime(failingSince ?? dayAgo)}
        />
        <Button type="submit" value="recover" variant="default" loading={recover.isPending}>
          {t('Resend failed deliveries')}
        </Button>
        <Button type="submit" value="replay" variant="default" loading={replay.isPending}>
          {t('Send missed events')}
        </Button>
      </Group>
      <Failed error={recover.error ?? replay.error} />
      <Text size="sm" role="status">
        {recover.data !== undefined &&
          t('{recovered} deliveries are sent again.', { recovered: recover.data.data.recovered })}
        {replay.data !== undefined &&
          t(' {created} events are sent.', { created: replay.data.data.created })}
      </Text>
    </form>
  );
}
