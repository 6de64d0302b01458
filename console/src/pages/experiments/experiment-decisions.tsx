/** Decisions about an experiment, with an option to add notes. */
import { Button, Group, Stack, Table, TextInput, Title } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, useList, type ItemOf } from '../../data.ts';
import { moment, words } from '../../format.ts';
import { Failed, More, Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

type Decision = ItemOf<'/v1/experiments/{id}/decisions'>;

export function Decisions({ id }: { id: string }): ReactNode {
  const decisions = useList('/v1/experiments/{id}/decisions', { path: { id } });
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        {t('Decisions')}
      </Title>
      <NewNote id={id} />
      <Show of={decisions}>{(rows) => <Log decisions={rows} />}</Show>
      <More of={decisions} />
    </Stack>
  );
}

function NewNote({ id }: { id: string }): ReactNode {
  const [note, setNote] = useState('');
  const add = useChange(() =>
    api.post('/v1/experiments/{id}/decisions', { path: { id }, body: { note: note.trim() } }),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate(undefined, { onSuccess: () => setNote('') });
  };
  return (
    <form onSubmit={submit}>
      <Group align="flex-end">
        <TextInput
          label={t('Note')}
          flex={1}
          maw={600}
          maxLength={2_000}
          value={note}
          onChange={(event) => setNote(event.currentTarget.value)}
        />
        <Button
          type="submit"
          variant="default"
          disabled={note.trim() === ''}
          loading={add.isPending}
        >
          {t('Add the note')}
        </Button>
      </Group>
      <Failed error={add.error} />
    </form>
  );
}

function Log({ decisions }: { decisions: readonly Decision[] }): ReactNode {
  return (
    <Table.ScrollContainer minWidth={480}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('When')}</Table.Th>
            <Table.Th>{t('Decision')}</Table.Th>
            <Table.Th>{t('By')}</Table.Th>
            <Table.Th>{t('Note')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {decisions.map((decision, index) => (
            <Table.Tr key={decisions.length - index}>
              <Table.Td>{moment(decision.decidedAt)}</Table.Td>
              <Table.Td>{sentenceOf(decision)}</Table.Td>
              <Table.Td>
                {decision.by === null ? t('the service') : (decision.by.name ?? '–')}
              </Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{decision.note ?? ''}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function sentenceOf({ action, changes }: Decision): string {
  const what = Object.entries(changes ?? {})
    .filter(([, value]) => value !== null)
    .map(
      ([name, value]) =>
        `${words(name).toLowerCase()} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
    );
  return [words(action), ...(what.length > 0 ? [what.join(', ')] : [])].join(': ');
}
