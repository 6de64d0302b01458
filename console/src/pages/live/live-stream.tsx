/** One live stream: its picture, viewers and key, and ending it. */
import { Anchor, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useRef, useState, type ReactNode, type RefObject } from 'react';
import { api } from '../../api.ts';
import { useChange, useRead, type Schemas } from '../../data.ts';
import { moment, whole } from '../../format.ts';
import { goTo } from '../../location.ts';
import { Page } from '../../page.tsx';
import { askThen } from '../../questions.tsx';
import { Failed, Show } from '../../states.tsx';
import { ItemPlayer } from '../content/item-player.tsx';
import { Clips } from './live-clips.tsx';
import { Simulcast } from './simulcast.tsx';
import { StreamHealth } from './stream-health.tsx';
import { latencyName, StreamAccess, StreamState } from './live.tsx';
import { t } from '../../texts/texts.ts';

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
      title={stream.data?.data.title ?? t('Live stream')}
      curl={{ path: `/v1/live-streams/${id}` }}
    >
      <Show of={stream}>{({ data }) => <Details stream={data} />}</Show>
    </Page>
  );
}

function Details({ stream }: { stream: LiveStream }): ReactNode {
  const { id, contentId, status, rtmpUrl, rtmpsUrl, srtUrl } = stream;
  const addresses = [rtmpUrl, rtmpsUrl, srtUrl].filter((url) => url !== null);
  const video = useRef<HTMLVideoElement>(null);
  const reset = useChange(() => api.post('/v1/live-streams/{id}/reset-key', { path: { id } }));
  return (
    <Stack>
      <Group gap="xl">
        <StreamState of={stream} />
        <Text size="sm">{latencyName(stream.latency)}</Text>
        <Watching id={id} isOver={status === 'ended'} />
        <Text size="sm">
          {t('{whole} s recorded', { whole: whole(Math.round(stream.recordedSeconds)) })}
        </Text>
        {stream.startedAt !== null && (
          <Text size="sm">{t('started {startedAt}', { startedAt: moment(stream.startedAt) })}</Text>
        )}
        {stream.endedAt !== null && (
          <Text size="sm">{t('ended {endedAt}', { endedAt: moment(stream.endedAt) })}</Text>
        )}
        <Anchor href={`#/content/${contentId}`} underline="always" size="sm">
          {t('Its item')}
        </Anchor>
      </Group>
      {stream.health !== null && <StreamHealth of={stream.health} drops={stream.disconnects} />}
      {status === 'idle' ? (
        <Text>
          {addresses.length === 0
            ? t('This service does not accept live streams: REELFEED_RTMP_PORT is 0.')
            : t('Waiting for an encoder at {rtmpUrl}.', { rtmpUrl: addresses.join(', ') })}
        </Text>
      ) : (
        <Picture stream={stream} video={video} />
      )}
      <Simulcast of={stream} />
      {stream.recordedSeconds > 0 && <Clips stream={stream} video={video} />}
      <Group>
        {status !== 'ended' && (
          <>
            <Button
              variant="default"
              loading={reset.isPending}
              onClick={() => askThen(resetting, () => reset.mutate())}
            >
              {t('Reset key')}
            </Button>
            <End of={stream} />
          </>
        )}
        {status !== 'active' && <Remove of={stream} />}
      </Group>
      <Failed error={reset.error} />
      {reset.data !== undefined && <StreamAccess stream={reset.data.data} />}
    </Stack>
  );
}

const resetting = {
  title: t('Reset the key of this stream?'),
  text: t('The old key stops working immediately: an encoder that uses it is disconnected.'),
  action: t('Reset key'),
};

function Remove({ of: { id, title } }: { of: LiveStream }): ReactNode {
  const remove = useChange(() => api.delete('/v1/live-streams/{id}', { path: { id } }), {
    reads: 'none',
  });
  const question = {
    title: t('Delete “{title}”?', { title }),
    text: t(
      'The stream and its key are permanently deleted. Its item is archived with its recording.',
    ),
    action: t('Delete the stream'),
  };
  return (
    <>
      <Button
        variant="default"
        loading={remove.isPending}
        onClick={() =>
          askThen(question, () => remove.mutate(undefined, { onSuccess: () => goTo('/live') }))
        }
      >
        {t('Delete…')}
      </Button>
      <Failed error={remove.error} />
    </>
  );
}

/** The current number of viewers, from the route that players use. */
function Watching({ id, isOver }: { id: string; isOver: boolean }): ReactNode {
  const status = useRead(
    '/v1/live-streams/{id}/status',
    { path: { id } },
    { every: isOver ? false : readEveryMs },
  );
  return (
    <Text size="sm">
      {t('{whole} watching', { whole: whole(status.data?.data.currentViewers ?? 0) })}
    </Text>
  );
}

function Picture({
  stream: { contentId, status },
  video,
}: {
  stream: LiveStream;
  video: RefObject<HTMLVideoElement | null>;
}): ReactNode {
  const item = useRead(
    '/v1/content/{id}',
    { path: { id: contentId } },
    { every: (answer) => (answer?.data.uploadStatus === 'ready' ? false : readEveryMs) },
  );
  // When the stream ends, another item is played: its recording.
  return (
    <Show of={item}>{({ data }) => <ItemPlayer key={status} item={data} video={video} />}</Show>
  );
}

function End({ of: { id, title } }: { of: LiveStream }): ReactNode {
  const [isOpen, { open, close }] = useDisclosure();
  const [confirmation, setConfirmation] = useState('');
  const end = useChange(() => api.post('/v1/live-streams/{id}/end', { path: { id } }));
  return (
    <>
      <Button color="red.9" onClick={open}>
        {t('End')}
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={t('End “{title}”?', { title })}
        closeButtonProps={{ 'aria-label': t('Close') }}
      >
        <Stack>
          <Text size="sm">
            {t('The encoder is disconnected, and the stream cannot be started again.')}
          </Text>
          <TextInput
            label={t('Type “end” to confirm')}
            data-autofocus
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
            {t('End the stream')}
          </Button>
        </Stack>
      </Modal>
    </>
  );
}
