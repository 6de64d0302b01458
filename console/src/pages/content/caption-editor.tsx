/** The cues of a caption track. Saving stores a new version, then removes the old one. */
import { Alert, Button, Group, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, ownAddress, sendForm } from '../../api.ts';
import { useChange, type Schemas } from '../../data.ts';
import { Side } from '../../drawer.tsx';
import { Failed, Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';
import { cueTime, parseCues, problemOfCues, readCueTime, writeCues, type Cue } from './cues.ts';

type Track = Schemas['CaptionTrack'];
type Row = { key: number; start: string; end: string; text: string };

const rowOf = ({ start, end, text }: Cue, key: number): Row => ({
  key,
  start: cueTime(start),
  end: cueTime(end),
  text,
});

export function CaptionEditor({
  contentId,
  track,
  close,
}: {
  contentId: string;
  track: Track;
  close: () => void;
}): ReactNode {
  const [isDirty, setDirty] = useState(false);
  const file = useQuery({
    queryKey: ['captions', track.id, track.url],
    queryFn: async ({ signal }) => {
      const answer = await fetch(ownAddress(track.url), { signal });
      if (!answer.ok) throw new Error(t('The captions could not be read.'));
      return answer.text();
    },
    staleTime: Infinity,
  });
  return (
    <Side title={t('Captions “{label}”', { label: track.label })} close={close} isDirty={isDirty}>
      <Show of={file}>
        {(text) => (
          <Cues
            contentId={contentId}
            track={track}
            cues={parseCues(text)}
            touch={() => setDirty(true)}
            done={() => {
              setDirty(false);
              close();
            }}
          />
        )}
      </Show>
    </Side>
  );
}

function Cues({
  contentId,
  track,
  cues,
  touch,
  done,
}: {
  contentId: string;
  track: Track;
  cues: readonly Cue[];
  touch: () => void;
  done: () => void;
}): ReactNode {
  const [rows, setRows] = useState<readonly Row[]>(() => cues.map(rowOf));
  const read = rows.map(readRow);
  const isTimed = read.every((cue) => cue !== null);
  const problem = isTimed ? problemOfCues(read) : null;
  const save = useChange(async (next: readonly Cue[]) => {
    const form = new FormData();
    form.set('language', track.language);
    form.set('label', track.label);
    form.set('file', new Blob([writeCues(next)], { type: 'text/vtt' }), 'captions.vtt');
    // The new version first: a failure in between leaves two tracks, never none.
    await sendForm(`/v1/content/${contentId}/captions`, form);
    await api.delete('/v1/content/{id}/captions/{captionId}', {
      path: { id: contentId, captionId: track.id },
    });
  });
  const update = (next: readonly Row[]) => {
    setRows(next);
    touch();
  };
  const set = (row: Row, changes: Partial<Row>) =>
    update(rows.map((each) => (each === row ? { ...row, ...changes } : each)));
  const add = () => {
    const last = read.at(-1)?.end ?? 0;
    const key = Math.max(-1, ...rows.map((row) => row.key)) + 1;
    update([...rows, rowOf({ start: last, end: last + 2, text: '' }, key)]);
  };
  return (
    <Stack>
      {rows.map((row, at) => (
        <CueRow
          key={row.key}
          row={row}
          number={at + 1}
          error={problem?.at === at ? problem.text : null}
          set={(changes) => set(row, changes)}
          remove={() => update(rows.filter((each) => each !== row))}
        />
      ))}
      {rows.length === 0 && <Text size="sm">{t('This track has no captions.')}</Text>}
      <Button variant="default" size="compact-sm" w="fit-content" onClick={add}>
        {t('Add a caption')}
      </Button>
      {!isTimed && <Alert color="yellow">{t('Times have the form 00:01:23.500.')}</Alert>}
      <Failed error={save.error} />
      <Group>
        <Button
          loading={save.isPending}
          disabled={!isTimed || problem !== null || rows.length === 0}
          onClick={() => isTimed && save.mutate(read, { onSuccess: done })}
        >
          {t('Save a new version')}
        </Button>
      </Group>
    </Stack>
  );
}

function readRow({ start, end, text }: Row): Cue | null {
  const [from, to] = [readCueTime(start), readCueTime(end)];
  return from === null || to === null ? null : { start: from, end: to, text };
}

function CueRow({
  row: { start, end, text },
  number,
  error,
  set,
  remove,
}: {
  row: Row;
  number: number;
  error: string | null;
  set: (changes: Partial<Row>) => void;
  remove: () => void;
}): ReactNode {
  return (
    <Group align="flex-start" gap="xs" role="group" aria-label={t('Caption {number}', { number })}>
      <TextInput
        label={t('From')}
        w={130}
        value={start}
        error={readCueTime(start) === null}
        onChange={(event) => set({ start: event.currentTarget.value })}
      />
      <TextInput
        label={t('To')}
        w={130}
        value={end}
        error={readCueTime(end) === null}
        onChange={(event) => set({ end: event.currentTarget.value })}
      />
      <Textarea
        label={t('Text')}
        autosize
        minRows={1}
        flex={1}
        miw={180}
        value={text}
        error={error}
        onChange={(event) => set({ text: event.currentTarget.value })}
      />
      <Button
        variant="default"
        size="compact-sm"
        mt={28}
        aria-label={t('Remove caption {number}', { number })}
        onClick={remove}
      >
        {t('Remove')}
      </Button>
    </Group>
  );
}
