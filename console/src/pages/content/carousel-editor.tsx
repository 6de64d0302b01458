/** The entries of a carousel: reordered by dragging or with buttons, added and removed. */
import { Button, FileButton, Group, Image, Paper, Select, Stack, Text, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQueries } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, sendForm } from '../../api.ts';
import { useChange, useRead, type Item } from '../../data.ts';
import { askThen } from '../../questions.tsx';
import { Empty, Failed, Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

type Entry = { id: string; label: string; picture: string | null };

export function CarouselEditor({ item }: { item: Item }): ReactNode {
  return item.contentType === 'carousel' ? <Images item={item} /> : <Videos id={item.id} />;
}

function Images({ item }: { item: Item }): ReactNode {
  const { id } = item;
  const order = useChange((imageIds: string[]) =>
    api.put('/v1/content/{id}/images/order', { path: { id }, body: { imageIds } }),
  );
  const remove = useChange((imageId: string) =>
    api.delete('/v1/content/{id}/images/{imageId}', { path: { id, imageId } }),
  );
  const add = useChange(async (files: File[]) => {
    for (const file of files) {
      const form = new FormData();
      form.set('file', file);
      await sendForm(`/v1/content/${id}/images`, form);
    }
  });
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        {t('Images')}
      </Title>
      <Entries
        entries={item.images.map(({ id: imageId, imageUrl, altText, position }) => ({
          id: imageId,
          label: altText ?? t('Image {value}', { value: position + 1 }),
          picture: imageUrl,
        }))}
        onOrder={(ids) => order.mutate(ids)}
        onRemove={(imageId) =>
          askThen(
            {
              title: t('Remove this image?'),
              text: t('The image is deleted. There is no other copy.'),
              action: t('Remove the image'),
            },
            () => remove.mutate(imageId),
          )
        }
      />
      <FileButton
        multiple
        accept="image/*"
        inputProps={{ 'aria-label': 'Images to add' }}
        onChange={(files) => add.mutate(files)}
      >
        {(props) => (
          <Button {...props} w="fit-content" variant="default" loading={add.isPending}>
            {t('Add images')}
          </Button>
        )}
      </FileButton>
      <Failed error={order.error ?? remove.error ?? add.error} />
    </Stack>
  );
}

function Videos({ id }: { id: string }): ReactNode {
  const [search, setSearch] = useState('');
  const [settled] = useDebouncedValue(search, 250);
  const entries = useRead('/v1/content/{id}/videos', { path: { id } });
  const library = useRead('/v1/content', {
    query: {
      limit: 100,
      contentType: 'video',
      uploadStatus: 'ready',
      ...(settled !== '' && { search: settled }),
    },
  });
  const order = useChange((entryIds: string[]) =>
    api.put('/v1/content/{id}/videos/order', { path: { id }, body: { entryIds } }),
  );
  const remove = useChange((entryId: string) =>
    api.delete('/v1/content/{id}/videos/{entryId}', { path: { id, entryId } }),
  );
  const add = useChange((contentId: string) =>
    api.post('/v1/content/{id}/videos', { path: { id }, body: { contentIds: [contentId] } }),
  );
  const known = library.data?.data ?? [];
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        {t('Videos')}
      </Title>
      <Show of={entries}>
        {({ data }) => (
          <VideoEntries
            entries={data}
            onOrder={(ids) => order.mutate(ids)}
            onRemove={(entryId) =>
              askThen(
                {
                  title: t('Remove this video from the row?'),
                  text: t('The video itself stays in the library.'),
                  action: t('Remove the video'),
                },
                () => remove.mutate(entryId),
              )
            }
          />
        )}
      </Show>
      <Select
        label={t('Add a video')}
        placeholder={t('search')}
        searchable
        searchValue={search}
        onSearchChange={setSearch}
        data={known.map((video) => ({ value: video.id, label: video.title }))}
        value={null}
        onChange={(value) => value !== null && add.mutate(value)}
      />
      <Failed error={order.error ?? remove.error ?? add.error} />
    </Stack>
  );
}

