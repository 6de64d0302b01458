/** API keys: list, create (shown once), rotate, revoke. */
import {
  Anchor,
  Button,
  Code,
  Group,
  MultiSelect,
  Select,
  Stack,
  Table,
  Text,
  TextInput,
} from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, useList, type ItemOf } from '../../data.ts';
import { Opener } from '../../drawer.tsx';
import { fromLocalTime, moment, whole } from '../../format.ts';
import { formText } from '../../form-text.ts';
import { Page } from '../../page.tsx';
import { askThen } from '../../questions.tsx';
import { Empty, Failed, More, Show } from '../../states.tsx';
import { rotating, Shown } from './new-secret.tsx';
import { ViewerKeys } from './viewer-keys.tsx';
import { t } from '../../texts/texts.ts';

type Key = ItemOf<'/v1/keys'>;
type NewKey = Parameters<typeof api.post<'/v1/keys'>>[1]['body'];

const areas = [
  'analytics',
  'audit',
  'content',
  'events',
  'experiments',
  'feed',
  'keys',
  'live',
  'organization',
  'settings',
  'webhooks',
];
const scopes = areas.flatMap((area) => [`${area}:read`, `${area}:write`]);

export function KeysPage(): ReactNode {
  const keys = useList('/v1/keys', {});
  return (
    <Page
      title={t('Keys')}
      about={t('Public keys are for apps and pages, secret keys for servers.')}
      curl={{ path: '/v1/keys' }}
      actions={<Opener label={t('New key')}>{() => <NewKeyForm />}</Opener>}
    >
      <Show of={keys}>
        {(data) => (data.length === 0 ? <Empty>{t('No keys yet.')}</Empty> : <Keys keys={data} />)}
      </Show>
      <More of={keys} />
      <ViewerKeys />
    </Page>
  );
}

function NewKeyForm(): ReactNode {
  const [type, setType] = useState<Key['type']>('publishable');
  const [chosen, setChosen] = useState<string[]>([]);
  const create = useChange((body: NewKey) => api.post('/v1/keys', { body }));
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    create.mutate({
      type,
      name: formText(event.currentTarget, 'name'),
      expiresAt: fromLocalTime(formText(event.currentTarget, 'expiresAt')),
      rateLimit: Number(formText(event.currentTarget, 'rateLimit')) || null,
      ...(chosen.length > 0 && { scopes: chosen as NonNullable<NewKey['scopes']> }),
    });
  };
  return (
    <Stack>
      <form onSubmit={submit}>
        <Stack>
          <TextInput name="name" label={t('Name')} required maxLength={200} />
          <Select
            label={t('Type')}
            data={['publishable', 'secret']}
            allowDeselect={false}
            value={type}
            onChange={(value) => setType(value ?? 'publishable')}
          />
          <MultiSelect
            label={t('Scopes')}
            placeholder={chosen.length === 0 ? 'everything' : ''}
            data={scopes}
            value={chosen}
            onChange={setChosen}
          />
          <TextInput name="expiresAt" type="datetime-local" label={t('Ends (empty: never)')} />
          <TextInput
            name="rateLimit"
            type="number"
            min={1}
            max={10_000_000}
            label={t('Requests per minute (empty: unlimited)')}
          />
          <Button type="submit" w="fit-content" loading={create.isPending}>
            {t('Create key')}
          </Button>
        </Stack>
      </form>
      <Failed error={create.error} />
      {create.data !== undefined && <Shown secret={create.data.data.key} />}
    </Stack>
  );
}

function Keys({ keys }: { keys: readonly Key[] }): ReactNode {
  const rotate = useChange((id: string) =>
    api.post('/v1/keys/{id}/rotate', { path: { id }, body: { gracePeriod: 3_600 } }),
  );
  return (
    <Stack>
      <Failed error={rotate.error} />
      {rotate.data !== undefined && (
        <>
          <Text size="sm">{t('The old key keeps working for an hour.')}</Text>
          <Shown secret={rotate.data.data.key} />
        </>
      )}
      <Table.ScrollContainer minWidth={640}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('Name')}</Table.Th>
              <Table.Th>{t('Type')}</Table.Th>
              <Table.Th>{t('Begins with')}</Table.Th>
              <Table.Th>{t('Scopes')}</Table.Th>
              <Table.Th>{t('A minute')}</Table.Th>
              <Table.Th>{t('Last used')}</Table.Th>
              <Table.Th>{t('Ends')}</Table.Th>
              <Table.Th>{t('Action')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {keys.map((key) => (
              <Table.Tr key={key.id}>
                <Table.Td>
                  <Anchor href={`#/keys/${key.id}`} underline="always">
                    {key.name}
                  </Anchor>
                </Table.Td>
                <Table.Td>{key.type}</Table.Td>
                <Table.Td>
                  <Code>{key.prefix}…</Code>
                </Table.Td>
                <Table.Td>{key.scopes?.join(', ') ?? 'everything'}</Table.Td>
                <Table.Td>{key.rateLimit === null ? 'any' : whole(key.rateLimit)}</Table.Td>
                <Table.Td>{key.lastUsedAt === null ? 'never' : moment(key.lastUsedAt)}</Table.Td>
                <Table.Td>{key.expiresAt === null ? 'never' : moment(key.expiresAt)}</Table.Td>
                <Table.Td>
                  {key.revokedAt === null ? (
                    <Group gap="xs">
                      <Button
                        size="compact-sm"
                        variant="default"
                        aria-label={t('Rotate {name}', { name: key.name })}
                        onClick={() => askThen(rotating(key.name), () => rotate.mutate(key.id))}
                      >
                        {t('Rotate')}
                      </Button>
                      <Revoke of={key} />
                    </Group>
                  ) : (
                    <Text size="sm">{t('revoked')}</Text>
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

function Revoke({ of: { id, name } }: { of: Key }): ReactNode {
  const revoke = useChange(() => api.delete('/v1/keys/{id}', { path: { id } }));
  const question = {
    title: t('Revoke “{name}”?', { name }),
    text: t('Requests with it are rejected immediately. This cannot be undone.'),
    action: t('Revoke the key'),
  };
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={t('Revoke {name}', { name })}
        loading={revoke.isPending}
        onClick={() => askThen(question, () => revoke.mutate())}
      >
        {t('Revoke')}
      </Button>
      <Failed error={revoke.error} />
    </>
  );
}
