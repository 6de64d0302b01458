/** The settings of one webhook, and the link for its customer. */
import { Code, Group, SimpleGrid, Stack, TagsInput, Text, TextInput } from '@mantine/core';
import { useRef, useState, type ReactNode } from 'react';
import { api } from '../../api.ts';
import type { Filter, Problem, Read } from '../../condition-rules.ts';
import { problemText } from '../../conditions.tsx';
import { useRead, type Schemas } from '../../data.ts';
import { DraftForm, useDraft, type Draft } from '../../draft.tsx';
import { Copy } from '../../page.tsx';
import { PortalLinks } from './webhook-portal.tsx';
import { Failed } from '../../states.tsx';
import { OptionFields, readOptions } from './webhook-options.tsx';
import { t } from '../../texts/texts.ts';

type Webhook = Schemas['Webhook'];
type Body = NonNullable<Parameters<typeof api.patch<'/v1/webhooks/{id}'>>[1]['body']>;
/** The form's fields; secrets are set elsewhere. */
type Fields = ReturnType<typeof readOptions> &
  Pick<Webhook, 'url' | 'events' | 'description' | 'rateLimit'> & { filter: Filter | null };

const labels: Partial<Record<keyof Fields, string>> = {
  url: 'URL',
  events: 'Events',
  description: t('Description'),
  rateLimit: 'Sends per second',
  filter: 'Filter',
  retrySchedule: 'Attempts after seconds',
  timeout: 'Time-out',
  orderedBy: 'Order',
  signature: 'Signature',
  payloadVersion: 'Payload version',
  rotationOverlap: 'A replaced secret is valid for',
  customer: 'Customer',
  notify: 'Mail addresses',
};

const fieldsOf = (webhook: Webhook): Fields => ({
  url: webhook.url,
  events: webhook.events,
  description: webhook.description,
  rateLimit: webhook.rateLimit,
  filter: webhook.filter,
  retrySchedule: webhook.retrySchedule,
  timeout: webhook.timeout,
  payloadVersion: webhook.payloadVersion === 2 ? 2 : 1,
  rotationOverlap: webhook.rotationOverlap,
  orderedBy: webhook.orderedBy,
  signature: webhook.signature,
  customer: webhook.customer,
  notify: webhook.notify,
});

export function Settings({ webhook }: { webhook: Webhook }): ReactNode {
  const { id, customer, publicKey } = webhook;
  return (
    <Stack gap="xs">
      <details>
        <summary>
          <Text size="sm" component="span">
            {t('Settings')}
          </Text>
        </summary>
        <Form webhook={webhook} />
      </details>
      {publicKey !== null && (
        <Group>
          <Text size="sm">{t('Public key')}</Text>
          <Code style={{ overflowWrap: 'anywhere' }}>{publicKey}</Code>
          <Copy text={publicKey} label={t('Copy the public key')} />
        </Group>
      )}
      {customer !== null && <PortalLinks key={id} customer={customer} />}
    </Stack>
  );
}

function Form({ webhook }: { webhook: Webhook }): ReactNode {
  const { id } = webhook;
  const options = useRef<HTMLDivElement>(null);
  const [problem, setProblem] = useState<Error | null>(null);
  const [filterProblem, setFilterProblem] = useState<Problem | null>(null);
  const draft = useDraft<Fields>({
    stored: { values: fieldsOf(webhook), tag: null },
    read: async () => {
      const { data } = await api.get('/v1/webhooks/{id}', { path: { id } });
      return { values: fieldsOf(data), tag: null };
    },
    write: (changes) => api.patch('/v1/webhooks/{id}', { path: { id }, body: changes as Body }),
  });
  const readForm = () => {
    const form = options.current?.closest('form');
    if (form === null || form === undefined) return;
    try {
      draft.change(readOptions(form));
      setProblem(null);
    } catch (error) {
      setProblem(error as Error);
    }
  };
  const changeFilter = (read: Read<Filter | null>) => {
    setFilterProblem('problem' in read ? read.problem : null);
    if ('value' in read) draft.change({ filter: read.value });
  };
  return (
    <DraftForm
      draft={draft}
      labels={labels}
      label={t('Save the settings')}
      isDisabled={problem !== null || filterProblem !== null}
    >
      <MainFields draft={draft} />
      <div key={draft.generation} ref={options} onChange={readForm}>
        <OptionFields webhook={webhook} changeFilter={changeFilter} />
      </div>
      {filterProblem !== null && (
        <Text size="sm" role="status">
          {problemText(filterProblem)}
        </Text>
      )}
      <Failed error={problem} />
    </DraftForm>
  );
}

function MainFields({ draft }: { draft: Draft<Fields> }): ReactNode {
  const kinds = useRead('/v1/webhook-events', {});
  const { url, events, description, rateLimit } = draft.values;
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} pt="xs">
      <TextInput
        label={t('URL')}
        required
        value={url}
        onChange={(event) => draft.change({ url: event.currentTarget.value })}
      />
      <TagsInput
        label={t('Events')}
        data={['*', 'content.*', ...(kinds.data?.data.map(({ event }) => event) ?? [])]}
        value={[...events]}
        onChange={(value) => draft.change({ events: value })}
      />
      <TextInput
        label={t('Description')}
        value={description ?? ''}
        onChange={(event) => draft.change({ description: event.currentTarget.value || null })}
      />
      <TextInput
        label={t('Sends per second (empty: unlimited)')}
        type="number"
        min={1}
        max={10_000}
        value={rateLimit ?? ''}
        onChange={(event) => draft.change({ rateLimit: Number(event.currentTarget.value) || null })}
      />
    </SimpleGrid>
  );
}