/** Entries contain only video ids, so each video is read separately. */
function VideoEntries({
  entries,
  ...rest
}: {
  entries: readonly { id: string; contentId: string }[];
  onOrder: (ids: string[]) => void;
  onRemove: (id: string) => void;
}): ReactNode {
  const videos = useQueries({
    queries: entries.map(({ contentId }) => ({
      queryKey: ['/v1/content/{id}', { path: { id: contentId } }],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        api.get('/v1/content/{id}', { path: { id: contentId }, signal }),
    })),
  });
  const shown = entries.map(({ id, contentId }, index) => {
    const video = videos[index]?.data?.data;
    return { id, label: video?.title ?? contentId, picture: video?.thumbnailUrl ?? null };
  });
  return <Entries entries={shown} {...rest} />;
}

function Entries({
  entries,
  onOrder,
  onRemove,
}: {
  entries: readonly Entry[];
  onOrder: (ids: string[]) => void;
  onRemove: (id: string) => void;
}): ReactNode {
  const [dragged, setDragged] = useState<string | null>(null);
  const move = (id: string, to: number) => {
    const ids = entries.map((entry) => entry.id).filter((each) => each !== id);
    ids.splice(to, 0, id);
    onOrder(ids);
  };
  if (entries.length === 0) return <Empty>{t('It is empty. Add something below.')}</Empty>;
  return (
    <Stack gap={4} component="ol" p={0} m={0}>
      {entries.map((entry, index) => (
        <Paper
          key={entry.id}
          component="li"
          withBorder
          p="xs"
          draggable
          opacity={dragged === entry.id ? 0.5 : 1}
          style={{ cursor: 'grab', listStyle: 'none' }}
          onDragStart={(event) => {
            // The drag data identifies the entry, because a drop may happen before the next render.
            event.dataTransfer.setData('text/plain', entry.id);
            setDragged(entry.id);
          }}
          onDragEnd={() => setDragged(null)}
          onDragOver={(event) => event.preventDefault()}
          onDrop={(event) => {
            event.preventDefault();
            const id = event.dataTransfer.getData('text/plain');
            const isEntry = entries.some((each) => each.id === id);
            if (isEntry && id !== entry.id) move(id, index);
            setDragged(null);
          }}
        >
          <Group wrap="nowrap" justify="space-between">
            <Group wrap="nowrap" miw={0}>
              {entry.picture !== null && (
                <Image src={entry.picture} alt="" w={36} h={48} fit="cover" radius="sm" />
              )}
              <Text size="sm" truncate>{`${index + 1}. ${entry.label}`}</Text>
            </Group>
            <EntryButtons
              label={entry.label}
              isFirst={index === 0}
              isLast={index === entries.length - 1}
              onMove={(step) => move(entry.id, index + step)}
              onRemove={() => onRemove(entry.id)}
            />
          </Group>
        </Paper>
      ))}
    </Stack>
  );
}

function EntryButtons({
  label,
  isFirst,
  isLast,
  onMove,
  onRemove,
}: {
  label: string;
  isFirst: boolean;
  isLast: boolean;
  onMove: (step: number) => void;
  onRemove: () => void;
}): ReactNode {
  const props = { size: 'compact-sm', variant: 'default' } as const;
  return (
    <Group gap={4} wrap="nowrap">
      <Button
        {...props}
        aria-label={t('Up: {label}', { label })}
        disabled={isFirst}
        onClick={() => onMove(-1)}
      >
        {t('Up')}
      </Button>
      <Button
        {...props}
        aria-label={t('Down: {label}', { label })}
        disabled={isLast}
        onClick={() => onMove(1)}
      >
        {t('Down')}
      </Button>
      <Button {...props} aria-label={t('Remove {label}', { label })} onClick={onRemove}>
        {t('Remove')}
      </Button>
    </Group>
  );
}
