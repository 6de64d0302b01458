/** Settings and flags: the values that every viewer gets unless an experiment says otherwise. */
import { Button, Code, Group, Stack, Table, TextInput, Title } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api } from '../api.ts';
import { useChange, useList } from '../data.ts';
import { moment } from '../format.ts';
import { CopyCurl, Page } from '../page.tsx';
import { Empty, Failed, More, Show } from '../states.tsx';

type Kind = 'settings' | 'flags';
type Value = { key: string; value: unknown; updatedAt: string };

export function SettingsPage(): ReactNode {
  const settings = useList('/v1/settings', {});
  const flags = useList('/v1/flags', {});
  return (
    <Page title="Settings and flags" curl={{ path: '/v1/config' }}>
      <Show of={settings}>{(data) => <Values kind="settings" values={data} />}</Show>
      <More of={settings} />
      <Show of={flags}>{(data) => <Values kind="flags" values={data} />}</Show>
      <More of={flags} />
    </Page>
  );
}

function Values({ kind, values }: { kind: Kind; values: readonly Value[] }): ReactNode {
  const [edited, setEdited] = useState<Value | null>(null);
  const remove = useChange((key: string) =>
    kind === 'settings'
      ? api.delete('/v1/settings/{key}', { path: { key } })
      : api.delete('/v1/flags/{key}', { path: { key } }),
  );
  return (
    <Stack gap="xs">
      <Title order={2} size="h3">
        {kind === 'settings' ? 'Settings' : 'Flags'}
      </Title>
      <Editor
        key={edited === null ? '' : edited.key}
        kind={kind}
        edited={edited}
        onSaved={() => setEdited(null)}
      />
      <Failed error={remove.error} />
      {values.length === 0 ? (
        <Empty>
          {kind === 'settings' ? 'No setting yet.' : 'No flag yet.'} The form above makes one.
        </Empty>
      ) : (
        <Table.ScrollContainer minWidth={480}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Name</Table.Th>
                <Table.Th>Value</Table.Th>
                <Table.Th>Changed</Table.Th>
                <Table.Th>Action</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {values.map((value) => (
                <Row
                  key={value.key}
                  kind={kind}
                  value={value}
                  onEdit={() => setEdited(value)}
                  onRemove={() => remove.mutate(value.key)}
                />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Stack>
  );
}

function Row({
  kind,
  value,
  onEdit,
  onRemove,
}: {
  kind: Kind;
  value: Value;
  onEdit: () => void;
  onRemove: () => void;
}): ReactNode {
  return (
    <Table.Tr>
      <Table.Td>{value.key}</Table.Td>
      <Table.Td>
        <Code>{JSON.stringify(value.value)}</Code>
      </Table.Td>
      <Table.Td>{moment(value.updatedAt)}</Table.Td>
      <Table.Td>
        <Group gap="xs">
          {typeof value.value === 'boolean' && (
            <Toggle kind={kind} name={value.key} value={value.value} />
          )}
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Edit ${value.key}`}
            onClick={onEdit}
          >
            Edit
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Remove ${value.key}`}
            onClick={onRemove}
          >
            Remove
          </Button>
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

function useSave(kind: Kind) {
  return useChange(({ key, value }: { key: string; value: unknown }) => {
    // The types of JSON are checked by the service.
    const call = { path: { key }, body: { value: value as string } };
    return kind === 'settings'
      ? api.put('/v1/settings/{key}', call)
      : api.put('/v1/flags/{key}', call);
  });
}

function Toggle({ kind, name, value }: { kind: Kind; name: string; value: boolean }): ReactNode {
  const save = useSave(kind);
  return (
    <Button
      size="compact-sm"
      aria-label={`Turn ${value ? 'off' : 'on'} ${name}`}
      loading={save.isPending}
      onClick={() => save.mutate({ key: name, value: !value })}
    >
      {value ? 'Turn off' : 'Turn on'}
    </Button>
  );
}

function Editor({
  kind,
  edited,
  onSaved,
}: {
  kind: Kind;
  edited: Value | null;
  onSaved: () => void;
}): ReactNode {
  const [key, setKey] = useState(edited?.key ?? '');
  const [text, setText] = useState(edited === null ? '' : JSON.stringify(edited.value));
  const save = useSave(kind);
  const noun = kind === 'settings' ? 'setting' : 'flag';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(
      { key: key.trim(), value: valueOf(text) },
      {
        onSuccess: () => {
          setKey('');
          setText('');
          onSaved();
        },
      },
    );
  };
  return (
    <form onSubmit={submit}>
      <Group align="end">
        <TextInput
          label={`Name of the ${noun}`}
          placeholder={kind === 'settings' ? 'player.preload' : 'new-player'}
          required
          pattern="[A-Za-z0-9_\-]+(\.[A-Za-z0-9_\-]+)*"
          disabled={edited !== null}
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
        />
        <TextInput
          label={`Value of the ${noun}`}
          placeholder={kind === 'settings' ? '3, true or a text' : 'true, or any JSON'}
          required
          miw={260}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Group>
          <Button type="submit" loading={save.isPending}>
            {`Save ${noun}`}
          </Button>
          <CopyCurl
            method="PUT"
            path={`/v1/${kind}/${key.trim() || 'name'}`}
            body={{ value: valueOf(text) }}
          />
        </Group>
      </Group>
      <Failed error={save.error} />
    </form>
  );
}

/** JSON where it is some, else the text itself. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
