/** Upload by choosing or dropping files. What a cut or a reload interrupted continues where it was. */
import { Button, FileButton, Group, Paper, Progress, Stack, Text } from '@mantine/core';
import { ReelfeedError, upload } from '@reelfeed/client/session';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type DragEvent, type ReactNode } from 'react';
import { api, ownAddress } from '../api.ts';
import { busyWith } from '../busy.ts';

type Upload = { key: number; name: string; share: number; error: string | null; file: File };

let lastKey = 0;

export function Uploads(): ReactNode {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const [isOver, setOver] = useState(false);
  const client = useQueryClient();
  const update = (key: number, change: Partial<Upload>) =>
    setUploads((all) => all.map((one) => (one.key === key ? { ...one, ...change } : one)));

  const start = async ({ key, file }: Upload) => {
    update(key, { error: null });
    try {
      await busyWith(send(file, (share) => update(key, { share })));
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
    for (const one of fresh) await start(one);
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
        <Row key={one.key} upload={one} retry={() => void start(one)} />
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
            Go on
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
 * Sends a file. The browser remembers the address of an upload under way, so that the same file goes
 * on there after a reload.
 */
async function send(file: File, onProgress: (share: number) => void): Promise<void> {
  const name = `reelfeed-upload ${file.name} ${file.size} ${file.lastModified}`;
  const remembered = localStorage.getItem(name);
  const uploadUrl = ownAddress(remembered ?? (await createUpload(file)));
  localStorage.setItem(name, uploadUrl);
  try {
    await upload(file, {
      uploadUrl,
      onProgress: ({ sentBytes, totalBytes }) => onProgress(sentBytes / totalBytes),
    });
    localStorage.removeItem(name);
  } catch (error) {
    const isOver = error instanceof ReelfeedError && error.status !== null && !error.isTransient;
    if (isOver) localStorage.removeItem(name);
    // The remembered upload has expired, or is done: this is a new one.
    if (isOver && remembered !== null && error.status === 404) return send(file, onProgress);
    throw error;
  }
}

async function createUpload(file: File): Promise<string> {
  const title = file.name.replace(/\.[^.]+$/, '').slice(0, 200) || 'Untitled';
  const { data } = await api.post('/v1/content/upload', { body: { title } });
  return data.uploadUrl ?? '';
}
