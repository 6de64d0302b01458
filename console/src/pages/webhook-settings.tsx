/** The settings of one webhook, and the link for its customer. */
import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api } from '../api.ts';
import { useChange, type Schemas } from '../data.ts';
import { Copy } from '../page.tsx';
import { Failed } from '../states.tsx';
import { OptionFields, readOptions } from './webhook-options.tsx';

type Webhook = Schemas['Webhook'];
type Options = ReturnType<typeof readOptions>;

export function Settings({ webhook }: { webhook: Webhook }): ReactNode {
  const { id, customer, publicKey } = webhook;
  const [problem, setProblem] = useState<Error | null>(null);
  const save = useChange((body: Options) => api.patch('/v1/webhooks/{id}', { path: { id }, body }));
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setProblem(null);
    try {
      save.mutate(readOptions(event.currentTarget));
    } catch (error) {
      setProblem(error as Error);
    }
  };
  return (
    <Stack gap="xs">
      <details>
        <summary>
          <Text size="sm" component="span">
            Settings
          </Text>
        </summary>
        <form onSubmit={submit}>
          <Stack gap="xs" pt="xs">
            <OptionFields webhook={webhook} />
            <Group>
              <Button type="submit" variant="default" loading={save.isPending}>
                Save the settings
              </Button>
              <Text size="sm" role="status">
                {save.isSuccess && 'Saved.'}
              </Text>
            </Group>
            <Failed error={problem ?? save.error} />
          </Stack>
        </form>
      </details>
      {publicKey !== null && (
        <Group>
          <Text size="sm">Public key</Text>
          <Code style={{ overflowWrap: 'anywhere' }}>{publicKey}</Code>
          <Copy text={publicKey} label="Copy the public key" />
        </Group>
      )}
      {customer !== null && <PortalLink customer={customer} />}
    </Stack>
  );
}

function PortalLink({ customer }: { customer: string }): ReactNode {
  const make = useChange(() => api.post('/v1/webhooks/portal-links', { body: { customer } }));
  const link = make.data?.data;
  return (
    <Stack gap="xs">
      <Button
        variant="default"
        w="fit-content"
        maw="100%"
        loading={make.isPending}
        onClick={() => make.mutate()}
      >
        {`Make a portal link for ${customer.slice(0, 40)}`}
      </Button>
      <Failed error={make.error} />
      {link !== undefined && (
        <Alert title="Whoever has this link may look after the webhooks for an hour" role="status">
          <Group>
            <Code style={{ overflowWrap: 'anywhere' }}>{link.url}</Code>
            <Copy text={link.url} label="Copy the link" />
          </Group>
        </Alert>
      )}
    </Stack>
  );
}
