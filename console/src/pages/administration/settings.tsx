/** Settings and flags: the values for every viewer who is not in an experiment on them. */
import { Button, Code, Group, Stack, Table, Text, Textarea, TextInput, Title } from '@mantine/core';
import { useState, useSyncExternalStore, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, useList } from '../../data.ts';
import { FormDrawer, OpenButton } from '../../drawer.tsx';
import { moment } from '../../format.ts';
import { CopyCurl, Page } from '../../page.tsx';
import { ask, askThen } from '../../questions.tsx';
import { Empty, Failed, More, Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

type Kind = 'settings' | 'flags';
type Value = { key: string; value: unknown; updatedAt: string };

export function SettingsPage(): ReactNode {
  const settings = useList('/v1/settings', {});
  const flags = useList('/v1/flags', {});
  return (
    <Page title={t('Settings and flags')} curl={{ path: '/v1/config' }}>
      <Show of={settings}>{(data) => <Values kind="settings" values={data} />}</Show>
      <More of={settings} />
      <Show of={flags}>{(data) => <Values kind="flags" values={data} />}</Show>
      <More of={flags} />
    </Page>
  );
}

function Values({ kind, values }: { kind: Kind; values: readonly Value[] }): ReactNode {
  /** The value in the drawer, 'new', or null while the drawer is closed. */
  const [edited, setEdited] = useState<Value | 'new' | null>(null);
  const remove = useChange((key: string) => drop(kind, key));
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Title order={2} size="h3">
          {kind === 'settings' ? t('Settings') : t('Flags')}
        </Title>
        <OpenButton
          label={kind === 'settings' ? t('New setting') : t('New flag')}
          open={() => setEdited('new')}
        />
      </Group>
      {edited !== null && (
        <Editor
          kind={kind}
          edited={edited === 'new' ? null : edited}
          close={() => setEdited(null)}
        />
      )}
      <Undo kind={kind} />
      <Failed error={remove.error} />
      {values.length === 0 ? (
        <Empty>
          {kind === 'settings'
            ? t('No settings yet. Apps read settings with their feed. “New setting” creates one.')
            : t('No flags yet. A flag turns a part of an app on or off. “New flag” creates one.')}
        </Empty>
      ) : (
        <Table.ScrollContainer minWidth={480}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('Name')}</Table.Th>
                <Table.Th>{t('Value')}</Table.Th>
                <Table.Th>{t('Changed')}</Table.Th>
                <Table.Th>{t('Action')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {values.map((value) => (
                <Row
                  key={value.key}
                  kind={kind}
                  value={value}
                  onEdit={() => setEdited(value)}
                  onRemove={() =>
                    askThen(
                      {
                        title: t('Remove “{key}”?', { key: value.key }),
                        text: t('Apps immediately behave as they do without it.'),
                        action: t('Remove the {value}', {
                          value: kind === 'settings' ? 'setting' : 'flag',
                        }),
                      },
                      () => remove.mutate(value.key),
                    )
                  }
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
          {typeof value.value === 'boolean' && <Toggle kind={kind} of={value} />}
          <Button
            size="compact-sm"
            variant="default"
            aria-label={t('Edit {key}', { key: value.key })}
            onClick={onEdit}
          >
            {t('Edit')}
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            aria-label={t('Remove {key}', { key: value.key })}
            onClick={onRemove}
          >
            {t('Remove')}
          </Button>
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

type Write = { key: string; value: unknown; before: Value | null };

/** The last change, for undo. */
let lastWrite: (Write & { kind: Kind }) | null = null;
const writes = new Set<() => void>();

function noteWrite(write: (Write & { kind: Kind }) | null): void {
  lastWrite = write;
  for (const listener of writes) listener();
}

const put = (kind: Kind, key: string, value: unknown) => {
  // The service checks the JSON types.
  const call = { path: { key }, body: { value: value as string } };
  return kind === 'settings'
    ? api.put('/v1/settings/{key}', call)
    : api.put('/v1/flags/{key}', call);
};

const drop = (kind: Kind, key: string) =>
  kind === 'settings'
    ? api.delete('/v1/settings/{key}', { path: { key } })
    : api.delete('/v1/flags/{key}', { path: { key } });

async function readValue(kind: Kind, key: string): Promise<unknown> {
  const path = { key };
  const { data } =
    kind === 'settings'
      ? await api.get('/v1/settings/{key}', { path })
      : await api.get('/v1/flags/{key}', { path });
  return data.value;
}

/**
 * Saves a value, unless someone else has changed it in the meantime and the user declines to
 * overwrite it.
 */
function useSave(kind: Kind) {
  return useChange(async ({ key, value, before }: Write) => {
    if (before !== null) {
      const now = await readValue(kind, key);
      const isSame = JSON.stringify(now) === JSON.stringify(before.value);
      if (!isSame && !(await ask(overwriting(key, value, now)))) return;
    }
    await put(kind, key, value);
    noteWrite({ kind, key, value, before });
  });
}

const overwriting = (key: string, mine: unknown, stored: unknown) => ({
  title: t('Someone else has changed “{key}”', { key }),
  text: (
    <>
      {t('Yours:')} <Code>{JSON.stringify(mine)}</Code>
      {t('. Stored:')} <Code>{JSON.stringify(stored)}</Code>.
    </>
  ),
  action: t('Save mine'),
});

/** Undoes the last change. */
function Undo({ kind }: { kind: Kind }): ReactNode {
  const write = useSyncExternalStore(
    (onChange) => {
      writes.add(onChange);
      return () => writes.delete(onChange);
    },
    () => lastWrite,
  );
  const undo = useChange(async (from: Write) => {
    await (from.before === null ? drop(kind, from.key) : put(kind, from.key, from.before.value));
    noteWrite(null);
  });
  if (write === null || write.kind !== kind) return null;
  return (
    <Group role="status" gap="xs">
      <Text size="sm">
        {`“${write.key}” is ${JSON.stringify(write.value)} now` +
          (write.before === null ? '.' : `; it was ${JSON.stringify(write.before.value)}.`)}
      </Text>
      <Button
        size="compact-sm"
        variant="default"
        loading={undo.isPending}
        onClick={() => undo.mutate(write)}
      >
        {t('Undo')}
      </Button>
      <Failed error={undo.error} />
    </Group>
  );
}

function Toggle({ kind, of }: { kind: Kind; of: Value }): ReactNode {
  const { key: name, value } = of;
  const save = useSave(kind);
  return (
    <Button
      size="compact-sm"
      aria-label={t('Turn {value} {name}', { value: value === true ? 'off' : 'on', name })}
      loading={save.isPending}
      onClick={() => save.mutate({ key: name, value: value !== true, before: of })}
    >
      {value === true ? t('Turn off') : t('Turn on')}
    </Button>
  );
}

function Editor({
  kind,
  edited,
  close,
}: {
  kind: Kind;
  /** Null for a new value. */
  edited: Value | null;
  close: () => void;
}): ReactNode {
  const [key, setKey] = useState(edited?.key ?? '');
  const [text, setText] = useState(edited === null ? '' : JSON.stringify(edited.value));
  const save = useSave(kind);
  const isSetting = kind === 'settings';
  const noun = isSetting ? 'setting' : 'flag';
  const making = isSetting ? t('New setting') : t('New flag');
  return (
    <FormDrawer
      title={edited === null ? making : t('Edit {key}', { key: edited.key })}
      label={t('Save {noun}', { noun })}
      close={close}
      onSubmit={() =>
        save.mutate({ key: key.trim(), value: valueOf(text), before: edited }, { onSuccess: close })
      }
      isPending={save.isPending}
      error={save.error}
    >
      <TextInput
        label={t('Name of the {noun}', { noun })}
        placeholder={isSetting ? 'player.preload' : 'new-player'}
        required
        pattern="[A-Za-z0-9_\-]+(\.[A-Za-z0-9_\-]+)*"
        disabled={edited !== null}
        value={key}
        onChange={(event) => setKey(event.currentTarget.value)}
      />
      <Textarea
        label={t('Value of the {noun}', { noun })}
        placeholder={isSetting ? '3, true or a text' : t('true, or any JSON')}
        required
        autosize
        maxRows={12}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Group>
        <CopyCurl
          method="PUT"
          path={`/v1/${kind}/${key.trim() || 'name'}`}
          body={{ value: valueOf(text) }}
        />
      </Group>
    </FormDrawer>
  );
}

/** Parses JSON, or returns the text itself. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
