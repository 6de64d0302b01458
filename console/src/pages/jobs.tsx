/** Bulk jobs: something done to every item that matches, with a dry run before. */
import {
  Alert,
  Anchor,
  Button,
  Group,
  List,
  Progress,
  Select,
  SimpleGrid,
  Stack,
  Table,
  TagsInput,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api } from '../api.ts';
import { useChange, useRead, type ItemOf } from '../data.ts';
import { moment, whole } from '../format.ts';
import { goTo, useParameters } from '../location.ts';
import { CopyCurl, Page } from '../page.tsx';
import { Empty, Failed, Show } from '../states.tsx';

type Body = Parameters<typeof api.post<'/v1/content/bulk/jobs'>>[1]['body'];
type Job = ItemOf<'/v1/content/bulk/jobs'>;
type Operation = Body['operation'];

const operations: Record<Operation, string> = {
  tag: 'Tag',
  visibility: 'Set the visibility',
  update: 'Update',
  publish: 'Publish',
  unpublish: 'Unpublish',
  delete: 'Delete for good',
};

export function JobsPage(): ReactNode {
  const jobs = useRead(
    '/v1/content/bulk/jobs',
    { query: { limit: 50 } },
    { every: (page) => (page?.data.some(({ status }) => status === 'processing') ? 1_000 : false) },
  );
  return (
    <Page
      title="Bulk jobs"
      back={{ to: '/content', label: 'Content' }}
      curl={{ path: '/v1/content/bulk/jobs' }}
    >
      <NewJob />
      <Title order={2} size="h4">
        Jobs so far
      </Title>
      <Show of={jobs}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>No bulk job yet. The form above makes one.</Empty>
          ) : (
            <Jobs jobs={data} />
          )
        }
      </Show>
    </Page>
  );
}

