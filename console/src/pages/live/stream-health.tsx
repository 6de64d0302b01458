/** The health of a live stream's encoder. */
import { Alert, Group, List, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Schemas } from '../../data.ts';
import { whole } from '../../format.ts';
import { t } from '../../texts/texts.ts';

type Health = NonNullable<Schemas['LiveStream']['health']>;

export function StreamHealth({ of, drops }: { of: Health; drops: number }): ReactNode {
  const { bitrate, frameRate, keyFrameInterval, renditions, warnings } = of;
  return (
    <Stack gap="xs">
      <Group gap="xl">
        <Text size="sm">{`${whole(Math.round(bitrate / 1_000))} kbit/s`}</Text>
        <Text size="sm">{t('{frameRate} frames per second', { frameRate })}</Text>
        {keyFrameInterval !== null && (
          <Text size="sm">{t('key frames every {keyFrameInterval} s', { keyFrameInterval })}</Text>
        )}
        {renditions.map(({ height, name, state, width }) => (
          <Text size="sm" key={name}>
            {state === 'live'
              ? t('{width} × {height}', { width: String(width), height: String(height) })
              : t('{width} × {height}: not generated', {
                  width: String(width),
                  height: String(height),
                })}
          </Text>
        ))}
        <Text size="sm">{t('{count} drop|{count} drops', { count: drops })}</Text>
      </Group>
      {warnings.length > 0 && (
        <Alert title={t('The encoder needs attention')} color="yellow">
          <List size="sm">
            {warnings.map(({ code, message }) => (
              <List.Item key={code}>{message}</List.Item>
            ))}
          </List>
        </Alert>
      )}
    </Stack>
  );
}
