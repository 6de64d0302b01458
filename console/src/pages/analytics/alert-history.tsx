/** When an alert was opened and resolved, and why. */
import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useList, type ItemOf } from '../../data.ts';
import { Side } from '../../drawer.tsx';
import { moment } from '../../format.ts';
import { More, Show } from '../../states.tsx';
import { describeLast } from './alert-rules.ts';
import { t } from '../../texts/texts.ts';

type Event = ItemOf<'/v1/analytics/alerts/{id}/events'>;

const reasons: Record<Event['reason'], string> = {
  breached: 'the value left its bounds',
  recovered: 'the value is back within its bounds',
  changed: 'the alert was changed',
  paused: 'the alert was paused',
};

export function AlertHistory({
  id,
  name,
  close,
}: {
  id: string;
  name: string;
  close: () => void;
}): ReactNode {
  const events = useList('/v1/analytics/alerts/{id}/events', { path: { id } });
  return (
    <Side title={t('History of {name}', { name })} close={close}>
      <Stack>
        <Show of={events}>
          {(data) =>
            data.length === 0 ? (
              <Text size="sm">{t('It has not been opened in the last 90 days.')}</Text>
            ) : (
              <Stack gap="xs">
                {data.map((event) => (
                  <Text key={`${event.at} ${event.state}`} size="sm">
                    {t('{at}: {state}, {value}. Value: {describeLast}', {
                      at: moment(event.at),
                      state: event.state,
                      value: reasons[event.reason],
                      describeLast: describeLast({ last: event }),
                    })}
                  </Text>
                ))}
              </Stack>
            )
          }
        </Show>
        <More of={events} />
      </Stack>
    </Side>
  );
}
