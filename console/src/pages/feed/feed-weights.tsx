/** The weights as sliders, with the current feed beside a preview. */
import { Grid, Group, NumberInput, Slider, Stack, Text, TextInput, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useRef, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { useRead, type Answer } from '../../data.ts';
import { DraftForm, useDraft } from '../../draft.tsx';
import { useParameters } from '../../location.ts';
import { CopyCurl } from '../../page.tsx';
import { Empty, Show } from '../../states.tsx';
import { NumberField } from '../../number-field.tsx';
import type { Signal } from './signals.ts';
import { t } from '../../texts/texts.ts';

type Config = Omit<Answer<'get', '/v1/ranking/config'>['data'], 'version' | 'model'>;
type PreviewItem = { contentId: string; title: string; score: number };

export function FeedWeights(): ReactNode {
  const config = useRead('/v1/ranking/config', {});
  return <Show of={config}>{({ data }) => <Editor saved={configOf(data)} />}</Show>;
}

/** The response without its version and the state of the model, as accepted by requests. */
function configOf(answer: Config & { version: number; model?: unknown }): Config {
  const { version: _version, model: _model, ...config } = answer;
  return config;
}

const labels = {
  weights: 'Weights',
  recencyHalfLifeHours: 'Half-life of recency',
  diversity: 'Diversity',
  exploration: 'Exploration',
};

function Editor({ saved }: { saved: Config }): ReactNode {
  const latest = useRef(saved);
  latest.current = saved;
  const form = useDraft<Config>({
    stored: { values: saved, tag: null },
    read: async () => {
      latest.current = configOf((await api.get('/v1/ranking/config')).data);
      return { values: latest.current, tag: null };
    },
    // The request replaces the whole configuration.
    write: (changes) => api.put('/v1/ranking/config', { body: { ...latest.current, ...changes } }),
  });
  const draft = form.values;
  const sum = Object.values(draft.weights).reduce((total, weight) => total + weight, 0);
  return (
    <Grid gap="xl">
      <Grid.Col span={{ base: 12, md: 5 }}>
        <DraftForm
          draft={form}
          labels={labels}
          label={t('Save weights')}
          isDisabled={!form.isDirty || sum <= 0}
          actions={<CopyCurl method="PUT" path="/v1/ranking/config" body={draft} />}
        >
          <Sliders draft={draft} onChange={form.change} />
          {sum <= 0 && <Text role="alert">{t('At least one weight must be above zero.')}</Text>}
        </DraftForm>
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
  onChange: (changes: Partial<Config>) => void;
}): ReactNode {
  const signals = useRead('/v1/ranking/signals', {});
  return (
    <Stack gap="sm">
      <Show of={signals}>
        {({ data }) => <Weights signals={data} draft={draft} onChange={onChange} />}
      </Show>
      <Group grow>
        <NumberField
          label={t('Half-life of recency')}
          suffix=" h"
          min={1}
          value={draft.recencyHalfLifeHours}
          onChange={(recencyHalfLifeHours) => onChange({ recencyHalfLifeHours })}
        />
        <NumberInput
          label={t('Diversity')}
          min={0}
          max={1}
          step={0.05}
          value={draft.diversity}
          onChange={(value) => onChange({ diversity: Number(value) })}
        />
        <NumberInput
          label={t('Exploration')}
          min={0}
          max={1}
          step={0.05}
          value={draft.exploration}
          onChange={(value) => onChange({ exploration: Number(value) })}
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
  onChange: (changes: Partial<Config>) => void;
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
            onChange={(value) => onChange({ weights: { ...weights, [name]: value } })}
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
        label={t('Viewer')}
        placeholder={t('a user id; empty: a new viewer')}
        maw={280}
        value={viewer}
        onChange={(event) => change({ viewer: event.currentTarget.value })}
      />
      <Show of={preview}>
        {({ data: { feeds } }) => {
          const [now, then] = [feeds[0]?.items ?? [], feeds[1]?.items ?? []];
          if (now.length === 0)
            return <Empty>{t('There is nothing to rank for this viewer yet.')}</Empty>;
          return (
            <Group align="flex-start" grow wrap="nowrap" gap="sm">
              <Ranked title={t('Now')} items={now} />
              <Ranked title={t('With these weights')} items={then} before={now} />
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

/** The number of positions that the item has moved, or a mark that it is new. */
function moveOf(before: readonly PreviewItem[], item: PreviewItem, index: number): string {
  const old = before.findIndex(({ contentId }) => contentId === item.contentId);
  if (old === -1) return 'new';
  if (old === index) return '=';
  return old > index ? `+${old - index}` : `−${index - old}`;
}
