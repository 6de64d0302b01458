/** The weights as sliders, with the feed as it is beside the feed as it would be. */
import {
  Button,
  Grid,
  Group,
  NumberInput,
  Slider,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api } from '../api.ts';
import { useChange, useRead, type Answer } from '../data.ts';
import { useParameters } from '../location.ts';
import { CopyCurl } from '../page.tsx';
import { Empty, Failed, Show } from '../states.tsx';
import type { Signal } from './signals.ts';

type Config = Omit<Answer<'get', '/v1/ranking/config'>['data'], 'version' | 'model'>;
type PreviewItem = { contentId: string; title: string; score: number };

export function FeedWeights(): ReactNode {
  const config = useRead('/v1/ranking/config', {});
  return (
    <Show of={config}>{({ data }) => <Editor key={data.version} saved={configOf(data)} />}</Show>
  );
}

/** What may be sent back: the answer without its version and the state of the model. */
function configOf(answer: Config & { version: number; model?: unknown }): Config {
  const { version: _version, model: _model, ...config } = answer;
  return config;
}

function Editor({ saved }: { saved: Config }): ReactNode {
  const [draft, setDraft] = useState(saved);
  const save = useChange((body: Config) => api.put('/v1/ranking/config', { body }));
  const isChanged = JSON.stringify(draft) !== JSON.stringify(saved);
  const sum = Object.values(draft.weights).reduce((total, weight) => total + weight, 0);
  return (
    <Grid gap="xl">
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Stack>
          <Sliders draft={draft} onChange={setDraft} />
          {sum <= 0 && <Text role="alert">At least one weight must be above zero.</Text>}
          <Group>
            <Button
              disabled={!isChanged || sum <= 0}
              loading={save.isPending}
              onClick={() => save.mutate(draft)}
            >
              Save weights
            </Button>
            <Button variant="default" disabled={!isChanged} onClick={() => setDraft(saved)}>
              Reset
            </Button>
            <CopyCurl method="PUT" path="/v1/ranking/config" body={draft} />
          </Group>
          {save.isSuccess && !isChanged && <Text role="status">Saved.</Text>}
          <Failed error={save.error} />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Comparison saved={saved} draft={draft} isValid={sum > 0} />
      </Grid.Col>
    </Grid>
  );
}

function Sliders({
  draft,
  onChange,
}: {
  draft: Config;
  onChange: (draft: Config) => void;
}): ReactNode {
  const signals = useRead('/v1/ranking/signals', {});
  return (
    <Stack gap="sm">
      <Show of={signals}>
        {({ data }) => <Weights signals={data} draft={draft} onChange={onChange} />}
      </Show>
      <Group grow>
        <NumberInput
          label="Half-life of recency"
          suffix=" h"
          min={1}
          value={draft.recencyHalfLifeHours}
          onChange={(value) => onChange({ ...draft, recencyHalfLifeHours: Number(value) || 1 })}
        />
        <NumberInput
          label="Diversity"
          min={0}
          max={1}
          step={0.05}
          value={draft.diversity}
          onChange={(value) => onChange({ ...draft, diversity: Number(value) })}
        />
        <NumberInput
          label="Exploration"
          min={0}
          max={1}
          step={0.05}
          value={draft.exploration}
          onChange={(value) => onChange({ ...draft, exploration: Number(value) })}
        />
      </Group>
    </Stack>
  );
}

function Weights({
  signals,
  draft,
  onChange,
}: {
  signals: readonly Signal[];
  draft: Config;
  onChange: (draft: Config) => void;
}): ReactNode {
  const { weights } = draft;
  return (
    <Stack gap="sm">
      {signals.map(({ name, label, description }) => (
        <div key={name}>
          <Group justify="space-between" gap="xs" wrap="nowrap">
            <Text size="sm">{`${label}: ${description}`}</Text>
            <Text size="sm" fw={700}>
              {weights[name].toFixed(2)}
            </Text>
          </Group>
          <Slider
            min={0}
            max={1}
            step={0.05}
            label={null}
            value={weights[name]}
            thumbLabel={label}
            onChange={(value) => onChange({ ...draft, weights: { ...weights, [name]: value } })}
          />
        </div>
      ))}
    </Stack>
  );
}

function Comparison({
  saved,
  draft,
  isValid,
}: {
  saved: Config;
  draft: Config;
  isValid: boolean;
}): ReactNode {
  const [{ viewer = '' }, change] = useParameters();
  const [settled] = useDebouncedValue({ draft, viewer }, 250);
  const body = {
    configs: [saved, settled.draft],
    limit: 12,
    ...(settled.viewer === '' ? { deviceId: 'console-preview' } : { userId: settled.viewer }),
  };
  const preview = useQuery({
    queryKey: ['/v1/ranking/preview', body],
    queryFn: ({ signal }) => api.post('/v1/ranking/preview', { body, signal }),
    placeholderData: keepPreviousData,
    enabled: isValid,
  });
  return (
    <Stack>
      <TextInput
        label="Viewer"
        placeholder="a user id; empty: someone new"
        maw={280}
        value={viewer}
        onChange={(event) => change({ viewer: event.currentTarget.value })}
      />
      <Show of={preview}>
        {({ data: { feeds } }) => {
          const [now, then] = [feeds[0]?.items ?? [], feeds[1]?.items ?? []];
          if (now.length === 0) return <Empty>There is nothing to rank for this viewer yet.</Empty>;
          return (
            <Group align="flex-start" grow wrap="nowrap" gap="sm">
              <Ranked title="Now" items={now} />
              <Ranked title="With these weights" items={then} before={now} />
            </Group>
          );
        }}
      </Show>
    </Stack>
  );
}

function Ranked({
  title,
  items,
  before,
}: {
  title: string;
  items: readonly PreviewItem[];
  before?: readonly PreviewItem[];
}): ReactNode {
  return (
    <Stack gap={4} miw={0}>
      <Title order={2} size="h5">
        {title}
      </Title>
      <ol aria-label={title} style={{ margin: 0, paddingLeft: 24 }}>
        {items.map((item, index) => (
          <li key={item.contentId}>
            <Text size="sm" truncate>
              {before !== undefined && `${moveOf(before, item, index)} `}
              {item.title}
            </Text>
            <Text size="xs">{item.score.toFixed(3)}</Text>
          </li>
        ))}
      </ol>
    </Stack>
  );
}

/** How many places the item has moved, or that it is new in view. */
function moveOf(before: readonly PreviewItem[], item: PreviewItem, index: number): string {
  const old = before.findIndex(({ contentId }) => contentId === item.contentId);
  if (old === -1) return 'new';
  if (old === index) return '=';
  return old > index ? `+${old - index}` : `−${index - old}`;
}
