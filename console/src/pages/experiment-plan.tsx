/** What a new experiment will take. */
import { Group, NumberInput, Paper, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api } from '../api.ts';
import { percent, whole, words } from '../format.ts';
import { Failed } from '../states.tsx';
import { audienceOf, isBuiltIn, type BuiltInMetric, type Draft } from './experiment-rules.ts';

/** Plans are made for the metrics of the service: of others nothing is known by viewer and day. */
export function Planned({ draft }: { draft: Draft }): ReactNode {
  const { primaryMetric } = draft;
  if (!isBuiltIn(primaryMetric)) {
    return (
      <Text size="sm">
        How long it takes can be told for completion rate, watch time, sessions and retention.
      </Text>
    );
  }
  return <PlanOf draft={draft} metric={primaryMetric} />;
}

/** How many participants and days it takes to see an effect of a given size. */
function PlanOf({ draft, metric }: { draft: Draft; metric: BuiltInMetric }): ReactNode {
  const [effect, setEffect] = useState(5);
  const [body] = useDebouncedValue(
    {
      metric,
      effect: Math.max(effect, 0.1) / 100,
      variants: draft.variants.length,
      traffic: draft.traffic / 100,
      targetingRules: audienceOf(draft),
    },
    300,
  );
  const plan = useQuery({
    queryKey: ['/v1/experiments/plan', body],
    queryFn: ({ signal }) => api.post('/v1/experiments/plan', { body, signal }),
    placeholderData: keepPreviousData,
  });
  const found = plan.data?.data;
  return (
    <Paper withBorder p="sm">
      <Group align="flex-end">
        <NumberInput
          label="Smallest effect worth finding"
          suffix=" %"
          min={0.1}
          max={1_000}
          value={effect}
          onChange={(value) => setEffect(Number(value))}
        />
        <Text role="status" mih={36} flex={1} miw={240}>
          {found === undefined
            ? ''
            : found.days === null || found.unitsPerVariant === null
              ? 'There are not enough events yet to say how long this takes.'
              : `Takes ${whole(found.days)} days: ${whole(found.unitsPerVariant)} participants per variant, ` +
                `of ${whole(found.baseline.unitsPerDay)} viewers a day. ${words(draft.primaryMetric)} is ` +
                `${draft.primaryMetric === 'completionRate' || draft.primaryMetric === 'retention' ? percent(found.baseline.mean ?? 0) : (found.baseline.mean ?? 0).toFixed(2)} now.`}
        </Text>
      </Group>
      <Failed error={plan.error} />
    </Paper>
  );
}
