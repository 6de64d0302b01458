/** One item: its picture and stream, its metadata, its state, and what can be done with it. */
import {
  Alert,
  Anchor,
  Button,
  Group,
  Image,
  Select,
  SimpleGrid,
  Stack,
  Table,
  TagsInput,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { get, request } from '../api.ts';
import { formText } from '../form-text.ts';
import { CopyCurl, Failed, Loading } from '../states.tsx';
import { State } from './library.tsx';

export type Item = {
  id: string;
  title: string;
  description: string | null;
  section: string | null;
  author: string | null;
  tags: string[];
  uploadStatus: string;
  publishStatus: string;
  visibility: string;
  progress: number;
  duration: number | null;
  width: number | null;
  height: number | null;
  thumbnailUrl: string | null;
  streamingUrl: string | null;
  errorReason: { code: string; message: string } | null;
  createdAt: string;
};

export function ItemPage({ id }: { id: string }): ReactNode {
  const path = `v1/content/${id}`;
  const item = useQuery({
    queryKey: ['item', id],
    queryFn: () => get<{ data: Item }>(path),
    refetchInterval: ({ state }) =>
      state.data?.data.uploadStatus === 'processing' ? 1_000 : false,
  });
  if (item.isPending) return <Loading />;
  if (item.isError) return <Failed error={item.error} retry={() => void item.refetch()} />;
  const { data } = item.data;
  return (
    <Stack>
      <Anchor href="#/content" underline="always">
        Content
      </Anchor>
      <Group>
        <Title order={1} size="h2">
          {data.title}
        </Title>
        <State item={data} />
      </Group>
      {data.errorReason !== null && (
        <Alert color="red" title={data.errorReason.code} role="alert">
          {data.errorReason.message}
        </Alert>
      )}
      <Actions item={data} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Form key={`${data.id} ${data.uploadStatus}`} item={data} />
        <Facts item={data} />
      </SimpleGrid>
      <CopyCurl method="GET" path={path} />
    </Stack>
  );
}

function useChange(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ method, path, body }: { method: string; path: string; body?: unknown }) =>
      request(method, path, body),
    onSuccess: async (_answer, { method }) => {
      // An archived item answers 404; it stays in view, so that archiving can be undone.
      if (method !== 'DELETE') await client.invalidateQueries({ queryKey: ['item', id] });
      await client.invalidateQueries({ queryKey: ['content'] });
    },
  });
}

function Actions({ item }: { item: Item }): ReactNode {
  const change = useChange(item.id);
  const [isArchived, setArchived] = useState(false);
  const path = `v1/content/${item.id}`;
  const isPublished = item.publishStatus === 'published';
  const publish = { publishStatus: isPublished ? 'unpublished' : 'published' };
  const archive = () =>
    change.mutate({ method: 'DELETE', path }, { onSuccess: () => setArchived(true) });
  const restore = () =>
    change.mutate(
      { method: 'POST', path: `${path}/restore` },
      { onSuccess: () => setArchived(false) },
    );
  if (isArchived) {
    return (
      <Group role="status">
        <Text>The item is archived.</Text>
        <Button size="xs" variant="default" onClick={restore}>
          Undo
        </Button>
      </Group>
    );
  }
  return (
    <Stack gap="xs">
      <Group>
        {item.uploadStatus === 'ready' && (
          <Button onClick={() => change.mutate({ method: 'PATCH', path, body: publish })}>
            {isPublished ? 'Unpublish' : 'Publish'}
          </Button>
        )}
        {item.uploadStatus === 'error' && (
          <Button onClick={() => change.mutate({ method: 'POST', path: `${path}/retry` })}>
            Retry processing
          </Button>
        )}
        <Button variant="default" onClick={archive}>
          Archive
        </Button>
      </Group>
      {change.isError && <Failed error={change.error} />}
    </Stack>
  );
}

function Form({ item }: { item: Item }): ReactNode {
  const change = useChange(item.id);
  const [tags, setTags] = useState(item.tags);
  const [visibility, setVisibility] = useState<string | null>(item.visibility);
  const save = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const text = (name: string) => formText(form, name);
    const optional = (name: string) => (text(name) === '' ? null : text(name));
    const body = {
      title: text('title'),
      description: optional('description'),
      section: optional('section'),
      author: optional('author'),
      tags,
      visibility,
    };
    change.mutate({ method: 'PATCH', path: `v1/content/${item.id}`, body });
  };
  return (
    <form onSubmit={save}>
      <Stack gap="sm">
        <TextInput name="title" label="Title" required maxLength={200} defaultValue={item.title} />
        <Textarea
          name="description"
          label="Description"
          autosize
          minRows={3}
          defaultValue={item.description ?? ''}
        />
        <TextInput name="section" label="Section" defaultValue={item.section ?? ''} />
        <TextInput name="author" label="Author" defaultValue={item.author ?? ''} />
        <TagsInput label="Tags" value={tags} onChange={setTags} />
        <Select
          label="Visibility"
          data={['public', 'unlisted', 'private']}
          allowDeselect={false}
          value={visibility}
          onChange={setVisibility}
        />
        <Group>
          <Button type="submit" loading={change.isPending}>
            Save
          </Button>
          {change.isSuccess && <Text role="status">Saved.</Text>}
        </Group>
        {change.isError && <Failed error={change.error} />}
      </Stack>
    </form>
  );
}

function Facts({ item }: { item: Item }): ReactNode {
  const facts: [string, string][] = [
    ['Id', item.id],
    ['Created', new Date(item.createdAt).toLocaleString()],
    ['Length', item.duration === null ? '–' : `${item.duration.toFixed(1)} s`],
    ['Picture', item.width === null ? '–' : `${item.width} × ${item.height}`],
  ];
  return (
    <Stack>
      {item.thumbnailUrl !== null && (
        <Image src={item.thumbnailUrl} alt={`Thumbnail of ${item.title}`} mah={420} fit="contain" />
      )}
      <Table>
        <Table.Tbody>
          {facts.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th scope="row">{name}</Table.Th>
              <Table.Td>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  );
}
