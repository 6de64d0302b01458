/** Who changed what, when, and with which key. */
import { Code, Group, Table, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useList, type Schemas } from '../data.ts';
import { moment, words } from '../format.ts';
import { useParameters } from '../location.ts';
import { Page } from '../page.tsx';
import { Empty, More, Show } from '../states.tsx';

type Entry = Schemas['AuditEntry'];

const filters = [
  { name: 'action', label: 'Action', placeholder: 'createKey' },
  { name: 'resourceId', label: 'Resource', placeholder: 'an id' },
  { name: 'keyId', label: 'Key', placeholder: 'an id' },
];

export function AuditPage(): ReactNode {
  const [values, change] = useParameters();
  const [settled] = useDebouncedValue(values, 300);
  const entries = useList('/v1/audit', { query: settled });
  return (
    <Page title="Audit" curl={{ path: '/v1/audit', query: settled }}>
      <Group align="end">
        {filters.map(({ name, label, placeholder }) => (
          <TextInput
            key={name}
            label={label}
            placeholder={placeholder}
            value={values[name] ?? ''}
            onChange={(event) => change({ [name]: event.currentTarget.value })}
          />
        ))}
      </Group>
      <Show of={entries}>
        {(data) =>
          data.length === 0 ? (
            <Empty>
              Nothing matches. Every change by a key or on the command line is kept here.
            </Empty>
          ) : (
            <Entries entries={data} />
          )
        }
      </Show>
      <More of={entries} />
    </Page>
  );
}

function Entries({ entries }: { entries: readonly Entry[] }): ReactNode {
  return (
    <Table.ScrollContainer minWidth={640}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>When</Table.Th>
            <Table.Th>Action</Table.Th>
            <Table.Th>Resource</Table.Th>
            <Table.Th>By</Table.Th>
            <Table.Th>Request</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {entries.map(({ id, recordedAt, action, resourceId, actor, requestId }) => (
            <Table.Tr key={id}>
              <Table.Td>{moment(recordedAt)}</Table.Td>
              <Table.Td>{words(action)}</Table.Td>
              <Table.Td>{resourceId === null ? '–' : <Code>{resourceId}</Code>}</Table.Td>
              <Table.Td>{actor.keyName ?? words(actor.type)}</Table.Td>
              <Table.Td>{requestId === null ? '–' : <Code>{requestId}</Code>}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
