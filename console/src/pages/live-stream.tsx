/** One live stream: its picture, its viewers, its key, its end. */
import { Anchor, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';
import { api } from '../api.ts';
import { useChange, useRead, type Schemas } from '../data.ts';
import { moment, whole } from '../format.ts';
import { Page } from '../page.tsx';
import { Failed, Show } from '../states.tsx';
import { ItemPlayer } from './item-player.tsx';
import { StreamAccess, StreamState } from './live.tsx';

type LiveStream = Schemas['LiveStream'];

const readEveryMs = 2_000;

export function LiveStreamPage({ id }: { id: string }): ReactNode {
  const stream = useRead(
    '/v1/live-streams/{id}',
    { path: { id } },
    { every: (answer) => (answer?.data.status === 'ended' ? false : readEveryMs) },
  );
  return (
    <Page
      title={stream.data?.data.title ?? 'Live stream'}
      curl={{ path: `/v1/live-streams/${id}` }}
    >
      <Show of={stream}>{({ data }) => <Details stream={data} />}</Show>
    </Page>
  );
}

function Details({ stream }: { stream: LiveStream }): ReactNode {
  const { id, contentId, status } = stream;
  const reset = useChange(() => api.post('/v1/live-streams/{id}/reset-key', { path: { id } }));
  return (
    <Stack>
      <Group gap="xl">
        <StreamState of={stream} />
        <Text size="sm">{`${whole(stream.currentViewers)} watching`}</Text>
        <Text size="sm">{`${whole(Math.round(stream.recordedSeconds))} s recorded`}</Text>
        {stream.startedAt !== null && (
          <Text size="sm">{`started ${moment(stream.startedAt)}`}</Text>
        )}
        {stream.endedAt !== null && <Text size="sm">{`ended ${moment(stream.endedAt)}`}</Text>}
        <Anchor href={`#/content/${contentId}`} underline="always" size="sm">
          Its item
        </Anchor>
      </Group>
      {status === 'idle' ? (
        <Text>
          {stream.rtmpUrl === null
            ? 'This service takes no live streams: REELFEED_RTMP_PORT is 0.'
            : `Waiting for an encoder at ${stream.rtmpUrl}.`}
        </Text>
      ) : (
        <Picture stream={stream} />
      )}
      {status !== 'ended' && (
        <Group>
          <Button variant="default" loading={reset.isPending} onClick={() => reset.mutate()}>
            Reset key
          </Button>
          <End of={stream} />
        </Group>
      )}
      <Failed error={reset.error} />
      {reset.data !== undefined && <StreamAccess stream={reset.data.data} />}
    </Stack>
  );
}

function Picture({ stream: { contentId, status } }: { stream: LiveStream }): ReactNode {
  const item = useRead(
    '/v1/content/{id}',
    { path: { id: contentId } },
    { every: (answer) => (answer?.data.uploadStatus === 'ready' ? false : readEveryMs) },
  );
  // When the stream ends, another item is played: its recording.
  return <Show of={item}>{({ data }) => <ItemPlayer key={status} item={data} />}</Show>;
}

function End({ of: { id, title } }: { of: LiveStream }): ReactNode {
  const [isOpen, { open, close }] = useDisclosure();
  const [confirmation, setConfirmation] = useState('');
  const end = useChange(() => api.post('/v1/live-streams/{id}/end', { path: { id } }));
  return (
    <>
      <Button color="red.9" onClick={open}>
        End
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={`End “${title}”?`}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <Stack>
          <Text size="sm">The encoder is cut off, and the stream cannot be started again.</Text>
          <TextInput
            label="Type “end” to confirm"
            value={confirmation}
            onChange={({ currentTarget }) => setConfirmation(currentTarget.value)}
          />
          <Failed error={end.error} />
          <Button
            color="red.9"
            disabled={confirmation !== 'end'}
            loading={end.isPending}
            onClick={() => end.mutate(undefined, { onSuccess: close })}
          >
            End the stream
          </Button>
        </Stack>
      </Modal>
    </>
  );
}
