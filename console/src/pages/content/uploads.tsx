/** Uploads by choosing or dropping files. */
import { Button, FileButton, Group, Paper, Text } from '@mantine/core';
import { useState, type DragEvent, type ReactNode } from 'react';
import { UploadList } from '../../upload-tray.tsx';
import { addFiles, useUploads } from '../../uploads.ts';
import { t } from '../../texts/texts.ts';

export function Uploads(): ReactNode {
  const uploads = useUploads();
  const [isOver, setOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    addFiles([...event.dataTransfer.files]);
  };
  return (
    <Paper
      withBorder
      p="sm"
      bg={isOver ? 'var(--mantine-primary-color-light)' : 'transparent'}
      style={{ borderStyle: 'dashed' }}
      onDrop={drop}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
    >
      <Group mb={uploads.length === 0 ? 0 : 'sm'}>
        <FileButton
          multiple
          accept="video/*,audio/*"
          inputProps={{ 'aria-label': t('Videos to upload') }}
          onChange={addFiles}
        >
          {(props) => <Button {...props}>{t('Upload videos')}</Button>}
        </FileButton>
        <Text size="sm">{t('or drop them here')}</Text>
      </Group>
      {uploads.length > 0 && <UploadList />}
    </Paper>
  );
}
