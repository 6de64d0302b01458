/** A variant's settings or flags, one row each. Stored as the text of a JSON object. */
import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { t } from '../../texts/texts.ts';

type Row = { key: number; name: string; value: string };

export function Values({
  config,
  error,
  change,
}: {
  /** JSON of an object. */
  config: string;
  error: string | null;
  change: (config: string) => void;
}): ReactNode {
  const [rows, setRows] = useState(() => rowsOf(config));
  const update = (next: Row[]) => {
    setRows(next);
    change(textOf(next));
  };
  return (
    <Stack gap="xs" flex={1} miw={280}>
      {rows.map((row) => {
        const set = (changes: Partial<Row>) =>
          update(rows.map((each) => (each.key === row.key ? { ...each, ...changes } : each)));
        return (
          <Group key={row.key} align="flex-end" wrap="nowrap">
            <TextInput
              label={t('Sets')}
              flex={1}
              value={row.name}
              onChange={(event) => set({ name: event.currentTarget.value })}
            />
            <TextInput
              label={t('to')}
              flex={1}
              value={row.value}
              onChange={(event) => set({ value: event.currentTarget.value })}
            />
            <Button
              variant="default"
              aria-label={t('Leave out {name}', { name: row.name })}
              onClick={() => update(rows.filter((each) => each.key !== row.key))}
            >
              {t('Leave out')}
            </Button>
          </Group>
        );
      })}
      {error !== null && (
        <span role="alert" style={{ color: 'var(--mantine-color-error)' }}>
          {error}
        </span>
      )}
      <Button
        variant="default"
        w="fit-content"
        mt={rows.length === 0 ? 25 : 0}
        onClick={() =>
          setRows([...rows, { key: Math.max(0, ...rows.map(({ key }) => key)) + 1, ...empty }])
        }
      >
        {t('Set something')}
      </Button>
    </Stack>
  );
}

const empty = { name: '', value: '' };

function rowsOf(config: string): Row[] {
  const values = JSON.parse(config) as Record<string, unknown>;
  return Object.entries(values).map(([name, value], key) => ({
    key,
    name,
    value: typeof value === 'string' && !isJson(value) ? value : JSON.stringify(value),
  }));
}

/** Rows without a name are ignored. */
function textOf(rows: readonly Row[]): string {
  const named = rows.filter(({ name }) => name.trim() !== '');
  return JSON.stringify(Object.fromEntries(named.map((row) => [row.name.trim(), valueOf(row)])));
}

/**
 * Values that parse as JSON are JSON: a number, true, an object, a quoted string. Everything else
 * is text.
 */
function valueOf({ value }: Row): unknown {
  return isJson(value) ? (JSON.parse(value) as unknown) : value;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
