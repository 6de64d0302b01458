/** Further options of a journey query: its options, the experiment and the breakdown. */
import { Checkbox, NumberInput, Select } from '@mantine/core';
import type { ReactNode } from 'react';
import { useRead } from '../../data.ts';
import { words } from '../../format.ts';
import { useParameters } from '../../location.ts';
import { t } from '../../texts/texts.ts';
import { dimensions, type QuestionName } from './journey-question.ts';

type Choices = readonly { value: string; label: string }[];

/** A choice stored in the address. It is optional if it has no default. */
function Choice({
  name,
  label,
  data,
  usual,
}: {
  name: string;
  label: string;
  data: Choices;
  usual?: string;
}): ReactNode {
  const [values, change] = useParameters();
  return (
    <Select
      label={label}
      w={220}
      data={data}
      placeholder={t('none')}
      clearable={usual === undefined}
      allowDeselect={false}
      value={values[name] ?? usual ?? null}
      onChange={(value) => change({ [name]: value })}
    />
  );
}

function NumberOf({
  name,
  label,
  most,
  usual,
}: {
  name: string;
  label: string;
  most: number;
  usual?: number;
}): ReactNode {
  const [values, change] = useParameters();
  const given = values[name];
  return (
    <NumberInput
      label={label}
      w={280}
      maw="100%"
      min={1}
      max={most}
      allowDecimal={false}
      clampBehavior="strict"
      value={given === undefined ? (usual ?? '') : Number(given)}
      onChange={(value) => change({ [name]: value === '' ? null : String(value) })}
    />
  );
}

const granularities = [
  { value: 'day', label: t('days') },
  { value: 'week', label: t('weeks') },
];

export function Options({
  name,
  keys,
}: {
  name: QuestionName;
  /** Keys of `data` declared for the events. */
  keys: readonly string[];
}): ReactNode {
  const [values, change] = useParameters();
  const ofData = keys.map((value) => ({ value, label: value }));
  switch (name) {
    case 'funnel':
      return (
        <NumberOf name="windowHours" label={t('Within hours (empty: one session)')} most={720} />
      );
    case 'paths':
      return (
        <>
          <Choice
            name="direction"
            label={t('Direction')}
            usual="after"
            data={[
              { value: 'after', label: t('what comes next') },
              { value: 'before', label: t('what came before') },
            ]}
          />
          <NumberOf name="far" label={t('Events')} most={6} usual={3} />
          <Checkbox
            label={t('Distinguish items')}
            checked={values['byItem'] === 'true'}
            onChange={(event) => change({ byItem: event.currentTarget.checked ? 'true' : null })}
          />
        </>
      );
    case 'cohorts':
      return <CohortOptions />;
    case 'series':
      return (
        ofData.length > 0 && (
          <>
            <Choice name="property" label={t('Add up')} data={ofData} />
            <Choice name="breakdown" label={t('Break down by')} data={ofData} />
          </>
        )
      );
  }
}

const CohortOptions = (): ReactNode => (
  <>
    <Choice
      name="by"
      label={t('Cohorts by')}
      usual="day"
      data={[
        { value: 'day', label: t('first day') },
        { value: 'event', label: t('first event') },
        { value: 'item', label: t('first item') },
        { value: 'tag', label: t('tag of the first item') },
        { value: 'author', label: t('author of the first item') },
      ]}
    />
    <Choice
      name="viewers"
      label={t('Viewers')}
      usual="new"
      data={[
        { value: 'new', label: t('new in this range') },
        { value: 'all', label: t('all of them') },
      ]}
    />
    <Choice name="granularity" label={t('Periods of')} usual="day" data={granularities} />
    <NumberOf name="periods" label={t('Number of periods')} most={30} usual={7} />
  </>
);

/** The filter by variant, and the breakdown by fields of events, items and viewers. */
export function SharedOptions({ hasBreakdown }: { hasBreakdown: boolean }): ReactNode {
  const [values, change] = useParameters();
  const experiments = useRead('/v1/experiments', { query: { limit: 100 } }).data?.data ?? [];
  const { experiment = null } = values;
  const chosen = experiments.find(({ id }) => id === experiment);
  return (
    <>
      {(experiments.length > 0 || experiment !== null) && (
        <Select
          label={t('Experiment')}
          placeholder={t('none')}
          clearable
          w={200}
          data={experiments.map(({ id, name }) => ({ value: id, label: name }))}
          value={experiment}
          onChange={(value) =>
            change({
              experiment: value,
              variant: null,
              ...(value === null &&
                values['breakdown'] === 'experimentVariant' && { breakdown: null }),
            })
          }
        />
      )}
      {chosen !== undefined && (
        <Select
          label={t('Variant')}
          placeholder={t('any')}
          clearable
          w={160}
          data={chosen.variants.map(({ id, name }) => ({ value: id, label: name }))}
          value={values['variant'] ?? null}
          onChange={(value) => change({ variant: value })}
        />
      )}
      {hasBreakdown && (
        <Select
          label={t('Break down by')}
          placeholder={t('none')}
          clearable
          w={190}
          data={dimensions
            .filter((name) => name !== 'experimentVariant' || experiment !== null)
            .map((value) => ({
              value,
              label: value === 'experimentVariant' ? t('Variant') : words(value),
            }))}
          value={values['breakdown'] ?? null}
          onChange={(value) => change({ breakdown: value })}
        />
      )}
    </>
  );
}
