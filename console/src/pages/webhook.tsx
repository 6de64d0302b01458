/** One webhook: on and off, a test delivery, and its deliveries with retry. */
import { Anchor, Button, Code, Group, Select, Stack, Table, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { get, request, withQuery, type Page } from '../api.ts';
import { setQuery, useLocation } from '../location.ts';
import { CopyCurl, Empty, Failed, Loading } from '../states.tsx';
import type { Webhook } from './webhooks.tsx';

type Delivery = {
  id: string;
  event: string;
  status: string;
  attempts: number;
  statusCode?: number;
  lastError?: string;
  response?: string;
  payload: unknown;
  createdAt: string;
  nextAttemptAt?: string;
};

export function WebhookPage({ id }: { id: string }): ReactNode {
  const path = `v1/webhooks/${id}`;
  const client = useQueryClient();
  const webhook = useQuery({
    queryKey: ['webhook', id],
    queryFn: () => get<{ data: Webhook }>(path),
  });
  const act = useMutation({
    mutationFn: ({ method, to, body }: { method: string; to: string; body?: unknown }) =>
      request(method, to, body),
    onSuccess: () => client.invalidateQueries(),
  });
  if (webhook.isPending) return <Loading />;
  if (webhook.isError) return <Failed error={webhook.error} />;
  const { url, status } = webhook.data.data;
  const body = { status: status === 'active' ? 'disabled' : 'active' };
  return (
    <Stack>
      <Anchor href="#/webhooks" underline="always">
        Webhooks
      </Anchor>
      <Title order={1} size="h3">
        {url}
      </Title>
      <Group>
        <Button
          onClick={() =>
            act.mutate({ method: 'POST', to: `${path}/test`, body: { event: 'content.ready' } })
          }
        >
          Send a test
        </Button>
        <Button variant="default" onClick={() => act.mutate({ method: 'PATCH', to: path, body })}>
          {status === 'active' ? 'Disable' : 'Enable'}
        </Button>
      </Group>
      {act.isError && <Failed error={act.error} />}
      <Deliveries
        id={id}
        onRetry={(delivery) =>
          act.mutate({ method: 'POST', to: `${path}/deliveries/${delivery}/retry` })
        }
      />
      <CopyCurl method="GET" path={`${path}/deliveries`} />
    </Stack>
  );
}

function Deliveries({ id, onRetry }: { id: string; onRetry: (id: string) => void }): ReactNode {
  const { query } = useLocation();
  const status = query.get('status') ?? '';
  const path = withQuery(`v1/webhooks/${id}/deliveries`, { limit: '50', status });
  const deliveries = useQuery({
    queryKey: ['deliveries', path],
    queryFn: () => get<Page<Delivery>>(path),
    refetchInterval: 2_000,
  });
  return (
    <Stack>
      <Select
        label="Status"
        placeholder="any"
        clearable
        w={180}
        data={['pending', 'success', 'failed']}
        value={status === '' ? null : status}
        onChange={(value) => setQuery(`/webhooks/${id}`, { status: value ?? '' })}
      />
      {deliveries.isPending && <Loading />}
      {deliveries.isError && <Failed error={deliveries.error} />}
      {deliveries.data?.data.length === 0 && (
        <Empty>No delivery yet. “Send a test” makes one.</Empty>
      )}
      {deliveries.data?.data.map((delivery) => (
        <DeliveryRow key={delivery.id} delivery={delivery} onRetry={onRetry} />
      ))}
    </Stack>
  );
}

function DeliveryRow({
  delivery,
  onRetry,
}: {
  delivery: Delivery;
  onRetry: (id: string) => void;
}): ReactNode {
  const { id, event, status, attempts, statusCode, lastError, response, payload } = delivery;
  const outcome = statusCode ?? lastError;
  return (
    <details>
      <summary>
        <Text component="span" size="sm">
          {`${event} · ${status} · attempts: ${attempts}`}
          {outcome !== undefined && ` · ${outcome}`}
          {` · ${new Date(delivery.createdAt).toLocaleString()}`}
        </Text>
      </summary>
      <Table>
        <Table.Tbody>
          <Table.Tr>
            <Table.Th scope="row">Payload</Table.Th>
            <Table.Td>
              <Code block>{JSON.stringify(payload, null, 2)}</Code>
            </Table.Td>
          </Table.Tr>
          {response !== undefined && (
            <Table.Tr>
              <Table.Th scope="row">Response</Table.Th>
              <Table.Td>
                <Code block>{response}</Code>
              </Table.Td>
            </Table.Tr>
          )}
        </Table.Tbody>
      </Table>
      {status !== 'pending' && (
        <Button size="xs" variant="default" onClick={() => onRetry(id)}>
          Retry
        </Button>
      )}
    </details>
  );
}
