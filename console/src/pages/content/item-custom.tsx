/** Custom metadata of an item, which feeds pass through: one row per key. */
import { ActionIcon, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { t } from '../../texts/texts.ts';

type Row = { key: number; name: string; value: string };
type Values = Readonly<Record<string, unknown>>;

/** Returns null if the metadata is valid. */
export function problemOfMetadata(values: Values): string | null {
  return Object.keys(values).length > 200 ? 'At most 200 keys.' : null;
}

export function CustomMetadata({
  values,
  isFresh,
  change,
}: {
  values: Values;
  /** Whether nothing is edited, so that the rows follow the stored values. */
  isFresh: boolean;
  change: (values: Values) => void;
}): ReactNode {
  const [edited, setEdited] = useState<readonly Row[]>([]);
  const stored = Object.entries(values).map(([name, value], key) => ({
    key,
    name,
    value: textOf(value),
  }));
  const hasDraftRow = edited.some(({ name }) => name === '');
  const rows = isFresh && !hasDraftRow ? stored : edited.length === 0 ? stored : edited;
  const update = (next: readonly Row[]) => {
    setEdited(next);
    const named = next.filter(({ name }) => name.trim() !== '');
    change(Object.fromEntries(named.map(({ name, value }) => [name.trim(), valueOf(value)])));
  };
  const set = (row: Row, changes: Partial<Row>) =>
    update(rows.map((each) => (each.key === row.key ? { ...each, ...changes } : each)));
  return (
    <Stack gap="xs" role="group" aria-label={t('Custom metadata')}>
      <Text size="sm" fw={500}>
        {t('Custom metadata')}
      </Text>
      {rows.map((row) => (
        <Group key={row.key} wrap="nowrap" gap="xs">
          <TextInput
            aria-label={t('Key {name}', { name: row.name })}
            placeholder={t('key')}
            flex={1}
            value={row.name}
            onChange={(event) => set(row, { name: event.currentTarget.value })}
          />
          <TextInput
            aria-label={t('Value of {name}', { name: row.name })}
            placeholder={t('text, number or JSON')}
            flex={2}
            value={row.value}
            onChange={(event) => set(row, { value: event.currentTarget.value })}
          />
          <ActionIcon
            variant="default"
            size="lg"
            aria-label={t('Remove {name}', { name: row.name })}
            onClick={() => update(rows.filter((each) => each.key !== row.key))}
          >
            ×
          </ActionIcon>
        </Group>
      ))}
      <Button
        variant="default"
        size="compact-sm"
        w="fit-content"
        onClick={() =>
          setEdited([...rows, { key: Math.max(-1, ...rows.map(({ key }) => key)) + 1, ...empty }])
        }
      >
        {t('Add a key')}
      </Button>
    </Stack>
  );
}

const empty = { name: '', value: '' };

/** Strings that would parse as JSON are quoted. */
const textOf = (value: unknown): string =>
  typeof value === 'string' && valueOf(value) === value ? value : JSON.stringify(value);

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
