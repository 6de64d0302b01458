/** Live streams: create one, and see which are live. */
import {
  Alert,
  Anchor,
  Badge,
  Button,
  Code,
  Group,
  Select,
  Stack,
  Table,
  Text,
  TextInput,
} from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, useList, type Schemas } from '../../data.ts';
import { Opener } from '../../drawer.tsx';
import { moment, whole } from '../../format.ts';
import { formText } from '../../form-text.ts';
import { Copy, Page } from '../../page.tsx';
import { Empty, Failed, More, Show } from '../../states.tsx';
import { NumberField } from '../../number-field.tsx';
import { t } from '../../texts/texts.ts';

type LiveStream = Schemas['LiveStream'];

const readEveryMs = 3_000;
const defaultWindowSeconds = 60;

export function LivePage(): ReactNode {
  const streams = useList('/v1/live-streams', {}, { every: readEveryMs });
  return (
    <Page
      title={t('Live')}
      about={t('Broadcasts over RTMP or SRT. Each becomes a video when it ends.')}
      curl={{ path: '/v1/live-streams' }}
      actions={<Opener label={t('New live stream')}>{() => <NewStream />}</Opener>}
    >
      <Show of={streams}>
        {(data) =>
          data.length === 0 ? (
            <Empty command="npx reelfeed live test">
              {t(
                'No live streams yet. “New live stream” creates one; this command publishes a test picture.',
              )}
            </Empty>
          ) : (
            <Streams streams={data} />
          )
        }
      </Show>
      <More of={streams} />
    </Page>
  );
}

function NewStream(): ReactNode {
  const [reconnectWindow, setReconnectWindow] = useState(defaultWindowSeconds);
  const [dvrWindow, setDvrWindow] = useState(0);
  const [latency, setLatency] = useState<LiveStream['latency']>('low');
  const create = useChange((title: string) =>
    api.post('/v1/live-streams', { body: { title, reconnectWindow, dvrWindow, latency } }),
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    create.mutate(formText(event.currentTarget, 'title'));
  };
  return (
    <Stack>
      <form onSubmit={submit}>
        <Stack>
          <TextInput name="title" label={t('Title')} required maxLength={200} />
          <NumberField
            label={t('Reconnect window (seconds)')}
            min={0}
            max={1800}
            allowDecimal={false}
            value={reconnectWindow}
            onChange={setReconnectWindow}
          />
          <NumberField
            label={t('Viewers can rewind by (seconds)')}
            min={0}
            max={43_200}
            allowDecimal={false}
            value={dvrWindow}
            onChange={setDvrWindow}
          />
          <Select
            label={t('Latency')}
            description={t(
              'Low: viewers are about two seconds behind. Normal: about seven, with fewer requests.',
            )}
            allowDeselect={false}
            data={[
              { value: 'low', label: latencyName('low') },
              { value: 'normal', label: latencyName('normal') },
            ]}
            value={latency}
            onChange={(chosen) => setLatency(chosen ?? 'low')}
          />
          <Button type="submit" w="fit-content" loading={create.isPending}>
            {t('Create live stream')}
          </Button>
        </Stack>
      </form>
      <Failed error={create.error} />
      {create.data !== undefined && <StreamAccess stream={create.data.data} />}
    </Stack>
  );
}

export function latencyName(latency: LiveStream['latency']): string {
  return latency === 'low' ? t('low latency') : t('normal latency');
}

/** Addresses for encoders. Null if the port is not open. */
type IngestUrls = Pick<LiveStream, 'rtmpUrl' | 'rtmpsUrl' | 'srtUrl'>;

/** A stream's key, which is shown once, and how to use it. */
export function StreamAccess({
  stream: { rtmpUrl, rtmpsUrl, srtUrl, streamKey },
}: {
  stream: IngestUrls & { streamKey: string };
}): ReactNode {
  const server = rtmpUrl ?? rtmpsUrl ?? t('the service’s RTMP port, which is off');
  const caller = srtUrl === null ? null : `${srtUrl}?streamid=${streamKey}`;
  return (
    <Alert title={t('The stream key is shown only once: store it safely')} role="status">
      <Stack gap="xs">
        <Group>
          <Text size="sm">{t('Stream key')}</Text>
          <Code style={{ overflowWrap: 'anywhere' }}>{streamKey}</Code>
          <Copy text={streamKey} label={t('Copy key')} />
        </Group>
        <Group>
          <Text size="sm">{t('Server')}</Text>
          <Code style={{ overflowWrap: 'anywhere' }}>{server}</Code>
          <Copy text={server} label={t('Copy server')} />
        </Group>
        {caller !== null && (
          <Group>
            <Text size="sm">{t('Server for SRT')}</Text>
            <Code style={{ overflowWrap: 'anywhere' }}>{caller}</Code>
            <Copy text={caller} label={t('Copy server for SRT')} />
          </Group>
        )}
        <Text size="sm">
          {t(
            'In OBS: Settings, Stream, Service “Custom”; then paste server and key. Under Output choose H.264 and AAC, and a keyframe interval of 2 s.',
          )}
        </Text>
      </Stack>
    </Alert>
  );
}

function Streams({ streams }: { streams: readonly LiveStream[] }): ReactNode {
  return (
    <Table.ScrollContainer minWidth={560}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Title')}</Table.Th>
            <Table.Th>{t('State')}</Table.Th>
            <Table.Th>{t('Viewers')}</Table.Th>
            <Table.Th>{t('Started')}</Table.Th>
            <Table.Th>{t('Ended')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {streams.map((stream) => (
            <Table.Tr key={stream.id}>
              <Table.Td>
                <Anchor href={`#/live/${stream.id}`} underline="always">
                  {stream.title}
                </Anchor>
              </Table.Td>
              <Table.Td>
                <StreamState of={stream} />
              </Table.Td>
              <Table.Td>{whole(stream.currentViewers)}</Table.Td>
              <Table.Td>{stream.startedAt === null ? '–' : moment(stream.startedAt)}</Table.Td>
              <Table.Td>{stream.endedAt === null ? '–' : moment(stream.endedAt)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

export function StreamState({ of: { status, isConnected } }: { of: LiveStream }): ReactNode {
  if (status === 'idle') return <Text size="sm">{t('idle')}</Text>;
  if (status === 'ended') return <Text size="sm">{t('ended')}</Text>;
  return (
    <Badge color="red.9" variant="filled">
      {isConnected ? 'live' : 'reconnecting'}
    </Badge>
  );
}
