/** Buckets of the organization to which events are pushed. */
import {
  Button,
  Group,
  PasswordInput,
  Select,
  Stack,
  Table,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, useRead, type Schemas } from '../../data.ts';
import { moment, whole } from '../../format.ts';
import { Opener } from '../../drawer.tsx';
import { formText } from '../../form-text.ts';
import { askThen } from '../../questions.tsx';
import { Empty, Failed, Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

type Destination = Schemas['ExportDestination'];

export function ExportDestinations(): ReactNode {
  const destinations = useRead(
    '/v1/exports/destinations',
    {},
    {
      every: (answer) =>
        answer?.data.some(({ status }) => status === 'pushing') === true ? 2_000 : false,
    },
  );
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {t('Into your warehouse')}
        </Title>
        <Opener label={t('New bucket')}>{(close) => <NewDestination done={close} />}</Opener>
      </Group>
      <Text size="sm">
        {t(
          'Events go to your own bucket as Parquet files, partitioned by day. DuckDB, Athena, BigQuery and Snowflake read them there.',
        )}
      </Text>
      <Show of={destinations}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>{t('No buckets yet. “New bucket” adds one.')}</Empty>
          ) : (
            <Rows destinations={data} />
          )
        }
      </Show>
    </Stack>
  );
}

function NewDestination({ done }: { done: () => void }): ReactNode {
  const [every, setEvery] = useState<Destination['every']>('hour');
  const create = useChange(
    (body: Parameters<typeof api.post<'/v1/exports/destinations'>>[1]['body']) =>
      api.post('/v1/exports/destinations', { body }),
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const text = (name: string) => formText(form, name);
    const given = (name: 'prefix' | 'region' | 'endpoint' | 'startDate') =>
      text(name) === '' ? {} : { [name]: text(name) };
    create.mutate(
      {
        bucket: text('bucket'),
        accessKeyId: text('accessKeyId'),
        secretAccessKey: text('secretAccessKey'),
        every,
        ...given('prefix'),
        ...given('region'),
        ...given('endpoint'),
        ...given('startDate'),
      },
      { onSuccess: done },
    );
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput name="bucket" label={t('Bucket')} required />
        <TextInput name="prefix" label={t('Folder (empty: none)')} />
        <TextInput name="region" label={t('Region')} placeholder="us-east-1" />
        <TextInput name="endpoint" label={t('Endpoint (empty: AWS)')} placeholder="https://" />
        <TextInput name="accessKeyId" label={t('Access key id')} required autoComplete="off" />
        <PasswordInput
          name="secretAccessKey"
          label={t('Secret access key')}
          required
          autoComplete="off"
        />
        <Select
          label={t('Every')}
          data={['hour', 'day']}
          allowDeselect={false}
          value={every}
          onChange={(value) => setEvery(value ?? 'hour')}
        />
        <TextInput name="startDate" type="date" label={t('Received since (empty: now)')} />
        <Failed error={create.error} />
        <Group>
          <Button type="submit" loading={create.isPending}>
            {t('Add bucket')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

const stopping = (bucket: string) => ({
  title: t('Stop pushing to {bucket}', { bucket }),
  text: t('Files in the bucket are kept. The credentials are deleted.'),
  action: t('Stop pushing'),
});

function Rows({ destinations }: { destinations: readonly Destination[] }): ReactNode {
  const remove = useChange((id: string) =>
    api.delete('/v1/exports/destinations/{id}', { path: { id } }),
  );
  return (
    <>
      <Failed error={remove.error} />
      <Table.ScrollContainer minWidth={640}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('Bucket')}</Table.Th>
              <Table.Th>{t('Every')}</Table.Th>
              <Table.Th>{t('Status')}</Table.Th>
              <Table.Th>{t('Rows')}</Table.Th>
              <Table.Th>{t('Last push')}</Table.Th>
              <Table.Th>{t('Next push')}</Table.Th>
              <Table.Th>{t('Action')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {destinations.map((each) => (
              <Table.Tr key={each.id}>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>
                  {each.prefix === '' ? each.bucket : `${each.bucket}/${each.prefix}`}
                </Table.Td>
                <Table.Td>{each.every}</Table.Td>
                <Table.Td>{each.error === null ? each.status : `failing: ${each.error}`}</Table.Td>
                <Table.Td>{whole(each.pushedRows)}</Table.Td>
                <Table.Td>{each.pushedAt === null ? '–' : moment(each.pushedAt)}</Table.Td>
                <Table.Td>{moment(each.nextPushAt)}</Table.Td>
                <Table.Td>
                  <Button
                    size="compact-sm"
                    variant="default"
                    aria-label={t('Stop pushing to {bucket}', { bucket: each.bucket })}
                    onClick={() => askThen(stopping(each.bucket), () => remove.mutate(each.id))}
                  >
                    {t('Stop')}
                  </Button>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </>
  );
}
