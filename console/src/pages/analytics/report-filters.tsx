/** The range and filters shared by all reports, stored in the address. */
import { Button, Group, Select, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';
import { words } from '../../format.ts';
import { useParameters } from '../../location.ts';
import { period } from './periods.ts';
import { known, t } from '../../texts/texts.ts';

export type ReportQuery = {
  startDate: string;
  endDate: string;
  granularity?: 'hour' | 'day' | 'week';
  device?: 'ios' | 'android' | 'web';
  country?: string;
  entryPoint?: string;
  appVersion?: string;
  contentId?: string;
  tag?: string;
  author?: string;
  section?: string;
};

const devices = ['ios', 'android', 'web'] as const;
const granularities = ['hour', 'day', 'week'] as const;
const texts = ['tag', 'author', 'section', 'entryPoint', 'appVersion', 'contentId'] as const;
const ranges = [
  { value: '1', label: t('Today') },
  { value: '7', label: t('7 days') },
  { value: '30', label: t('30 days') },
  { value: '90', label: t('90 days') },
];
const usualDays = 30;

/** The query in the address. */
export function useReportQuery(
  timeZone: string,
  { hasGranularity, defaultDays = usualDays }: { hasGranularity: boolean; defaultDays?: number },
): ReportQuery {
  const [current] = useParameters();
  const [values] = useDebouncedValue(current, 250);
  const { startDate, endDate, country } = values;
  const days = Number(values['days'] ?? defaultDays);
  const range = period(Number.isInteger(days) && days > 0 ? days : defaultDays, timeZone);
  const device = devices.find((each) => each === values['device']);
  const granularity = granularities.find((each) => each === values['granularity']);
  return {
    startDate: startDate ?? range.startDate,
    endDate: endDate ?? range.endDate,
    ...(hasGranularity && { granularity: granularity ?? range.granularity }),
    ...(device !== undefined && { device }),
    ...(country?.length === 2 && { country: country.toUpperCase() }),
    ...Object.fromEntries(
      texts.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])),
    ),
  };
}

export function ReportFilters({
  query,
  hasGranularity,
  defaultDays = usualDays,
  more = texts,
  children,
}: {
  query: ReportQuery;
  hasGranularity: boolean;
  defaultDays?: number;
  /** Text filters that this report supports. */
  more?: readonly (typeof texts)[number][];
  /** Further options of this report. */
  children?: ReactNode;
}): ReactNode {
  const [values, change] = useParameters();
  const [isOpen, setOpen] = useState(more.some((name) => values[name] !== undefined));
  const write = (name: string) => (event: { currentTarget: HTMLInputElement }) =>
    change({ [name]: event.currentTarget.value });
  return (
    <Group align="end" mb="md">
      <Range query={query} values={values} change={change} defaultDays={defaultDays} />
      {hasGranularity && (
        <Select
          label={t('By')}
          allowDeselect={false}
          w={110}
          data={granularities.map((value) => ({ value, label: known(value) }))}
          value={query.granularity ?? 'day'}
          onChange={(value) => change({ granularity: value })}
        />
      )}
      <Select
        label={t('Device')}
        placeholder={t('any')}
        clearable
        w={130}
        data={devices}
        value={query.device ?? null}
        onChange={(value) => change({ device: value })}
      />
      <TextInput
        label={t('Country')}
        placeholder={t('any')}
        maxLength={2}
        w={90}
        value={values['country'] ?? ''}
        onChange={write('country')}
      />
      <Button variant="default" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {t('More filters')}
      </Button>
      {isOpen &&
        more.map((name) => (
          <TextInput
            key={name}
            label={name === 'contentId' ? t('Item id') : words(name)}
            placeholder={t('any')}
            w={150}
            value={values[name] ?? ''}
            onChange={write(name)}
          />
        ))}
      {children}
    </Group>
  );
}

/** The filters in address format, for a link to another report. */
export function addressOfFilters(query: Partial<ReportQuery>): string {
  const { granularity: _, ...rest } = query;
  return new URLSearchParams(rest).toString();
}

function Range({
  query,
  values,
  change,
  defaultDays,
}: {
  query: ReportQuery;
  defaultDays: number;
  values: Readonly<Record<string, string>>;
  change: (changes: Readonly<Record<string, string | null>>) => void;
}): ReactNode {
  const isCustom = values['startDate'] !== undefined || values['endDate'] !== undefined;
  const write = (name: string) => (event: { currentTarget: HTMLInputElement }) =>
    change({ [name]: event.currentTarget.value });
  return (
    <>
      <Select
        label={t('Range')}
        allowDeselect={false}
        w={130}
        data={[...ranges, { value: 'custom', label: t('Custom') }]}
        value={isCustom ? 'custom' : (values['days'] ?? String(defaultDays))}
        onChange={(value) =>
          change(
            value === 'custom'
              ? { startDate: query.startDate, endDate: query.endDate }
              : { days: value, startDate: null, endDate: null },
          )
        }
      />
      {isCustom && (
        <>
          <TextInput
            type="date"
            label={t('From')}
            value={query.startDate}
            onChange={write('startDate')}
          />
          <TextInput
            type="date"
            label={t('To')}
            value={query.endDate}
            onChange={write('endDate')}
          />
        </>
      )}
    </>
  );
}
