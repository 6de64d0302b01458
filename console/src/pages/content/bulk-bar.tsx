/** Actions on the selected items. */
import {
  Alert,
  Affix,
  Button,
  Group,
  List,
  Modal,
  Paper,
  Popover,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import type { CallOptions } from '@reelfeed/client/session';
import { useState, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, type Item } from '../../data.ts';
import { Failed } from '../../states.tsx';
import {
  applyToAll,
  countOf,
  each,
  operations,
  operationsFor,
  type Draft,
  type Failure,
  type Operation,
} from './bulk-operations.ts';
import { BulkFields } from './bulk-fields.tsx';
import type { Selection } from './selection.ts';
import { t } from '../../texts/texts.ts';

type Query = NonNullable<CallOptions<'get', '/v1/content'>['query']>;

export function BulkBar({ selection, query }: { selection: Selection; query: Query }): ReactNode {
  const [operation, setOperation] = useState<Operation | null>(null);
  const [archived, setArchived] = useState<readonly string[]>([]);
  if (selection.ids.size === 0 && archived.length === 0) return null;
  const filter = new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, String(value)]),
  );
  return (
    <Affix position={{ bottom: 12, left: 12, right: 12 }}>
      <Paper
        withBorder
        shadow="md"
        p="sm"
        role="region"
        aria-label={t('Selected items')}
        maw={1_000}
        mx="auto"
      >
        {selection.ids.size === 0 ? (
          <Undo ids={archived} done={() => setArchived([])} />
        ) : (
          <Group gap="xs">
            <Held selection={selection} />
            {operationsFor(selection.items).map((name) => (
              <Button
                key={name}
                size="compact-md"
                variant={name === 'delete' ? 'outline' : 'default'}
                color={name === 'delete' ? 'red' : 'gray'}
                onClick={() => setOperation(name)}
              >
                {`${operations[name]}…`}
              </Button>
            ))}
            <Button size="compact-md" variant="default" onClick={selection.selectAll}>
              {t('All shown')}
            </Button>
            <Button
              size="compact-md"
              variant="default"
              component="a"
              href={`#/content/jobs?make=job&${filter.toString()}`}
            >
              {t('Everything that matches…')}
            </Button>
            <Button size="compact-md" variant="subtle" onClick={selection.clear}>
              {t('Clear')}
            </Button>
          </Group>
        )}
      </Paper>
      {operation !== null && (
        <BulkDialog
          operation={operation}
          items={selection.items}
          close={() => setOperation(null)}
          onDone={() => {
            setOperation(null);
            if (operation === 'archive') setArchived([...selection.ids]);
            selection.clear();
          }}
        />
      )}
    </Affix>
  );
}

/** Lists the selected items by title, including those hidden by the filter. */
function Held({ selection: { items, hiddenCount, remove } }: { selection: Selection }): ReactNode {
  const hidden = hiddenCount === 0 ? '' : `, ${hiddenCount} of them not in this list`;
  return (
    <Popover withArrow trapFocus position="top-start" width={340}>
      <Popover.Target>
        <Button size="compact-md" variant="subtle" aria-haspopup="dialog">
          {t('{count} selected{hidden}', { count: items.length, hidden })}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t('Selected items')}>
        <Stack gap={4} mah={300} style={{ overflowY: 'auto' }} tabIndex={0}>
          {items.slice(0, maxHeldShown).map(({ id, title }) => (
            <Group key={id} wrap="nowrap" justify="space-between" gap="xs">
              <Text size="sm" truncate>
                {title}
              </Text>
              <Button
                size="compact-sm"
                variant="subtle"
                aria-label={t('Unselect {title}', { title })}
                onClick={() => remove(id)}
              >
                {t('Unselect')}
              </Button>
            </Group>
          ))}
          {items.length > maxHeldShown && (
            <Text size="sm">{t('and {value} more', { value: items.length - maxHeldShown })}</Text>
          )}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

const maxHeldShown = 100;

function Undo({ ids, done }: { ids: readonly string[]; done: () => void }): ReactNode {
  const restore = useChange(() =>
    each(ids, (id) => api.post('/v1/content/{id}/restore', { path: { id } })),
  );
  return (
    <Group role="status">
      <Text size="sm">{t('{count} archived.', { count: ids.length })}</Text>
      <Button
        size="compact-md"
        loading={restore.isPending}
        onClick={() => restore.mutate(undefined, { onSuccess: done })}
      >
        {t('Undo')}
      </Button>
      <Button size="compact-md" variant="subtle" onClick={done}>
        {t('Close')}
      </Button>
    </Group>
  );
}

function BulkDialog({
  operation,
  items,
  close,
  onDone,
}: {
  operation: Operation;
  items: readonly Item[];
  close: () => void;
  onDone: () => void;
}): ReactNode {
  const [confirmation, setConfirmation] = useState('');
  const [draft, setDraft] = useState<Draft>({
    addTags: [],
    removeTags: [],
    visibility: 'public',
    section: '',
    author: '',
    publishStatus: null,
  });
  const ids = items.map(({ id }) => id);
  const run = useChange(() => applyToAll(operation, ids, draft));
  const failed = run.data?.failed ?? [];
  const submit = () =>
    run.mutate(undefined, {
      onSuccess: (outcome) => {
        if (outcome.failed.length === 0) onDone();
      },
    });
  return (
    <Modal
      opened
      onClose={close}
      title={`${operations[operation]} ${countOf(items.length)}`}
      closeButtonProps={{ 'aria-label': t('Close') }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Stack>
          <BulkFields operation={operation} draft={draft} setDraft={setDraft} />
          {operation === 'delete' && (
            <TextInput
              label={t('Deletes these items and their files permanently. Type “delete” to confirm')}
              data-autofocus
              value={confirmation}
              onChange={(event) => setConfirmation(event.currentTarget.value)}
            />
          )}
          <Failed error={run.error} />
          {failed.length > 0 && <Failures failed={failed} items={items} />}
          <Button
            type="submit"
            color={operation === 'delete' ? 'red.9' : 'indigo'}
            loading={run.isPending}
            disabled={operation === 'delete' && confirmation !== 'delete'}
          >
            {`${operations[operation]} ${countOf(items.length)}`}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}

function Failures({
  failed,
  items,
}: {
  failed: readonly Failure[];
  items: readonly Item[];
}): ReactNode {
  return (
    <Alert
      color="red"
      title={t('{count} could not be changed', { count: failed.length })}
      role="alert"
    >
      <List size="sm">
        {failed.slice(0, 20).map(({ id, error }) => (
          <List.Item key={id}>
            {`${items.find((item) => item.id === id)?.title ?? id}: ${error.message}`}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
