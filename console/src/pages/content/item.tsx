/** One item: player, metadata, state, statistics and actions. */
import { Alert, Button, Group, Paper, SimpleGrid, Stack, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { api } from '../../api.ts';
import { itemAddress, useChange, useTagged, type Item } from '../../data.ts';
import { moment, seconds } from '../../format.ts';
import { Page } from '../../page.tsx';
import { makePart, ShowPart } from '../../part.tsx';
import { Failed, Show } from '../../states.tsx';
import { Captions } from './item-captions.tsx';
import { State } from './item-list.tsx';
import { Metadata } from './item-metadata.tsx';
import { Retention } from './item-retention.tsx';
import { Sharing } from './item-sharing.tsx';
import { Similar } from './item-similar.tsx';
import { SourceTracks } from './item-source.tsx';
import { Statistics } from './item-statistics.tsx';
import { Id } from './library.tsx';
import { known, t } from '../../texts/texts.ts';

const player = makePart(async () => (await import('./item-player.tsx')).ItemPlayer);
const carousel = makePart(async () => (await import('./carousel-editor.tsx')).CarouselEditor);

const isMoving = (status: Item['uploadStatus'] | undefined) =>
  status === 'processing' || status === 'pending';

export function ItemPage({ id }: { id: string }): ReactNode {
  const item = useTagged<'/v1/content/{id}'>('/v1/content/{id}', itemAddress(id), {
    every: (answer) => (isMoving(answer?.data.uploadStatus) ? 1_000 : false),
  });
  return (
    <Page
      title={item.data?.data.title ?? t('Item')}
      back={{ to: '/content', label: t('Content') }}
      curl={{ path: `/v1/content/${id}` }}
    >
      <Show of={item}>{({ data, tag }) => <Content item={data} tag={tag} />}</Show>
    </Page>
  );
}

function Archived({ id, archivedAt }: { id: string; archivedAt: string }): ReactNode {
  const restore = useChange(() => api.post('/v1/content/{id}/restore', { path: { id } }));
  return (
    <Alert
      color="yellow"
      title={t('Archived {archivedAt}', { archivedAt: moment(archivedAt) })}
      role="status"
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          {t(
            'It is in no feed and no list. Restoring it leaves it unpublished. Its files are removed when the retention time of archived items ends.',
          )}
        </Text>
        <Button
          size="xs"
          variant="default"
          loading={restore.isPending}
          onClick={() => restore.mutate()}
        >
          {t('Restore')}
        </Button>
        <Failed error={restore.error} />
      </Stack>
    </Alert>
  );
}

function Content({ item, tag }: { item: Item; tag: string | null }): ReactNode {
  const isCarousel = item.contentType === 'carousel' || item.contentType === 'video_carousel';
  return (
    <Stack>
      {item.archivedAt !== null && <Archived id={item.id} archivedAt={item.archivedAt} />}
      <Group>
        <State item={item} />
        <Text size="sm">{`${known(item.publishStatus)}, ${known(item.visibility)}`}</Text>
      </Group>
      {item.errorReason !== null && (
        <Alert color="red" title={item.errorReason.code} role="alert">
          {item.errorReason.message}
        </Alert>
      )}
      {item.archivedAt === null && <Actions item={item} />}
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <Surface>
          <ShowPart part={isCarousel ? carousel : player} props={{ item }} />
        </Surface>
        <Stack>
          {item.contentType === 'video' && item.uploadStatus === 'ready' && (
            <Retention id={item.id} />
          )}
          <Surface>
            <Facts item={item} />
          </Surface>
          {item.archivedAt === null && (
            <Surface>
              <Sharing item={item} />
            </Surface>
          )}
        </Stack>
      </SimpleGrid>
      <Statistics id={item.id} />
      {item.archivedAt === null && (
        <Surface>
          <Metadata key={item.id} item={item} tag={tag} />
        </Surface>
      )}
      {item.contentType === 'video' &&
        item.uploadStatus === 'ready' &&
        item.archivedAt === null && (
          <Surface>
            <Captions id={item.id} />
          </Surface>
        )}
      <SourceTracks item={item} />
      <Similar id={item.id} />
    </Stack>
  );
}

function Surface({ children }: { children: ReactNode }): ReactNode {
  return (
    <Paper withBorder p="md" miw={0}>
      {children}
    </Paper>
  );
}

function Actions({ item }: { item: Item }): ReactNode {
  const path = { id: item.id };
  const isPublished = item.publishStatus === 'published';
  const publish = useChange(() =>
    api.patch('/v1/content/{id}', {
      path,
      body: { publishStatus: isPublished ? 'unpublished' : 'published' },
    }),
  );
  const retry = useChange(() => api.post('/v1/content/{id}/retry', { path }));
  const archive = useChange(() => api.delete('/v1/content/{id}', { path }));
  const error = publish.error ?? retry.error ?? archive.error;
  return (
    <Stack gap="xs">
      <Group>
        {item.uploadStatus === 'ready' && (
          <Button
            variant={isPublished ? 'default' : 'filled'}
            loading={publish.isPending}
            onClick={() => publish.mutate()}
          >
            {isPublished ? t('Unpublish') : t('Publish')}
          </Button>
        )}
        {item.errorReason !== null && (
          <Button
            variant={item.uploadStatus === 'error' ? 'filled' : 'default'}
            loading={retry.isPending}
            onClick={() => retry.mutate()}
          >
            {t('Retry processing')}
          </Button>
        )}
        <Button variant="default" loading={archive.isPending} onClick={() => archive.mutate()}>
          {t('Archive')}
        </Button>
      </Group>
      <Failed error={error} />
    </Stack>
  );
}

function Facts({ item }: { item: Item }): ReactNode {
  const facts: [string, ReactNode][] = [
    [t('Id'), <Id key="id" id={item.id} />],
    [t('Created'), moment(item.createdAt)],
    [t('Length'), item.duration === null ? '–' : seconds(item.duration)],
    [t('Picture'), item.width === null ? '–' : `${item.width} × ${item.height}`],
    [t('External id'), item.externalId ?? '–'],
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
