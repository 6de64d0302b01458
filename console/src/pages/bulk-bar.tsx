/** What can be done with the selected items together. */
import {
  Alert,
  Affix,
  Button,
  Group,
  List,
  Modal,
  Paper,
  Select,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import type { CallOptions } from '@reelfeed/client/session';
import { useState, type ReactNode } from 'react';
import { api } from '../api.ts';
import { useChange, type Item } from '../data.ts';
import { Failed } from '../states.tsx';
import {
  applyToAll,
  each,
  operations,
  type Draft,
  type Failure,
  type Operation,
} from './bulk-operations.ts';
import type { Selection } from './selection.ts';

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
        aria-label="Selected items"
        maw={1_000}
        mx="auto"
      >
        {selection.ids.size === 0 ? (
          <Undo ids={archived} done={() => setArchived([])} />
        ) : (
          <Group gap="xs">
            <Text size="sm" fw={700}>{`${selection.ids.size} selected`}</Text>
            {Object.entries(operations).map(([name, label]) => (
              <Button
                key={name}
                size="compact-md"
                variant={name === 'delete' ? 'outline' : 'default'}
                color={name === 'delete' ? 'red' : 'gray'}
                onClick={() => setOperation(name as Operation)}
              >
                {`${label}…`}
              </Button>
            ))}
            <Button size="compact-md" variant="default" onClick={selection.selectAll}>
              All shown
            </Button>
            <Button
              size="compact-md"
              variant="default"
              component="a"
              href={`#/content/jobs?${filter.toString()}`}
            >
              Everything that matches…
            </Button>
            <Button size="compact-md" variant="subtle" onClick={selection.clear}>
              Clear
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

function Undo({ ids, done }: { ids: readonly string[]; done: () => void }): ReactNode {
  const restore = useChange(() =>
    each(ids, (id) => api.post('/v1/content/{id}/restore', { path: { id } })),
  );
  return (
    <Group role="status">
      <Text size="sm">{`${ids.length} archived.`}</Text>
      <Button
        size="compact-md"
        loading={restore.isPending}
        onClick={() => restore.mutate(undefined, { onSuccess: done })}
      >
        Undo
      </Button>
      <Button size="compact-md" variant="subtle" onClick={done}>
        Close
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
      title={`${operations[operation]} ${items.length} items`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Stack>
          <Fields operation={operation} draft={draft} setDraft={setDraft} />
          {operation === 'delete' && (
            <TextInput
              label="Deletes these items and their files permanently. Type “delete” to confirm"
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
            {`${operations[operation]} ${items.length} items`}
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
    <Alert color="red" title={`${failed.length} could not be changed`} role="alert">
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

function Fields({
  operation,
  draft,
  setDraft,
}: {
  operation: Operation;
  draft: Draft;
  setDraft: (draft: Draft) => void;
}): ReactNode {
  const change = (changes: Partial<Draft>) => setDraft({ ...draft, ...changes });
  if (operation === 'tag') {
    return (
      <>
        <TagsInput
          label="Add tags"
          data-autofocus
          acceptValueOnBlur
          value={draft.addTags}
          onChange={(addTags) => change({ addTags })}
        />
        <TagsInput
          label="Remove tags"
          acceptValueOnBlur
          value={draft.removeTags}
          onChange={(removeTags) => change({ removeTags })}
        />
      </>
    );
  }
  if (operation === 'visibility') {
    return (
      <Select
        label="Visibility"
        data={['public', 'unlisted', 'private']}
        allowDeselect={false}
        value={draft.visibility}
        onChange={(value) => change({ visibility: value as Item['visibility'] })}
      />
    );
  }
  if (operation === 'archive') {
    return <Text size="sm">They leave the feed at once. It can be undone for 30 days.</Text>;
  }
  if (operation === 'delete') return null;
  return (
    <>
      <TextInput
        label="Section (empty: as it is)"
        value={draft.section}
        onChange={(event) => change({ section: event.currentTarget.value })}
      />
      <TextInput
        label="Author (empty: as it is)"
        value={draft.author}
        onChange={(event) => change({ author: event.currentTarget.value })}
      />
      <Select
        label="Published"
        placeholder="as it is"
        clearable
        data={['published', 'unpublished']}
        value={draft.publishStatus}
        onChange={(value) => change({ publishStatus: value })}
      />
    </>
  );
}
