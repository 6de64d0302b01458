/** The weights that a ranking variant changes. Stored as JSON text. */
import { NumberInput, SimpleGrid, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useRead } from '../../data.ts';
import type { Signal } from '../feed/signals.ts';
import { t } from '../../texts/texts.ts';

export function VariantWeights({
  config,
  error,
  signals,
  change,
}: {
  /** JSON of `{ weights: … }`, or of an empty object. */
  config: string;
  error: string | null;
  signals: readonly Signal[];
  change: (config: string) => void;
}): ReactNode {
  const now = useRead('/v1/ranking/config', {}).data?.data.weights;
  const weights = weightsOf(config);
  const set = (name: string, value: string | number) => {
    const { [name]: _old, ...rest } = weights;
    const next = value === '' ? rest : { ...rest, [name]: Number(value) };
    change(JSON.stringify(Object.keys(next).length === 0 ? {} : { weights: next }));
  };
  return (
    <Stack gap="xs" flex="1 1 100%" miw={0}>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} verticalSpacing="xs">
        {signals.map(({ name, label, maxWeight }) => (
          <NumberInput
            key={name}
            label={label}
            placeholder={
              now === undefined ? t('as now') : t('as now: {value}', { value: now[name] })
            }
            min={0}
            max={maxWeight}
            step={0.05}
            value={weights[name] ?? ''}
            onChange={(value) => set(name, value)}
          />
        ))}
      </SimpleGrid>
      {error !== null && (
        <Text size="sm" role="alert" c="var(--mantine-color-error)">
          {error}
        </Text>
      )}
    </Stack>
  );
}

function weightsOf(config: string): Readonly<Record<string, number>> {
  try {
    const { weights = {} } = JSON.parse(config) as { weights?: Record<string, number> };
    return weights;
  } catch {
    return {};
  }
}
