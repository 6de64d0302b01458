/** Upload by choosing or dropping files. What a cut or a reload interrupted goes on where it was. */
import { Button, FileButton, Group, Paper, Progress, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type DragEvent, type ReactNode } from 'react';
import { api, ownAddress } from '../api.ts';
import { words } from '../format.ts';

type Upload = { key: number; name: string; share: number; error: string | null; file: File };

let lastKey = 0;

export function Uploads(): ReactNode {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const [isOver, setOver] = useState(false);
  const client = useQueryClient();
  const update = (key: number, change: Partial<Upload>) =>
    setUploads((all) => all.map((one) => (one.key === key ? { ...one, ...change } : one)));

  const send = async ({ key, file }: Upload) => {
    update(key, { error: null });
    try {
      await upload(file, (share) => update(key, { share }));
      update(key, { share: 1 });
    } catch (error) {
      update(key, { error: (error as Error).message });
    }
    await client.invalidateQueries();
  };
  const sendAll = async (files: File[]) => {
    const fresh = files.map((file) => {
      lastKey += 1;
      return { key: lastKey, name: file.name, share: 0, error: null, file };
    });
    setUploads((all) => [...all, ...fresh]);
    for (const one of fresh) await send(one);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void sendAll([...event.dataTransfer.files]);
  };
  return (
    <Paper
      withBorder
      p="md"
      bg={isOver ? 'var(--mantine-primary-color-light)' : 'transparent'}
      style={{ borderStyle: 'dashed' }}
      onDrop={drop}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
    >
      <Group>
        <FileButton
          multiple
          accept="video/*,audio/*"
          inputProps={{ 'aria-label': 'Videos to upload' }}
          onChange={(files) => void sendAll(files)}
        >
          {(props) => <Button {...props}>Upload videos</Button>}
        </FileButton>
        <Text size="sm">or drop them here</Text>
      </Group>
      {uploads.map((one) => (
        <Row key={one.key} upload={one} retry={() => void send(one)} />
      ))}
    </Paper>
  );
}

function Row({ upload, retry }: { upload: Upload; retry: () => void }): ReactNode {
  const { name, share, error } = upload;
  return (
    <Stack gap={4} mt="xs">
      <Group gap="xs">
        <Text size="sm" role="status">
          {error === null
            ? `${name}: ${share === 1 ? 'uploaded' : `${Math.round(share * 100)} %`}`
            : `${name}: ${error}`}
        </Text>
        {error !== null && (
          <Button size="compact-xs" variant="default" onClick={retry}>
            {words('goOn')}
          </Button>
        )}
      </Group>
      <Progress
        value={share * 100}
        color={error === null ? 'indigo' : 'red'}
        aria-label={`Upload of ${name}`}
      />
    </Stack>
  );
}

/**
 * Sends a file by tus, whose code is loaded for it alone. The browser remembers the address of an
 * upload under way, so that the same file goes on there.
 */
async function upload(file: File, onProgress: (share: number) => void): Promise<void> {
  const { Upload: TusUpload } = await import('tus-js-client');
  await new Promise<void>((resolve, reject) => {
    const tus = new TusUpload(file, {
      retryDelays: [0, 1_000, 3_000, 5_000, 10_000],
      removeFingerprintOnSuccess: true,
      onProgress: (sent, total) => onProgress(total === 0 ? 0 : sent / total),
      onSuccess: () => resolve(),
      onError: (error) =>
        reject(
          'originalResponse' in error && error.originalResponse !== null
            ? new Error(messageOf(error.originalResponse.getBody()))
            : new Error('The connection broke.'),
        ),
    });
    const start = async () => {
      const [previous] = await tus.findPreviousUploads();
      if (previous === undefined) {
        const title = file.name.replace(/\.[^.]+$/, '').slice(0, 200) || 'Untitled';
        const { data } = await api.post('/v1/content/upload', { body: { title } });
        tus.options.endpoint = ownAddress(data.uploadUrl ?? '');
      } else {
        tus.resumeFromPreviousUpload(previous);
      }
      tus.start();
    };
    start().catch(reject);
  });
}

function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as { error: { message: string } }).error.message;
  } catch {
    return 'The upload was refused.';
  }
}
