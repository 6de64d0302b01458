/** Buckets of the organization that events are pushed to. */
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
import { api } from '../api.ts';
import { useChange, useRead, type Schemas } from '../data.ts';
import { moment, whole } from '../format.ts';
import { formText } from '../form-text.ts';
import { Failed, Show } from '../states.tsx';

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
      <Title order={2}>Into your warehouse</Title>
      <Text size="sm">
        Events go to your own bucket as Parquet files, partitioned by day. DuckDB, Athena, BigQuery
        and Snowflake read them there.
      </Text>
      <NewDestination />
      <Show of={destinations}>
        {({ data }) =>
          data.length === 0 ? <Text>No bucket yet.</Text> : <Rows destinations={data} />
        }
      </Show>
    </Stack>
  );
}

function NewDestination(): ReactNode {
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
      { onSuccess: () => form.reset() },
    );
  };
  return (
    <form onSubmit={submit}>
      <Group align="end">
        <TextInput name="bucket" label="Bucket" required />
        <TextInput name="prefix" label="Folder (empty: none)" />
        <TextInput name="region" label="Region" placeholder="us-east-1" />
        <TextInput name="endpoint" label="Endpoint (empty: AWS)" placeholder="https://" />
        <TextInput name="accessKeyId" label="Access key id" required autoComplete="off" />
        <PasswordInput
          name="secretAccessKey"
          label="Secret access key"
          w={220}
          required
          autoComplete="off"
        />
        <Select
          label="Every"
          data={['hour', 'day']}
          w={100}
          allowDeselect={false}
          value={every}
          onChange={(value) => setEvery(value ?? 'hour')}
        />
        <TextInput name="startDate" type="date" label="Received since (empty: now)" />
        <Button type="submit" loading={create.isPending}>
          Add bucket
        </Button>
      </Group>
      <Failed error={create.error} />
    </form>
  );
}

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
              <Table.Th>Bucket</Table.Th>
              <Table.Th>Every</Table.Th>
              <Table.Th>Status</Table.Th>
              <Table.Th>Rows</Table.Th>
              <Table.Th>Last push</Table.Th>
              <Table.Th>Next push</Table.Th>
              <Table.Th>Action</Table.Th>
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
                    aria-label={`Stop pushing to ${each.bucket}`}
                    onClick={() => remove.mutate(each.id)}
                  >
                    Stop
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
