/** Creates clips of a broadcast from a part of its timeline, during or after the broadcast. */
import {
  Alert,
  Anchor,
  Button,
  Group,
  List,
  NumberInput,
  RangeSlider,
  TagsInput,
  TextInput,
} from '@mantine/core';
import { useState, type FormEvent, type ReactNode, type RefObject } from 'react';
import { api } from '../../api.ts';
import { Card } from '../../card.tsx';
import { useChange, type Schemas } from '../../data.ts';
import { Failed } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

/** Initial length of a new clip, or the whole broadcast if that is shorter. */
const usualSeconds = 30;

const tenths = (seconds: number): number => Math.floor(seconds * 10) / 10;

/** `1:02:03.4`, as the player shows it. */
function clock(seconds: number): string {
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [hours = 0, minutes = 0, rest = 0] = parts;
  const tail = `${minutes}:${rest.toFixed(1).padStart(4, '0')}`;
  return hours === 0 ? tail : `${hours}:${tail.padStart(7, '0')}`;
}

type Span = { from: number | string; to: number | string };

export function Clips({
  stream,
  video,
}: {
  stream: Schemas['LiveStream'];
  /**
   * The player; once the stream has ended it plays the recording, whose times match those of clips.
   */
  video: RefObject<HTMLVideoElement | null>;
}): ReactNode {
  const { id, title } = stream;
  const recorded = tenths(stream.recordedSeconds);
  // Null follows the last seconds of the broadcast.
  const [chosen, setChosen] = useState<Span | null>(null);
  const span = chosen ?? { from: tenths(Math.max(0, recorded - usualSeconds)), to: recorded };
  const [name, setName] = useState('');
  const [tags, setTags] = useState<string[]>([]);
  const clip = {
    startSec: Number(span.from),
    endSec: Number(span.to),
    ...(name.trim() !== '' && { title: name.trim() }),
    ...(tags.length > 0 && { tags }),
  };
  const make = useChange(() =>
    api.post('/v1/live-streams/{id}/clips', { path: { id }, body: { clips: [clip] } }),
  );
  const isSpan = span.from !== '' && span.to !== '' && clip.startSec < clip.endSec;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  return (
    <Card title={t('Make a clip')}>
      <form onSubmit={submit}>
        <Group gap="sm" align="end">
          <TimeLine
            span={span}
            recorded={recorded}
            recording={stream.status === 'ended' ? video : null}
            change={setChosen}
          />
          <TextInput
            label={t('Title')}
            placeholder={t('{title} (clip)', { title })}
            maxLength={200}
            w={260}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <TagsInput label={t('Tags')} w={220} value={tags} onChange={setTags} />
          <Button type="submit" loading={make.isPending} disabled={!isSpan}>
            {t('Make the clip')}
          </Button>
        </Group>
      </form>
      <Failed error={make.error} />
      <Made results={make.data?.data.results ?? []} />
    </Card>
  );
}

function TimeLine({
  span,
  recorded,
  recording,
  change,
}: {
  span: Span;
  recorded: number;
  /** Null while the stream is live, because its player shows other times. */
  recording: RefObject<HTMLVideoElement | null> | null;
  change: (span: Span | null) => void;
}): ReactNode {
  const [from, to] = [Number(span.from), Number(span.to)];
  const shared = { w: 150, min: 0, max: recorded, step: 0.1, decimalScale: 1 };
  const position = () => tenths(Math.min(recording?.current?.currentTime ?? 0, recorded));
  const slide = (next: readonly [number, number]) => {
    change({ from: next[0], to: next[1] });
    const player = recording?.current;
    if (player) player.currentTime = next[0] === from ? next[1] : next[0];
  };
  return (
    <>
      <RangeSlider
        w="100%"
        mt="xs"
        min={0}
        max={recorded}
        step={0.1}
        minRange={0.1}
        label={clock}
        thumbFromLabel={t('Where the clip begins')}
        thumbToLabel={t('Where the clip ends')}
        value={[from, to]}
        onChange={slide}
      />
      <NumberInput
        {...shared}
        label={t('From second')}
        value={span.from}
        onChange={(value) => change({ ...span, from: value })}
      />
      <NumberInput
        {...shared}
        label={t('To second')}
        value={span.to}
        onChange={(value) => change({ ...span, to: value })}
      />
      {recording === null ? (
        <Button variant="default" onClick={() => change(null)}>
          {t('The last seconds')}
        </Button>
      ) : (
        <>
          <Button variant="default" onClick={() => change({ ...span, from: position() })}>
            {t('From the current frame')}
          </Button>
          <Button variant="default" onClick={() => change({ ...span, to: position() })}>
            {t('To the current frame')}
          </Button>
        </>
      )}
    </>
  );
}

type Result = {
  index: number;
  item?: { id: string; title: string };
  error?: { code: string; message: string };
};

function Made({ results }: { results: readonly Result[] }): ReactNode {
  return results.map(({ index, item, error }) =>
    item === undefined ? (
      <Alert key={index} color="red" role="alert" title={t('The clip was not created')}>
        {error?.message}
      </Alert>
    ) : (
      <List key={index} size="sm" role="status">
        <List.Item>
          {t('Created, and being processed:')}{' '}
          <Anchor href={`#/content/${item.id}`} underline="always">
            {item.title}
          </Anchor>
        </List.Item>
      </List>
    ),
  );
}
