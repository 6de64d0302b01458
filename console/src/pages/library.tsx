/** Every item, with search, filters in the address, and upload by dropping files. */
import {
  Anchor,
  Badge,
  Button,
  FileButton,
  Group,
  Paper,
  Progress,
  Select,
  Stack,
  Table,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type DragEvent, type ReactNode } from 'react';
import { get, request, sendFile, withQuery, type Page } from '../api.ts';
import { setQuery, useLocation } from '../location.ts';
import { CopyCurl, Empty, Failed, Loading } from '../states.tsx';
import type { Item } from './item.tsx';

const filters = {
  uploadStatus: ['pending', 'processing', 'ready', 'error'],
  publishStatus: ['published', 'unpublished'],
  visibility: ['public', 'unlisted', 'private'],
};

export function LibraryPage(): ReactNode {
  const { query } = useLocation();
  const values = Object.fromEntries(query);
  const path = withQuery('v1/content', { limit: '50', ...values });
  const items = useInfiniteQuery({
    queryKey: ['content', path],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      get<Page<Item>>(withQuery('v1/content', { limit: '50', ...values, cursor: pageParam })),
    getNextPageParam: ({ meta }) => meta.nextCursor ?? undefined,
    // What is being processed moves by itself.
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ data }) => data.some(isMoving)) === true ? 1_000 : 10_000,
  });
  const change = (name: string, value: string) =>
    setQuery('/content', { ...values, [name]: value });
  return (
    <Stack>
      <Title order={1} size="h2">
        Content
      </Title>
      <Uploads />
      <Group align="end">
        <TextInput
          label="Search"
          defaultValue={values['search'] ?? ''}
          onChange={(event) => change('search', event.currentTarget.value)}
        />
        {Object.entries(filters).map(([name, allowed]) => (
          <Select
            key={name}
            label={name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}
            placeholder="any"
            clearable
            data={allowed}
            value={values[name] ?? null}
            onChange={(value) => change(name, value ?? '')}
          />
        ))}
      </Group>
      {items.isPending && <Loading />}
      {items.isError && <Failed error={items.error} retry={() => void items.refetch()} />}
      {items.data !== undefined && (
        <>
          <Text size="sm">{`${items.data.pages[0]?.meta.total ?? 0} items`}</Text>
          <Items items={items.data.pages.flatMap(({ data }) => data)} />
          {items.hasNextPage && (
            <Button variant="default" onClick={() => void items.fetchNextPage()}>
              Show more
            </Button>
          )}
        </>
      )}
      <CopyCurl method="GET" path={path} />
    </Stack>
  );
}

const isMoving = ({ uploadStatus }: Item) =>
  uploadStatus === 'processing' || uploadStatus === 'pending';

function Items({ items }: { items: Item[] }): ReactNode {
  if (items.length === 0) {
    return (
      <Empty command={'curl …/v1/content/upload -F title="My first clip" -F file=@clip.mp4'}>
        No item matches. Drop a video above, or upload one by the API.
      </Empty>
    );
  }
  return (
    <Table.ScrollContainer minWidth={560}>
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Title</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>Published</Table.Th>
            <Table.Th>Tags</Table.Th>
            <Table.Th>Created</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((item) => (
            <Table.Tr key={item.id} style={{ contentVisibility: 'auto' }}>
              <Table.Td>
                <Anchor href={`#/content/${item.id}`} underline="always">
                  {item.title}
                </Anchor>
              </Table.Td>
              <Table.Td>
                <State item={item} />
              </Table.Td>
              <Table.Td>{item.publishStatus}</Table.Td>
              <Table.Td>{item.tags.join(', ')}</Table.Td>
              <Table.Td>{new Date(item.createdAt).toLocaleString()}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

export function State({ item }: { item: Item }): ReactNode {
  const progress = item.uploadStatus === 'processing' ? ` ${item.progress} %` : '';
  return (
    <Badge variant="outline" color={item.uploadStatus === 'error' ? 'red' : 'gray'} autoContrast>
      {`${item.uploadStatus}${progress}`}
    </Badge>
  );
}

type Upload = { name: string; share: number; error: string | null };

function Uploads(): ReactNode {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const client = useQueryClient();
  const update = (name: string, change: Partial<Upload>) =>
    setUploads((all) => all.map((one) => (one.name === name ? { ...one, ...change } : one)));

  const send = async (file: File) => {
    setUploads((all) => [...all, { name: file.name, share: 0, error: null }]);
    try {
      const title = file.name.replace(/\.[^.]+$/, '').slice(0, 200);
      const { data } = await request<{ data: { uploadUrl: string } }>('POST', 'v1/content/upload', {
        title,
      });
      // The same service under the address of this page, so that no other origin is asked.
      const url = `../${data.uploadUrl.slice(data.uploadUrl.indexOf('/v1/') + 1)}`;
      await sendFile(url, file, (share) => update(file.name, { share }));
      update(file.name, { share: 1 });
    } catch (error) {
      update(file.name, { error: (error as Error).message });
    }
    await client.invalidateQueries({ queryKey: ['content'] });
  };
  const sendAll = async (files: File[]) => {
    for (const file of files) await send(file);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    void sendAll([...event.dataTransfer.files]);
  };
  return (
    <Paper withBorder p="md" onDrop={drop} onDragOver={(event) => event.preventDefault()}>
      <Group>
        <FileButton multiple accept="video/*" onChange={(files) => void sendAll(files)}>
          {(props) => <Button {...props}>Upload videos</Button>}
        </FileButton>
        <Text size="sm">or drop them here</Text>
      </Group>
      {uploads.map(({ name, share, error }) => (
        <Stack key={name} gap={4} mt="xs">
          <Text size="sm">{error === null ? name : `${name}: ${error}`}</Text>
          <Progress
            value={share * 100}
            color={error === null ? 'blue' : 'red'}
            aria-label={`Upload of ${name}`}
          />
        </Stack>
      ))}
    </Paper>
  );
}
