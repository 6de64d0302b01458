/** One item: its player, its metadata, its state, its numbers, and what can be done with it. */
import {
  Alert,
  Button,
  Group,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  Table,
  TagsInput,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api } from '../api.ts';
import { useChange, useRead, type Item } from '../data.ts';
import { fromLocalTime, localTime, moment } from '../format.ts';
import { formText } from '../form-text.ts';
import { Page } from '../page.tsx';
import { makePart, ShowPart } from '../part.tsx';
import { Failed, Show } from '../states.tsx';
import { Captions } from './item-captions.tsx';
import { State } from './item-list.tsx';
import { SourceTracks } from './item-source.tsx';
import { Statistics } from './item-statistics.tsx';
import { Id } from './library.tsx';

const player = makePart(async () => (await import('./item-player.tsx')).ItemPlayer);
const carousel = makePart(async () => (await import('./carousel-editor.tsx')).CarouselEditor);

const isMoving = (status: Item['uploadStatus'] | undefined) =>
  status === 'processing' || status === 'pending';

export function ItemPage({ id }: { id: string }): ReactNode {
  // An archived item is unknown to the API; it stays in view, so that archiving can be undone.
  const [isArchived, setArchived] = useState(false);
  const item = useRead(
    '/v1/content/{id}',
    { path: { id } },
    {
      every: (answer) => (isMoving(answer?.data.uploadStatus) ? 1_000 : false),
      enabled: !isArchived,
    },
  );
  return (
    <Page
      title={item.data?.data.title ?? 'Item'}
      back={{ to: '/content', label: 'Content' }}
      curl={{ path: `/v1/content/${id}` }}
    >
      <Show of={item}>
        {({ data }) =>
          isArchived ? (
            <Archived id={id} onRestored={() => setArchived(false)} />
          ) : (
            <Content item={data} onArchived={() => setArchived(true)} />
          )
        }
      </Show>
    </Page>
  );
}

function Archived({ id, onRestored }: { id: string; onRestored: () => void }): ReactNode {
  const restore = useChange(() => api.post('/v1/content/{id}/restore', { path: { id } }));
  return (
    <Group role="status">
      <Text>The item is archived. It can be restored for 30 days.</Text>
      <Button
        size="xs"
        variant="default"
        loading={restore.isPending}
        onClick={() => restore.mutate(undefined, { onSuccess: onRestored })}
      >
        Undo
      </Button>
      <Failed error={restore.error} />
    </Group>
  );
}

type ContentParts = { item: Item; onArchived: () => void };

function Content({ item, onArchived }: ContentParts): ReactNode {
  const isCarousel = item.contentType === 'carousel' || item.contentType === 'video_carousel';
  return (
    <Stack>
      <Group>
        <State item={item} />
        <Text size="sm">{`${item.publishStatus}, ${item.visibility}`}</Text>
      </Group>
      {item.errorReason !== null && (
        <Alert color="red" title={item.errorReason.code} role="alert">
          {item.errorReason.message}
        </Alert>
      )}
      <Actions item={item} onArchived={onArchived} />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
        <Form key={`${item.id} ${item.uploadStatus}`} item={item} />
        <Stack>
          <ShowPart part={isCarousel ? carousel : player} props={{ item }} />
          <Facts item={item} />
        </Stack>
      </SimpleGrid>
      {item.contentType === 'video' && item.uploadStatus === 'ready' && <Captions id={item.id} />}
      <SourceTracks item={item} />
      <Statistics id={item.id} duration={item.duration} />
    </Stack>
  );
}

