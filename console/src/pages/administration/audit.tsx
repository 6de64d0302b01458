/** The audit log: who changed what and when, and with which key or as which person. */
import { Code, Group, Table, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useList, type Schemas } from '../../data.ts';
import { moment, words } from '../../format.ts';
import { useParameters } from '../../location.ts';
import { Page } from '../../page.tsx';
import { Empty, More, Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

type Entry = Schemas['AuditEntry'];

const filters = [
  { name: 'action', label: t('Action'), placeholder: 'createKey' },
  { name: 'resourceId', label: t('Resource'), placeholder: t('an id') },
  { name: 'keyId', label: t('Key'), placeholder: t('an id') },
  { name: 'personId', label: t('Person'), placeholder: t('an id') },
];

export function AuditPage(): ReactNode {
  const [values, change] = useParameters();
  const [settled] = useDebouncedValue(values, 300);
  const entries = useList('/v1/audit', { query: settled });
  return (
    <Page title={t('Audit')} curl={{ path: '/v1/audit', query: settled }}>
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
              {t(
                'Nothing matches. Every change by a person, by a key or on the command line is kept here.',
              )}
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
            <Table.Th>{t('When')}</Table.Th>
            <Table.Th>{t('Action')}</Table.Th>
            <Table.Th>{t('Resource')}</Table.Th>
            <Table.Th>{t('By')}</Table.Th>
            <Table.Th>{t('Changes')}</Table.Th>
            <Table.Th>{t('Request')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {entries.map(({ id, recordedAt, action, resourceId, actor, differences, requestId }) => (
            <Table.Tr key={id}>
              <Table.Td>{moment(recordedAt)}</Table.Td>
              <Table.Td>{words(action)}</Table.Td>
              <Table.Td>{resourceId === null ? '–' : <Code>{resourceId}</Code>}</Table.Td>
              <Table.Td>
                {actor.personName ?? actor.keyName ?? words(actor.type)}
                {actor.systemUser !== null && `: ${actor.systemUser}`}
              </Table.Td>
              <Table.Td>
                <Differences of={differences} />
              </Table.Td>
              <Table.Td>{requestId === null ? '–' : <Code>{requestId}</Code>}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** One line per field: `name: "Before" → "After"`. */
function Differences({ of }: { of: Entry['differences'] }): ReactNode {
  if (of === null) return '–';
  return (
    <>
      {of.fields.map(({ field, before, after }) => (
        <Code key={field} display="block" style={{ overflowWrap: 'anywhere' }}>
          {field}: {JSON.stringify(before)} → {JSON.stringify(after)}
        </Code>
      ))}
      {of.omitted > 0 && t('{count} more field|{count} more fields', { count: of.omitted })}
    </>
  );
}
