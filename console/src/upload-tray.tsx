/** Uploads across all pages: their progress, and unfinished ones. */
import { Button, FileButton, Group, Progress, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { Side } from './drawer.tsx';
import { bytes, seconds } from './format.ts';
import { askThen } from './questions.tsx';
import { addFiles, clearDone, discard, goOn, onUploadEnd, stop, useUploads } from './uploads.ts';
import type { Upload } from './uploads.ts';
import { t } from './texts/texts.ts';

/** The button in the header, shown once there is an upload. */
export function UploadTray(): ReactNode {
  const uploads = useUploads();
  const client = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => onUploadEnd(() => void client.invalidateQueries()), [client]);
  const rest = uploads.filter(({ state }) => state !== 'done');
  if (uploads.length === 0) return null;
  const running = rest.find(({ state }) => state === 'sending');
  const words =
    running !== undefined
      ? `Uploading ${shareOf(running)}`
      : rest.length > 0
        ? `${rest.length} unfinished`
        : 'Uploads';
  return (
    <>
      <Button size="compact-sm" variant="default" onClick={() => setOpen(true)}>
        {words}
      </Button>
      {isOpen && (
        <Side title={t('Uploads')} close={() => setOpen(false)}>
          <UploadList />
          {uploads.length > rest.length && (
            <Button mt="md" size="xs" variant="default" onClick={clearDone}>
              {t('Clear finished uploads')}
            </Button>
          )}
        </Side>
      )}
    </>
  );
}

export function UploadList(): ReactNode {
  const uploads = useUploads();
  if (uploads.length === 0) return <Text size="sm">{t('No upload.')}</Text>;
  return (
    <Stack gap="xs">
      {uploads.map((one) => (
        <Row key={one.key} upload={one} />
      ))}
    </Stack>
  );
}

const shareOf = ({ sentBytes, sizeBytes }: Upload) =>
  `${Math.floor((100 * sentBytes) / Math.max(1, sizeBytes))} %`;

function stateOf(upload: Upload): string {
  const { state, error, speed, sentBytes, sizeBytes, file } = upload;
  switch (state) {
    case 'done':
      return 'uploaded';
    case 'waiting':
      return 'waits for its turn';
    case 'stopped':
      if (error !== null) return error;
      return `${shareOf(upload)}, ${file === null ? 'unfinished: choose the same file to continue' : 'stopped'}`;
    case 'sending': {
      const left = speed === null || speed <= 0 ? null : (sizeBytes - sentBytes) / speed;
      return [
        `${shareOf(upload)} of ${bytes(sizeBytes)}`,
        speed !== null && `${bytes(speed)}/s`,
        left !== null && `${seconds(left)} left`,
      ]
        .filter(Boolean)
        .join(', ');
    }
    default:
      return state satisfies never;
  }
}

function Row({ upload }: { upload: Upload }): ReactNode {
  const { key, name, state, error, sentBytes, sizeBytes } = upload;
  const button = { size: 'compact-sm', variant: 'default' } as const;
  return (
    <Stack gap={4} role="group" aria-label={t('Upload {name}', { name })}>
      <Text size="sm" role="status" style={{ overflowWrap: 'anywhere' }}>
        {`${name}: ${stateOf(upload)}`}
      </Text>
      {state !== 'done' && (
        <Progress
          value={(100 * sentBytes) / Math.max(1, sizeBytes)}
          color={error === null ? 'indigo' : 'red'}
          aria-label={t('Upload of {name}', { name })}
        />
      )}
      <Group gap="xs">
        {(state === 'sending' || state === 'waiting') && (
          <Button {...button} onClick={() => stop(key)}>
            {t('Stop')}
          </Button>
        )}
        {state === 'stopped' && upload.file !== null && (
          <Button {...button} onClick={() => goOn(key)}>
            {t('Go on')}
          </Button>
        )}
        {state === 'stopped' && upload.file === null && (
          <FileButton
            accept="video/*,audio/*"
            inputProps={{ 'aria-label': `File of ${name}` }}
            onChange={(file) => file !== null && addFiles([file])}
          >
            {(props) => (
              <Button {...props} {...button}>
                {t('Choose the file')}
              </Button>
            )}
          </FileButton>
        )}
        {state !== 'done' && (
          <Button {...button} onClick={() => askThen(discarding(name), () => void discard(key))}>
            {t('Cancel upload')}
          </Button>
        )}
      </Group>
    </Stack>
  );
}

const discarding = (name: string) => ({
  title: t('Cancel this upload?'),
  text: t('The uploaded part of “{name}” is lost, and its item is archived.', { name }),
  action: t('Cancel upload'),
});
