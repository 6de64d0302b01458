/** Incoming events, accepted and rejected. */
import { Badge, Button, Group, Paper, Table, Text, Title } from '@mantine/core';
import { useEffect, useState, type ReactNode } from 'react';
import { openStream } from '../../api.ts';
import { Failed } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

type TailEvent = {
  key: number;
  status: 'accepted' | 'rejected';
  receivedAt: string;
  event: string;
  contentId: string | null;
  userId: string | null;
  appVersion?: string | null;
  bot?: boolean;
  message?: string;
};

const maxShown = 8;
const pauseMs = 3_000;

export function LiveTail(): ReactNode {
  const [isRunning, setRunning] = useState(true);
  const { events, error } = useTail(isRunning);
  return (
    <Paper withBorder p="md">
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5">
          {t('Events as they come in')}
        </Title>
        <Button size="compact-sm" variant="default" onClick={() => setRunning(!isRunning)}>
          {isRunning ? t('Pause') : t('Go on')}
        </Button>
      </Group>
      <Failed error={error} />
      <Table.ScrollContainer minWidth={480} mih={maxShown * 33 + 40}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th w={110}>{t('Time')}</Table.Th>
              <Table.Th w={110}>{t('Answer')}</Table.Th>
              <Table.Th w={140}>{t('Event')}</Table.Th>
              <Table.Th w={110}>{t('App')}</Table.Th>
              <Table.Th>{t('Viewer')}</Table.Th>
              <Table.Th>{t('Item')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {events.map(({ key, message, ...one }) => (
              <Table.Tr key={key} title={message}>
                <Table.Td>{new Date(one.receivedAt).toLocaleTimeString()}</Table.Td>
                <Table.Td>
                  <Badge
                    variant="outline"
                    color={one.status === 'accepted' ? 'gray' : 'red.9'}
                    tt="none"
                  >
                    {one.status}
                  </Badge>
                </Table.Td>
                <Table.Td>{one.event}</Table.Td>
                <Table.Td>{one.bot === true ? 'bot' : (one.appVersion ?? '–')}</Table.Td>
                <Table.Td>{one.userId ?? '–'}</Table.Td>
                <Table.Td>{one.contentId ?? '–'}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        {events.length === 0 && <Text size="sm">{t('Waiting for the next event.')}</Text>}
      </Table.ScrollContainer>
    </Paper>
  );
}

function useTail(isRunning: boolean): { events: readonly TailEvent[]; error: Error | null } {
  const [events, setEvents] = useState<readonly TailEvent[]>([]);
  const [error, setError] = useState<Error | null>(null);
  useEffect(() => {
    if (!isRunning) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let count = 0;
    const show = (event: Omit<TailEvent, 'key'>) => {
      count += 1;
      const key = Date.now() * 1_000 + (count % 1_000);
      setEvents((old) => [{ ...event, key }, ...old].slice(0, maxShown));
    };
    const read = async () => {
      try {
        setError(null);
        await readEvents(stop.signal, show);
      } catch (failure) {
        if (!stop.signal.aborted) setError(failure as Error);
      }
      if (!stop.signal.aborted) timer = setTimeout(() => void read(), pauseMs);
    };
    void read();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [isRunning]);
  return { events, error };
}

async function readEvents(
  signal: AbortSignal,
  show: (event: Omit<TailEvent, 'key'>) => void,
): Promise<void> {
  const { body } = await openStream('/v1/events/stream', signal);
  if (body === null) return;
  let rest = '';
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      if (!block.startsWith('event: event\n')) continue;
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data !== undefined) show(JSON.parse(data) as Omit<TailEvent, 'key'>);
    }
  }
}
