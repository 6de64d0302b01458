/** Viewer events that a webhook receives in batches. */
import { Button, Group, Stack, TagsInput, Text, Title } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, useRead, type Schemas } from '../../data.ts';
import { moment, whole } from '../../format.ts';
import { askThen } from '../../questions.tsx';
import { Failed, Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

type Forwarding = Schemas['EventForwarding'];

const suggested = ['*', 'custom.*', 'impression', 'playStart', 'completion', 'like', 'share'];

/** The API forwards to webhooks that subscribe to `events.batch`. */
export function Forwarding({ webhookId }: { webhookId: string }): ReactNode {
  const forwardings = useRead('/v1/event-forwardings', {}, { every: 30_000 });
  return (
    <Stack gap="xs" role="region" aria-label={t('Forwarded events')}>
      <Title order={2} size="h4">
        {t('Forwarded events')}
      </Title>
      <Show of={forwardings}>
        {({ data }) => (
          <Stack gap={4}>
            {data
              .filter((forwarding) => forwarding.webhookId === webhookId)
              .map((forwarding) => (
                <ForwardingLine key={forwarding.id} forwarding={forwarding} />
              ))}
          </Stack>
        )}
      </Show>
      <NewForwarding webhookId={webhookId} />
    </Stack>
  );
}

function NewForwarding({ webhookId }: { webhookId: string }): ReactNode {
  const [kinds, setKinds] = useState<string[]>(['*']);
  const create = useChange(() => api.post('/v1/event-forwardings', { body: { webhookId, kinds } }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Group align="end">
        <TagsInput
          label={t('Kinds of events (*: all)')}
          data={suggested}
          value={kinds}
          onChange={setKinds}
          miw={220}
        />
        <Button
          type="submit"
          variant="default"
          disabled={kinds.length === 0}
          loading={create.isPending}
        >
          {t('Forward from now on')}
        </Button>
      </Group>
      <Failed error={create.error} />
    </form>
  );
}

const stopping = (names: string) => ({
  title: t('Stop forwarding {names}', { names }),
  text: t(
    'Events that have not been sent yet are dropped. A new forwarding begins at its own start.',
  ),
  action: t('Stop forwarding'),
});

function ForwardingLine({
  forwarding: { id, kinds, batches, lagSeconds, createdAt },
}: {
  forwarding: Forwarding;
}): ReactNode {
  const stop = useChange(() => api.delete('/v1/event-forwardings/{id}', { path: { id } }));
  const names = kinds.includes('*') ? 'all events' : kinds.join(', ');
  return (
    <>
      <Group gap="xs">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {t('Forwards {names} since {createdAt}: {batches} batches, {lagSeconds} s behind', {
            names,
            createdAt: moment(createdAt),
            batches: whole(batches),
            lagSeconds: whole(lagSeconds),
          })}
        </Text>
        <Button
          size="compact-sm"
          variant="default"
          aria-label={t('Stop forwarding {names}', { names })}
          loading={stop.isPending}
          onClick={() => askThen(stopping(names), () => stop.mutate())}
        >
          {t('Stop forwarding')}
        </Button>
      </Group>
      <Failed error={stop.error} />
    </>
  );
}
