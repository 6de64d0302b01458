/** A webhook's deliveries with filters, each with its payload and all attempts. */
import {
  Alert,
  Badge,
  Button,
  Code,
  Group,
  Select,
  Stack,
  Text,
  TextInput,
  Timeline,
  Title,
} from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, useList, useRead, type Schemas } from '../../data.ts';
import { fromLocalTime, moment } from '../../format.ts';
import { useParameters } from '../../location.ts';
import { meaningOf } from './delivery-errors.ts';
import { Empty, Failed, More, Show } from '../../states.tsx';
import { known, t } from '../../texts/texts.ts';

type Delivery = Schemas['Delivery'];
type Choice = { readonly value: string; readonly label: string };

export function Deliveries({ id }: { id: string }): ReactNode {
  const [values, change] = useParameters();
  const { status, event, since, test } = values;
  const deliveries = useList(
    '/v1/webhooks/{id}/deliveries',
    {
      path: { id },
      query: {
        ...(status !== undefined && { status: status as 'failed' }),
        ...(event !== undefined && { event: event as 'content.ready' }),
        ...(test !== undefined && { test: test as 'true' }),
        ...(since !== undefined && { since: fromLocalTime(since) ?? since }),
      },
    },
    { every: 2_000 },
  );
  return (
    <Stack>
      <Title order={2} size="h4">
        {t('Deliveries')}
      </Title>
      <Filters values={values} change={change} />
      <Show of={deliveries}>
        {(data) =>
          data.length === 0 ? (
            <Empty command={`npx reelfeed webhooks trigger content.ready ${id}`}>
              {t('No deliveries. “Send a test” creates one, and so does:')}
            </Empty>
          ) : (
            <Stack gap={4}>
              {data.map((delivery) => (
                <Row key={delivery.id} webhookId={id} delivery={delivery} />
              ))}
            </Stack>
          )
        }
      </Show>
      <More of={deliveries} />
    </Stack>
  );
}

function Filters({
  values: { status, event, since, test },
  change,
}: {
  values: Readonly<Record<string, string>>;
  change: (changes: Readonly<Record<string, string | null>>) => void;
}): ReactNode {
  const kinds = useRead('/v1/webhook-events', {});
  const select = (name: string, label: string, data: readonly Choice[], value?: string) => (
    <Select
      label={label}
      placeholder={t('any')}
      clearable
      w={170}
      data={data}
      value={value ?? null}
      onChange={(to) => change({ [name]: to })}
    />
  );
  return (
    <Group align="end">
      {select(
        'status',
        t('Status'),
        ['pending', 'success', 'failed'].map((value) => ({ value, label: known(value) })),
        status,
      )}
      {select(
        'event',
        t('Event'),
        (kinds.data?.data ?? []).map(({ event: kind }) => ({ value: kind, label: kind })),
        event,
      )}
      {select(
        'test',
        t('Test sends'),
        [
          { value: 'true', label: t('yes') },
          { value: 'false', label: t('no') },
        ],
        test,
      )}
      <TextInput
        type="datetime-local"
        label={t('From')}
        value={since ?? ''}
        onChange={(input) => change({ since: input.currentTarget.value })}
      />
    </Group>
  );
}

function Row({ webhookId, delivery }: { webhookId: string; delivery: Delivery }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { event, status, attempts, statusCode, lastError, createdAt, test } = delivery;
  const outcome = statusCode ?? (lastError === undefined ? undefined : meaningOf(lastError));
  return (
    <details onToggle={(toggled) => setOpen(toggled.currentTarget.open)}>
      <summary style={{ cursor: 'pointer', padding: '6px 0' }}>
        <Badge variant="outline" color={status === 'failed' ? 'red' : 'gray'} tt="none" mr="xs">
          {known(status)}
        </Badge>
        <Text component="span" size="sm">
          {[
            event,
            test === true && t('a test'),
            t('attempts: {attempts}', { attempts }),
            outcome !== undefined && String(outcome),
            moment(createdAt),
          ]
            .filter(Boolean)
            .join(' · ')}
        </Text>
      </summary>
      {isOpen && <Detail webhookId={webhookId} deliveryId={delivery.id} />}
    </details>
  );
}

function Headers({
  title,
  headers,
}: {
  title: string;
  headers: Readonly<Record<string, string>> | null;
}): ReactNode {
  if (headers === null) return null;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <details>
      <summary style={{ cursor: 'pointer' }}>{title}</summary>
      <Code block tabIndex={0}>
        {lines.join('\n')}
      </Code>
    </details>
  );
}

function Detail({ webhookId, deliveryId }: { webhookId: string; deliveryId: string }): ReactNode {
  const path = { webhookId, deliveryId };
  const delivery = useRead(
    '/v1/webhooks/{webhookId}/deliveries/{deliveryId}',
    { path },
    { every: (answer) => (answer?.data.status === 'pending' ? 1_000 : false) },
  );
  const retry = useChange(() =>
    api.post('/v1/webhooks/{webhookId}/deliveries/{deliveryId}/retry', { path }),
  );
  return (
    <Stack gap="xs" p="sm">
      <Show of={delivery}>
        {({ data }) => (
          <>
            <Timeline bulletSize={16} lineWidth={2} active={data.attemptHistory.length}>
              {data.attemptHistory.map((attempt) => (
                <Timeline.Item
                  key={attempt.startedAt}
                  title={`${moment(attempt.startedAt)}: ${attempt.statusCode ?? meaningOf(attempt.error)}`}
                >
                  <Text size="sm">
                    {attempt.responseTime === null
                      ? ''
                      : t('after {responseTime} ms', { responseTime: attempt.responseTime })}
                  </Text>
                  {attempt.response !== null && attempt.response !== '' && (
                    <Code block>{attempt.response}</Code>
                  )}
                  <Headers title={t('Request headers')} headers={attempt.requestHeaders} />
                  <Headers title={t('Response headers')} headers={attempt.responseHeaders} />
                </Timeline.Item>
              ))}
              {data.nextAttemptAt !== undefined && (
                <Timeline.Item
                  title={t('Next attempt: {nextAttemptAt}', {
                    nextAttemptAt: moment(data.nextAttemptAt),
                  })}
                />
              )}
            </Timeline>
            <Text size="sm" fw={700}>
              {t('Payload')}
            </Text>
            <Code block tabIndex={0}>
              {JSON.stringify(data.payload, null, 2)}
            </Code>
            {data.status !== 'pending' && (
              <Button
                size="xs"
                variant="default"
                w="fit-content"
                loading={retry.isPending}
                onClick={() => retry.mutate()}
              >
                {t('Retry')}
              </Button>
            )}
          </>
        )}
      </Show>
      <Failed error={retry.error} />
      {retry.isSuccess && <Alert role="status">{t('It is being sent again.')}</Alert>}
    </Stack>
  );
}