function Actions({ item, onArchived }: ContentParts): ReactNode {
  const path = { id: item.id };
  const isPublished = item.publishStatus === 'published';
  const publish = useChange(() =>
    api.patch('/v1/content/{id}', {
      path,
      body: { publishStatus: isPublished ? 'unpublished' : 'published' },
    }),
  );
  const retry = useChange(() => api.post('/v1/content/{id}/retry', { path }));
  const archive = useChange(() => api.delete('/v1/content/{id}', { path }), { reads: 'none' });
  const error = publish.error ?? retry.error ?? archive.error;
  return (
    <Stack gap="xs">
      <Group>
        {item.uploadStatus === 'ready' && (
          <Button loading={publish.isPending} onClick={() => publish.mutate()}>
            {isPublished ? 'Unpublish' : 'Publish'}
          </Button>
        )}
        {item.uploadStatus === 'error' && (
          <Button loading={retry.isPending} onClick={() => retry.mutate()}>
            Retry processing
          </Button>
        )}
        <Button
          variant="default"
          loading={archive.isPending}
          onClick={() => archive.mutate(undefined, { onSuccess: onArchived })}
        >
          Archive
        </Button>
      </Group>
      <Failed error={error} />
    </Stack>
  );
}

type Changes = Parameters<typeof api.patch<'/v1/content/{id}'>>[1]['body'];

function Form({ item }: { item: Item }): ReactNode {
  const [tags, setTags] = useState<string[]>([...item.tags]);
  const [visibility, setVisibility] = useState(item.visibility);
  const [isProtected, setProtected] = useState(item.protected);
  const save = useChange((body: Changes) =>
    api.patch('/v1/content/{id}', { path: { id: item.id }, body }),
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    save.mutate({
      ...textsOf(event.currentTarget),
      tags,
      visibility,
      ...(item.contentType === 'video' && { protected: isProtected }),
    });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Title order={2} size="h4">
          Metadata and schedule
        </Title>
        <TextInput name="title" label="Title" required maxLength={200} defaultValue={item.title} />
        <Textarea
          name="description"
          label="Description"
          autosize
          minRows={2}
          defaultValue={item.description ?? ''}
        />
        <TagsInput label="Tags" acceptValueOnBlur value={tags} onChange={setTags} />
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <Texts item={item} />
          <Select
            label="Visibility"
            data={['public', 'unlisted', 'private']}
            allowDeselect={false}
            value={visibility}
            onChange={(value) => setVisibility(value as Item['visibility'])}
          />
        </SimpleGrid>
        {item.contentType === 'video' && (
          <Switch
            label="Protected: plays with a playback token alone"
            checked={isProtected}
            onChange={(event) => setProtected(event.currentTarget.checked)}
          />
        )}
        <Group>
          <Button type="submit" loading={save.isPending}>
            Save
          </Button>
          {save.isSuccess && <Text role="status">Saved.</Text>}
        </Group>
        <Failed error={save.error} />
      </Stack>
    </form>
  );
}

/** What the text fields of the form say. */
function textsOf(form: HTMLFormElement): Changes {
  const optional = (name: string) => formText(form, name) || null;
  return {
    title: formText(form, 'title'),
    description: optional('description'),
    section: optional('section'),
    author: optional('author'),
    articleUrl: optional('articleUrl'),
    publishAt: fromLocalTime(formText(form, 'publishAt')),
    expiresAt: fromLocalTime(formText(form, 'expiresAt')),
  };
}

function Texts({ item }: { item: Item }): ReactNode {
  return (
    <>
      <TextInput name="section" label="Section" defaultValue={item.section ?? ''} />
      <TextInput name="author" label="Author" defaultValue={item.author ?? ''} />
      <TextInput
        name="publishAt"
        type="datetime-local"
        label="In the feed from"
        defaultValue={localTime(item.publishAt)}
      />
      <TextInput
        name="expiresAt"
        type="datetime-local"
        label="In the feed until"
        defaultValue={localTime(item.expiresAt)}
      />
      <TextInput
        name="articleUrl"
        type="url"
        label="Article URL"
        defaultValue={item.articleUrl ?? ''}
      />
    </>
  );
}

function Facts({ item }: { item: Item }): ReactNode {
  const facts: [string, ReactNode][] = [
    ['Id', <Id key="id" id={item.id} />],
    ['Created', moment(item.createdAt)],
    ['Length', item.duration === null ? '–' : `${item.duration.toFixed(1)} s`],
    ['Picture', item.width === null ? '–' : `${item.width} × ${item.height}`],
    ['External id', item.externalId ?? '–'],
  ];
  return (
    <Table>
      <Table.Tbody>
        {facts.map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Th scope="row" w={120}>
              {name}
            </Table.Th>
            <Table.Td>{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
