/** One viewer: what the service returns for them, and erasing their data. */
import {
  Alert,
  Button,
  Code,
  Group,
  Select,
  Stack,
  Table,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { ReelfeedError } from '@reelfeed/client/session';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, useRead, type Answer } from '../../data.ts';
import { formText } from '../../form-text.ts';
import { moment, whole } from '../../format.ts';
import { useParameters } from '../../location.ts';
import { Page } from '../../page.tsx';
import { askThen } from '../../questions.tsx';
import { Empty, Failed, Show } from '../../states.tsx';
import { SendEvent } from './send-event.tsx';
import { t } from '../../texts/texts.ts';

export function ViewersPage(): ReactNode {
  const [{ userId = '' }, change] = useParameters();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    change({ userId: formText(event.currentTarget, 'userId') });
  };
  return (
    <Page title={t('Viewers')} curl={{ path: '/v1/users/data', query: { userId } }}>
      <form onSubmit={submit}>
        <Group align="end">
          <TextInput
            key={userId}
            name="userId"
            label={t('User id')}
            required
            maxLength={256}
            defaultValue={userId}
          />
          <Button type="submit">{t('Look up')}</Button>
        </Group>
      </form>
      {userId === '' ? (
        <Empty>
          {t(
            'Enter the user id that your app sends with its events to see what this viewer gets, or to erase their data.',
          )}
        </Empty>
      ) : (
        <Viewer key={userId} userId={userId} />
      )}
    </Page>
  );
}

function Viewer({ userId }: { userId: string }): ReactNode {
  return (
    <Stack gap="xl">
      <Configuration userId={userId} />
      <SendEvent userId={userId} />
      <Erasure userId={userId} />
    </Stack>
  );
}

const devices = ['ios', 'android', 'web'] as const;

function Configuration({ userId }: { userId: string }): ReactNode {
  const [country, setCountry] = useState('');
  const [device, setDevice] = useState<(typeof devices)[number] | null>(null);
  const config = useRead('/v1/config', {
    query: {
      userId,
      ...(country.length === 2 && { country: country.toUpperCase() }),
      ...(device !== null && { device }),
    },
  });
  return (
    <Stack gap="xs" role="region" aria-label={t('What this viewer gets')}>
      <Title order={2} size="h4">
        {t('What this viewer gets')}
      </Title>
      <Group align="end">
        <TextInput
          label={t('Country')}
          placeholder={t('any')}
          maxLength={2}
          w={100}
          value={country}
          onChange={(event) => setCountry(event.currentTarget.value)}
        />
        <Select
          label={t('Device')}
          placeholder={t('any')}
          clearable
          w={140}
          data={devices}
          value={device}
          onChange={setDevice}
        />
        <Button
          component="a"
          variant="default"
          href={`#/feed?viewer=${encodeURIComponent(userId)}`}
        >
          {t('Their feed')}
        </Button>
      </Group>
      <Show of={config}>{({ data }) => <Values config={data} />}</Show>
    </Stack>
  );
}

type Config = Answer<'get', '/v1/config'>['data'];

function Values({ config: { settings, flags, experiments } }: { config: Config }): ReactNode {
  const rows = [
    ...Object.entries(settings).map(([name, value]) => ['Setting', name, JSON.stringify(value)]),
    ...Object.entries(flags).map(([name, value]) => ['Flag', name, JSON.stringify(value)]),
    ...experiments.map(({ experimentId, variantId }) => ['Experiment', experimentId, variantId]),
  ];
  if (rows.length === 0) return <Text size="sm">{t('No setting, no flag, no experiment.')}</Text>;
  return (
    <Table.ScrollContainer minWidth={420}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Kind')}</Table.Th>
            <Table.Th>{t('Name')}</Table.Th>
            <Table.Th>{t('Value')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(([kind, name, value]) => (
            <Table.Tr key={`${kind} ${name}`}>
              <Table.Td>{kind}</Table.Td>
              <Table.Td>{name}</Table.Td>
              <Table.Td>
                <Code>{value}</Code>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

const erasing = (userId: string) => ({
  title: t('Erase “{userId}”?', { userId }),
  text: t(
    'The events of this viewer and everything derived from them are permanently removed. Counts stay. Existing backups keep the events until they expire.',
  ),
  action: t('Erase permanently'),
  typed: 'erase',
});

function Erasure({ userId }: { userId: string }): ReactNode {
  const [wasAsked, setAsked] = useState(false);
  const erase = useChange(() => api.delete('/v1/users/data', { query: { userId } }));
  return (
    <Stack gap="xs" role="region" aria-label={t('Erasure')}>
      <Title order={2} size="h4">
        {t('Erasure')}
      </Title>
      <Group>
        <Button
          color="red.9"
          loading={erase.isPending}
          onClick={() =>
            askThen(erasing(userId), () =>
              erase.mutate(undefined, { onSuccess: () => setAsked(true) }),
            )
          }
        >
          {t('Erase this viewer…')}
        </Button>
        {!wasAsked && (
          <Button variant="default" onClick={() => setAsked(true)}>
            {t('Show the last erasure')}
          </Button>
        )}
      </Group>
      <Failed error={erase.error} />
      {wasAsked && <Progress userId={userId} />}
    </Stack>
  );
}

function Progress({ userId }: { userId: string }): ReactNode {
  const erasure = useRead(
    '/v1/users/data',
    { query: { userId } },
    { every: (answer) => (answer?.data.status === 'pending' ? 1_000 : false) },
  );
  const { error } = erasure;
  if (error instanceof ReelfeedError && error.status === 404) {
    return <Text role="status">{t('No erasure of this viewer has been requested.')}</Text>;
  }
  return (
    <Show of={erasure}>
      {({ data }) => (
        <Alert
          role="status"
          color={data.status === 'failed' ? 'red' : data.status === 'complete' ? 'teal' : 'blue'}
          title={
            { pending: 'Erasure under way', complete: 'Erased', failed: 'The erasure failed' }[
              data.status
            ]
          }
        >
          {`Asked for ${moment(data.requestedAt)}` +
            (data.completedAt === null ? '' : `, complete ${moment(data.completedAt)}`) +
            `. ${whole(data.eventsRemoved)} events removed, ${whole(data.blocksRead)} blocks read.`}
        </Alert>
      )}
    </Show>
  );
}
