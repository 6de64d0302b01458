/** Duration and participants that a new experiment will need. */
import { Button, Group, NumberInput, Paper, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api } from '../../api.ts';
import type { Answer } from '../../data.ts';
import { localTime, percent, whole, words } from '../../format.ts';
import { Failed } from '../../states.tsx';
import type { Part } from './experiment-fields.tsx';
import { audienceOf, isBuiltIn, type BuiltInMetric } from './experiment-rules.ts';
import { t } from '../../texts/texts.ts';

/** Plans are only available for built-in metrics: others have no data by viewer and day. */
export function Planned({ draft, change }: Part): ReactNode {
  const { primaryMetric } = draft;
  if (!isBuiltIn(primaryMetric)) {
    return (
      <Text size="sm">
        {t(
          'The duration can be estimated for completion rate, watch time, sessions and retention.',
        )}
      </Text>
    );
  }
  return <PlanOf draft={draft} change={change} metric={primaryMetric} />;
}

/** Participants and days needed to detect an effect of a given size. */
function PlanOf({ draft, change, metric }: Part & { metric: BuiltInMetric }): ReactNode {
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
  const endsAt = found?.endsAt ?? null;
  return (
    <Paper withBorder p="sm">
      <Group align="flex-end">
        <NumberInput
          label={t('Smallest effect worth finding')}
          suffix=" %"
          min={0.1}
          max={1_000}
          value={effect}
          onChange={(value) => setEffect(Number(value))}
        />
        <Text role="status" mih={36} flex={1} miw={240}>
          {found === undefined ? '' : sentenceOf(found, metric)}
        </Text>
        {endsAt !== null && (
          <Button
            variant="default"
            disabled={draft.endsAt === localTime(endsAt)}
            onClick={() => change({ endsAt: localTime(endsAt) })}
          >
            {t('Use as planned end')}
          </Button>
        )}
      </Group>
      <Failed error={plan.error} />
    </Paper>
  );
}

type Plan = Answer<'post', '/v1/experiments/plan'>['data'];

function sentenceOf(
  { baseline, unitsPerVariant, days, withoutEnd, reason }: Plan,
  metric: BuiltInMetric,
) {
  if (unitsPerVariant === null) {
    return 'There are not enough events yet to say how long this takes.';
  }
  const needs = `${whole(unitsPerVariant)} participants per variant`;
  if (reason === 'short_history') {
    return `Takes ${needs}. After one day nobody knows how many viewers are new, so ask again tomorrow.`;
  }
  if (days === null) return `Takes ${needs}, who do not come within a year.`;
  const mean = baseline.mean ?? 0;
  const isShare = metric === 'completionRate' || metric === 'retention';
  const price =
    withoutEnd === null || withoutEnd.days === null
      ? 'without an end it takes more than a year'
      : `without an end it takes ${whole(withoutEnd.days)} days`;
  return (
    `Takes ${whole(days)} days with a planned end: ${needs}, of ${whole(baseline.newUnitsPerDay)} new ` +
    `viewers a day; ${price}. ${words(metric)} is ${isShare ? percent(mean) : mean.toFixed(2)} now.`
  );
}
