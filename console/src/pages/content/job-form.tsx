/** A new bulk job: an operation on every matching item, with a dry run first. */
import { Alert, Button, Group, List, Stack, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange } from '../../data.ts';
import { whole } from '../../format.ts';
import { goTo, useParameters } from '../../location.ts';
import { CopyCurl } from '../../page.tsx';
import { Failed } from '../../states.tsx';
import {
  Filter,
  OperationFields,
  operations,
  type Body,
  type Draft,
  type Operation,
} from './job-fields.tsx';
import { t } from '../../texts/texts.ts';

/** The job's operation. The filter is in the address, where the library puts its own. */
export function NewJob(): ReactNode {
  const [values, change] = useParameters();
  const [draft, setDraft] = useState<Draft>({
    operation: 'tag',
    addTags: [],
    removeTags: [],
    visibility: 'public',
    section: '',
    author: '',
  });
  const body = bodyOf(draft, values);
  const dryRun = useChange(() =>
    api.post('/v1/content/bulk/jobs', { body: { ...body, dryRun: true } }),
  );
  const run = useChange(() => api.post('/v1/content/bulk/jobs', { body }));
  const found = dryRun.data?.data;
  const edit = (changes: Partial<Draft>) => {
    dryRun.reset();
    setDraft({ ...draft, ...changes });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    dryRun.mutate();
  };
  const start = () =>
    run.mutate(undefined, {
      onSuccess: ({ data }) => 'jobId' in data && goTo(`/content/jobs/${data.jobId}`),
    });
  return (
    <form onSubmit={submit}>
      <Stack>
        <Filter
          values={values}
          change={(changes) => {
            dryRun.reset();
            change(changes);
          }}
        />
        {lost(draft.operation, values).map((text) => (
          <Alert key={text} color="yellow" role="status">
            {text}
          </Alert>
        ))}
        <OperationFields draft={draft} edit={edit} />
        <Group>
          <Button type="submit" loading={dryRun.isPending}>
            {t('Try it without changing anything')}
          </Button>
          <CopyCurl method="POST" path="/v1/content/bulk/jobs" body={body} />
        </Group>
        <Failed error={dryRun.error ?? run.error} />
        {found !== undefined && 'dryRun' in found && (
          <Found
            found={found}
            operation={draft.operation}
            isRunning={run.isPending}
            start={start}
          />
        )}
      </Stack>
    </form>
  );
}

/** The result of a dry run, and the button that starts the job. */
function Found({
  found,
  operation,
  isRunning,
  start,
}: {
  found: { totalItems: number; sample: readonly { id: string; title: string }[] };
  operation: Operation;
  isRunning: boolean;
  start: () => void;
}): ReactNode {
  const [confirmation, setConfirmation] = useState('');
  const isUnconfirmed = operation === 'delete' && confirmation !== 'delete';
  return (
    <Alert
      title={t('{totalItems} items match', { totalItems: whole(found.totalItems) })}
      role="status"
    >
      <Stack gap="xs">
        <List size="sm">
          {found.sample.map(({ id, title }) => (
            <List.Item key={id}>{title}</List.Item>
          ))}
        </List>
        {operation === 'delete' && (
          <TextInput
            label={t('Deletes them permanently. Type “delete” to confirm')}
            value={confirmation}
            onChange={(event) => setConfirmation(event.currentTarget.value)}
          />
        )}
        <Button
          w="fit-content"
          disabled={found.totalItems === 0 || isUnconfirmed}
          loading={isRunning}
          onClick={start}
        >
          {t('{value}: {totalItems} items', {
            value: operations[operation],
            totalItems: whole(found.totalItems),
          })}
        </Button>
      </Stack>
    </Alert>
  );
}

/** Parts of the library's filter that a job does not support. */
function lost(operation: Operation, values: Readonly<Record<string, string>>): string[] {
  const { archived, tags = '', externalId } = values;
  const isDelete = operation === 'delete';
  return [
    externalId !== undefined &&
      `A job has no filter by external id: it takes more than the item “${externalId}”.`,
    tags.includes(',') &&
      'The library shows items with any of these tags; a job includes only items with all of them.',
    !isDelete &&
      archived === 'only' &&
      'Only deletions include archived items: this operation applies to the others.',
    !isDelete &&
      archived === 'true' &&
      'Only deletions include archived items: this operation leaves them out.',
  ].filter((text) => text !== false);
}

function bodyOf(draft: Draft, values: Readonly<Record<string, string>>): Body {
  const { operation, addTags, removeTags, visibility, section, author } = draft;
  const names = ['contentType', 'section', 'author', 'visibility', 'publishStatus'];
  names.push('search', 'uploadStatus', 'createdAfter', 'createdBefore');
  if (operation === 'delete') names.push('archived');
  const chosen = Object.entries(values).filter(([name]) => names.includes(name));
  // The library hides archived items, but a deletion includes them unless excluded explicitly.
  const hidesArchived = operation === 'delete' && chosen.length + (values['tags'] ? 1 : 0) > 0;
  const filter = {
    ...(hidesArchived && { archived: 'false' as const }),
    ...Object.fromEntries(chosen),
    ...(values['tags'] !== undefined && {
      tags: values['tags'].split(',').map((tag) => tag.trim()),
    }),
  };
  const updates: Partial<Record<Operation, Body['update']>> = {
    tag: {
      ...(addTags.length > 0 && { addTags }),
      ...(removeTags.length > 0 && { removeTags }),
    },
    visibility: { visibility },
    update: {
      ...(section.trim() !== '' && { section: section.trim() }),
      ...(author.trim() !== '' && { author: author.trim() }),
    },
  };
  const update = updates[operation];
  return { operation, filter, ...(update !== undefined && { update }) };
}
