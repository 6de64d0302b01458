/** Exports: create one, watch it, download it. */
import { Anchor, Button, Group, Select, Table, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api } from '../api.ts';
import { useChange, useList, type Schemas } from '../data.ts';
import { bytes, moment, whole } from '../format.ts';
import { formText } from '../form-text.ts';
import { Page } from '../page.tsx';
import { Empty, Failed, More, Show } from '../states.tsx';

type Export = Schemas['Export'];

const daysAgo = (days: number) =>
  new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

export function ExportsPage(): ReactNode {
  const exports = useList(
    '/v1/exports',
    {},
    { every: (rows) => (rows.some(({ status }) => status === 'processing') ? 1_000 : false) },
  );
  return (
    <Page title="Exports" curl={{ path: '/v1/exports' }}>
      <NewExport />
      <Show of={exports}>
        {(data) =>
          data.length === 0 ? (
            <Empty>No export yet. The form above makes one.</Empty>
          ) : (
            <Exports exports={data} />
          )
        }
      </Show>
      <More of={exports} />
    </Page>
  );
}

function NewExport(): ReactNode {
  const [choice, setChoice] = useState({ dataset: 'events', format: 'csv', compression: 'none' });
  const create = useChange((dates: { startDate: string; endDate: string }) =>
    api.post('/v1/exports', {
      body: {
        ...dates,
        dataset: choice.dataset as Export['dataset'],
        format: choice.format as Export['format'],
        compression: choice.compression as Export['compression'],
      },
    }),
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = (name: string) => formText(event.currentTarget, name);
    create.mutate({ startDate: text('startDate'), endDate: text('endDate') });
  };
  const select = (name: keyof typeof choice, label: string, data: string[]) => (
    <Select
      label={label}
      data={data}
      w={140}
      allowDeselect={false}
      value={choice[name]}
      onChange={(value) => setChoice({ ...choice, [name]: value ?? data[0] })}
    />
  );
  return (
    <form onSubmit={submit}>
      <Group align="end">
        {select('dataset', 'What', ['events', 'content', 'analytics'])}
        <TextInput name="startDate" type="date" label="From" required defaultValue={daysAgo(7)} />
        <TextInput name="endDate" type="date" label="To" required defaultValue={daysAgo(0)} />
        {select('format', 'Format', ['csv', 'ndjson', 'parquet'])}
        {select('compression', 'Compression', ['none', 'gzip'])}
        <Button type="submit" loading={create.isPending}>
          Create export
        </Button>
      </Group>
      <Failed error={create.error} />
    </form>
  );
}

function Exports({ exports }: { exports: readonly Export[] }): ReactNode {
  return (
    <Table.ScrollContainer minWidth={640}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>What</Table.Th>
            <Table.Th>Days</Table.Th>
            <Table.Th>Format</Table.Th>
            <Table.Th>Status</Table.Th>
            <Table.Th>Rows</Table.Th>
            <Table.Th>File</Table.Th>
            <Table.Th>Created</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {exports.map((each) => (
            <Table.Tr key={each.id}>
              <Table.Td>{each.dataset}</Table.Td>
              <Table.Td>{`${each.startDate} to ${each.endDate}`}</Table.Td>
              <Table.Td>{each.format + (each.compression === 'gzip' ? ', gzip' : '')}</Table.Td>
              <Table.Td>{each.error === null ? each.status : `failed: ${each.error}`}</Table.Td>
              <Table.Td>{each.rowCount === null ? '–' : whole(each.rowCount)}</Table.Td>
              <Table.Td>
                {each.downloadUrl === null ? (
                  '–'
                ) : (
                  <Anchor href={each.downloadUrl} underline="always" download>
                    {`Download ${bytes(each.fileSize ?? 0)}`}
                  </Anchor>
                )}
              </Table.Td>
              <Table.Td>{moment(each.createdAt)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