function Jobs({ jobs }: { jobs: readonly Job[] }): ReactNode {
  return (
    <Table.ScrollContainer minWidth={560}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Operation</Table.Th>
            <Table.Th>Status</Table.Th>
            <Table.Th>Items</Table.Th>
            <Table.Th>Failed</Table.Th>
            <Table.Th>Created</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {jobs.map((job) => (
            <Table.Tr key={job.jobId}>
              <Table.Td>
                <Anchor href={`#/content/jobs/${job.jobId}`} underline="always">
                  {operations[job.operation]}
                </Anchor>
              </Table.Td>
              <Table.Td>{job.status}</Table.Td>
              <Table.Td>{`${whole(job.processedItems)} of ${whole(job.totalItems)}`}</Table.Td>
              <Table.Td>{whole(job.failedItems)}</Table.Td>
              <Table.Td>{moment(job.createdAt)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

type Draft = {
  operation: Operation;
  addTags: string[];
  removeTags: string[];
  visibility: 'public' | 'unlisted' | 'private';
  section: string;
  author: string;
};

/** What the job does. The filter is that of the address, where the library puts its own. */
function NewJob(): ReactNode {
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
        <OperationFields draft={draft} edit={edit} />
        <Group>
          <Button type="submit" loading={dryRun.isPending}>
            Try it without changing anything
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

/** What a dry run has found, and the button that does it. */
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
    <Alert title={`${whole(found.totalItems)} items match`} role="status">
      <Stack gap="xs">
        <List size="sm">
          {found.sample.map(({ id, title }) => (
            <List.Item key={id}>{title}</List.Item>
          ))}
        </List>
        {operation === 'delete' && (
          <TextInput
            label="They are gone for good. Type “delete” to confirm"
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
          {`${operations[operation]}: ${whole(found.totalItems)} items`}
        </Button>
      </Stack>
    </Alert>
  );
}

function bodyOf(draft: Draft, values: Readonly<Record<string, string>>): Body {
  const { operation, addTags, removeTags, visibility, section, author } = draft;
  const names = ['contentType', 'section', 'author', 'visibility', 'publishStatus'];
  const moments = ['createdAfter', 'createdBefore'];
  const chosen = Object.entries(values).filter(([name]) => [...names, ...moments].includes(name));
  const filter = {
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

function Filter({
  values,
  change,
}: {
  values: Readonly<Record<string, string>>;
  change: (changes: Readonly<Record<string, string | null>>) => void;
}): ReactNode {
  const choices = {
    contentType: ['video', 'carousel', 'video_carousel'],
    visibility: ['public', 'unlisted', 'private'],
    publishStatus: ['published', 'unpublished'],
  };
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        Which items
      </Title>
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }}>
        {['tags', 'section', 'author'].map((name) => (
          <TextInput
            key={name}
            label={name === 'tags' ? 'Any of these tags' : `With the ${name}`}
            placeholder="any"
            value={values[name] ?? ''}
            onChange={(event) => change({ [name]: event.currentTarget.value })}
          />
        ))}
        {Object.entries(choices).map(([name, data]) => (
          <Select
            key={name}
            label={
              { contentType: 'Of the type', visibility: 'That are', publishStatus: 'And' }[name]
            }
            placeholder="any"
            clearable
            data={data}
            value={values[name] ?? null}
            onChange={(value) => change({ [name]: value })}
          />
        ))}
      </SimpleGrid>
    </Stack>
  );
}

function OperationFields({
  draft,
  edit,
}: {
  draft: Draft;
  edit: (changes: Partial<Draft>) => void;
}): ReactNode {
  const { operation } = draft;
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        What to do with them
      </Title>
      <Group align="end">
        <Select
          label="Operation"
          allowDeselect={false}
          data={Object.entries(operations).map(([value, label]) => ({ value, label }))}
          value={operation}
          onChange={(value) => edit({ operation: (value ?? 'tag') as Operation })}
        />
        {operation === 'tag' && (
          <>
            <TagsInput
              label="Add tags"
              miw={200}
              acceptValueOnBlur
              value={draft.addTags}
              onChange={(addTags) => edit({ addTags })}
            />
            <TagsInput
              label="Remove tags"
              miw={200}
              acceptValueOnBlur
              value={draft.removeTags}
              onChange={(removeTags) => edit({ removeTags })}
            />
          </>
        )}
        {operation === 'visibility' && (
          <Select
            label="New visibility"
            allowDeselect={false}
            data={['public', 'unlisted', 'private']}
            value={draft.visibility}
            onChange={(value) => edit({ visibility: value as Draft['visibility'] })}
          />
        )}
        {operation === 'update' &&
          (['section', 'author'] as const).map((name) => (
            <TextInput
              key={name}
              label={`New ${name}`}
              placeholder="as it is"
              value={draft[name]}
              onChange={(event) => edit({ [name]: event.currentTarget.value })}
            />
          ))}
      </Group>
    </Stack>
  );
}

export function JobPage({ id }: { id: string }): ReactNode {
  const job = useRead(
    '/v1/content/bulk/jobs/{id}',
    { path: { id } },
    { every: (answer) => (answer?.data.status === 'processing' ? 500 : false) },
  );
  const failures = useRead('/v1/content/bulk/jobs/{id}/failures', {
    path: { id },
    query: { limit: 100 },
  });
  const cancel = useChange(() => api.post('/v1/content/bulk/jobs/{id}/cancel', { path: { id } }));
  return (
    <Page
      title="Bulk job"
      back={{ to: '/content/jobs', label: 'Bulk jobs' }}
      curl={{ path: `/v1/content/bulk/jobs/${id}` }}
    >
      <Show of={job}>
        {({ data }) => (
          <Stack maw={640}>
            <Text role="status">
              {`${data.status}: ${whole(data.processedItems)} of ${whole(data.totalItems)} items, ` +
                `${whole(data.failedItems)} failed. Created ${moment(data.createdAt)}.`}
            </Text>
            <Progress
              size="lg"
              value={data.totalItems === 0 ? 100 : (100 * data.processedItems) / data.totalItems}
              aria-label="Progress of the job"
            />
            {data.status === 'processing' && (
              <Button variant="default" w="fit-content" onClick={() => cancel.mutate()}>
                Cancel
              </Button>
            )}
            <Failed error={cancel.error} />
          </Stack>
        )}
      </Show>
      <Show of={failures}>
        {({ data }) =>
          data.length === 0 ? (
            <Text size="sm">No item has failed.</Text>
          ) : (
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Item</Table.Th>
                  <Table.Th>Why it could not be changed</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {data.map((failure) => (
                  <Table.Tr key={failure.id}>
                    <Table.Td>
                      <Anchor href={`#/content/${failure.id}`} underline="always">
                        {failure.id}
                      </Anchor>
                    </Table.Td>
                    <Table.Td>{failure.error.message}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          )
        }
      </Show>
    </Page>
  );
}
