/** Captions of a video: list, add a file, remove. */
import { Button, FileInput, Group, Stack, Table, TextInput, Title } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api, sendForm } from '../../api.ts';
import { useChange, useRead, type Schemas } from '../../data.ts';
import { askThen } from '../../questions.tsx';
import { Empty, Failed, Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';
import { CaptionEditor } from './caption-editor.tsx';

export function Captions({ id }: { id: string }): ReactNode {
  const captions = useRead('/v1/content/{id}/captions', { path: { id } });
  const remove = useChange((captionId: string) =>
    api.delete('/v1/content/{id}/captions/{captionId}', { path: { id, captionId } }),
  );
  const [edited, setEdited] = useState<string | null>(null);
  const open = captions.data?.data.find((one) => one.id === edited);
  return (
    <Stack gap="xs" role="region" aria-label={t('Captions')}>
      {open !== undefined && (
        <CaptionEditor contentId={id} track={open} close={() => setEdited(null)} />
      )}
      <Title order={2} size="h4">
        {t('Captions')}
      </Title>
      <AddCaptions id={id} />
      <Failed error={remove.error} />
      <Show of={captions}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>{t('No captions yet. Choose a WebVTT or SubRip file above.')}</Empty>
          ) : (
            <Table maw={640}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{t('Language')}</Table.Th>
                  <Table.Th>{t('Label')}</Table.Th>
                  <Table.Th>{t('From')}</Table.Th>
                  <Table.Th>{t('Action')}</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {data.map((track) => (
                  <Track
                    key={track.id}
                    track={track}
                    edit={() => setEdited(track.id)}
                    remove={() => remove.mutate(track.id)}
                  />
                ))}
              </Table.Tbody>
            </Table>
          )
        }
      </Show>
    </Stack>
  );
}

function Track({
  track: { language, label, source, url },
  edit,
  remove,
}: {
  track: Schemas['CaptionTrack'];
  edit: () => void;
  remove: () => void;
}): ReactNode {
  return (
    <Table.Tr>
      <Table.Td>{language}</Table.Td>
      <Table.Td>{label}</Table.Td>
      <Table.Td>{source === 'uploaded' ? t('Uploaded file') : t('Generated')}</Table.Td>
      <Table.Td>
        <Group gap="xs">
          {url !== '' && (
            <Button
              size="compact-sm"
              variant="default"
              aria-label={t('Edit {label}', { label })}
              onClick={edit}
            >
              {t('Edit')}
            </Button>
          )}
          <Button
            size="compact-sm"
            variant="default"
            aria-label={t('Remove {label}', { label })}
            onClick={() =>
              askThen(
                {
                  title: t('Remove the captions “{label}”?', { label }),
                  text: t('Their text is lost. Keep the file if you may need it again.'),
                  action: t('Remove the captions'),
                },
                remove,
              )
            }
          >
            {t('Remove')}
          </Button>
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

function AddCaptions({ id }: { id: string }): ReactNode {
  const [file, setFile] = useState<File | null>(null);
  const [language, setLanguage] = useState('');
  const add = useChange((form: FormData) => sendForm(`/v1/content/${id}/captions`, form));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (file === null) return;
    const form = new FormData();
    form.set('language', language.trim());
    form.set('file', file);
    add.mutate(form, { onSuccess: () => setFile(null) });
  };
  return (
    <form onSubmit={submit}>
      <Group align="end">
        <FileInput
          label={t('File')}
          placeholder={t('WebVTT or SubRip')}
          accept=".vtt,.srt"
          miw={200}
          value={file}
          onChange={setFile}
        />
        <TextInput
          label={t('Language')}
          placeholder="en"
          required
          pattern="[A-Za-z]{2}"
          w={100}
          value={language}
          onChange={(event) => setLanguage(event.currentTarget.value)}
        />
        <Button type="submit" loading={add.isPending} disabled={file === null}>
          {t('Add captions')}
        </Button>
      </Group>
      <Failed error={add.error} />
    </form>
  );
}
