/** Captions of a video: list, add a file, remove. */
import { Button, FileInput, Group, Stack, Table, TextInput, Title } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api, sendForm } from '../api.ts';
import { useChange, useRead } from '../data.ts';
import { Empty, Failed, Show } from '../states.tsx';

export function Captions({ id }: { id: string }): ReactNode {
  const captions = useRead('/v1/content/{id}/captions', { path: { id } });
  const remove = useChange((captionId: string) =>
    api.delete('/v1/content/{id}/captions/{captionId}', { path: { id, captionId } }),
  );
  return (
    <Stack gap="xs" role="region" aria-label="Captions">
      <Title order={2} size="h4">
        Captions
      </Title>
      <AddCaptions id={id} />
      <Failed error={remove.error} />
      <Show of={captions}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>No captions yet. Choose a WebVTT or SubRip file above.</Empty>
          ) : (
            <Table maw={640}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Language</Table.Th>
                  <Table.Th>Label</Table.Th>
                  <Table.Th>From</Table.Th>
                  <Table.Th>Action</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {data.map(({ id: captionId, language, label, source }) => (
                  <Table.Tr key={captionId}>
                    <Table.Td>{language}</Table.Td>
                    <Table.Td>{label}</Table.Td>
                    <Table.Td>{source}</Table.Td>
                    <Table.Td>
                      <Button
                        size="compact-sm"
                        variant="default"
                        aria-label={`Remove ${label}`}
                        onClick={() => remove.mutate(captionId)}
                      >
                        Remove
                      </Button>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          )
        }
      </Show>
    </Stack>
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
          label="File"
          placeholder="WebVTT or SubRip"
          accept=".vtt,.srt"
          miw={200}
          value={file}
          onChange={setFile}
        />
        <TextInput
          label="Language"
          placeholder="en"
          required
          pattern="[A-Za-z]{2}"
          w={100}
          value={language}
          onChange={(event) => setLanguage(event.currentTarget.value)}
        />
        <Button type="submit" loading={add.isPending} disabled={file === null}>
          Add captions
        </Button>
      </Group>
      <Failed error={add.error} />
    </form>
  );
}
