/** A metric split by one or two dimensions. A row links to the report filtered by its values. */
import { Anchor, Group, Select, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Card, Nothing } from '../../card.tsx';
import { useRead } from '../../data.ts';
import { words } from '../../format.ts';
import { useParameters } from '../../location.ts';
import { Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';
import { metricOf, shownMetrics, type Overview, type ShownMetric } from './metrics-shown.ts';
import { addressOfFilters, type ReportQuery } from './report-filters.tsx';
import { Cells, show } from './report-parts.tsx';

type Row = NonNullable<Overview['breakdown']>['rows'][number];

export const dimensions = [
  ...(['device', 'country', 'entryPoint', 'tag', 'author', 'section', 'contentType'] as const),
  ...(['language', 'appVersion', 'feedId', 'position', 'sharePlatform'] as const),
];
/** Dimensions that are also filters, so that a row can be opened. */
const filters = new Set<string>(
  'device country entryPoint tag author section appVersion'.split(' '),
);

const choices = dimensions.map((value) => ({ value, label: words(value) }));

const nameOf = (value: string | null): string => value ?? t('unknown');

/** Link to the items behind a row, or null if no filter corresponds to it. */
function addressOf({ values }: Row, query: ReportQuery): string | null {
  const parts = Object.entries(values);
  if (parts.some(([name, value]) => value === null || !filters.has(name))) return null;
  const narrowed = { ...query, ...(values as Partial<ReportQuery>) };
  return `#/reports?report=items&${addressOfFilters(narrowed)}`;
}

function RowName({ row, query }: { row: Row; query: ReportQuery }): ReactNode {
  const name = Object.values(row.values).map(nameOf).join(' · ');
  const address = addressOf(row, query);
  return address === null ? <span>{name}</span> : <a href={address}>{name}</a>;
}

/** On the overview: the chosen metric by one dimension, as bars. */
export function BreakdownCard({
  query,
  metric: { name, label, format },
}: {
  query: ReportQuery;
  metric: ShownMetric;
}): ReactNode {
  const [{ by = 'device' }, change] = useParameters();
  const breakdown = dimensions.find((each) => each === by) ?? 'device';
  const report = useRead('/v1/analytics/overview', { query: { ...query, breakdown, top: 8 } });
  return (
    <Card
      title={t('{metric} by', { metric: label })}
      actions={
        <Group gap="xs">
          <Select
            aria-label={t('Dimension')}
            size="xs"
            w={140}
            allowDeselect={false}
            data={choices}
            value={breakdown}
            onChange={(value) => change({ by: value })}
          />
          <Anchor
            size="sm"
            href={`#/reports?report=breakdown&by=${breakdown}&metric=${name}&${addressOfFilters(query)}`}
          >
            {t('Report')}
          </Anchor>
        </Group>
      }
    >
      <Show of={report}>
        {({ data }) => {
          const rows = data.breakdown?.rows ?? [];
          const most = Math.max(...rows.map(({ metrics }) => metrics[name] ?? 0), 1e-9);
          if (rows.length === 0) return <Nothing />;
          return (
            <div role="list">
              {rows.map((row) => {
                const value = row.metrics[name] ?? 0;
                return (
                  <div key={JSON.stringify(row.values)} role="listitem" className="bar-row">
                    <i style={{ width: `${(100 * value) / most}%` }} />
                    <RowName row={row} query={query} />
                    <b>{format(value)}</b>
                  </div>
                );
              })}
            </div>
          );
        }}
      </Show>
    </Card>
  );
}

/** The one or two dimensions that the report requests. */
export function useBreakdown(): { breakdown: string; top: number } {
  const [{ by = 'device', and }] = useParameters();
  const first = dimensions.find((each) => each === by) ?? 'device';
  const second = dimensions.find((each) => each === and && each !== first);
  return { breakdown: second === undefined ? first : `${first},${second}`, top: 50 };
}

/** The report: all metrics by one or two dimensions. */
export function BreakdownReport({ query }: { query: ReportQuery }): ReactNode {
  const [values, change] = useParameters();
  const asked = useBreakdown();
  const [first = 'device', second = null] = asked.breakdown.split(',');
  const chosen = metricOf(values['metric']);
  const report = useRead('/v1/analytics/overview', { query: { ...query, ...asked } });
  return (
    <Stack>
      <Group>
        <Select
          label={t('By')}
          allowDeselect={false}
          data={choices}
          value={first}
          onChange={(value) => change({ by: value })}
        />
        <Select
          label={t('And by')}
          placeholder={t('nothing else')}
          clearable
          data={choices.filter(({ value }) => value !== first)}
          value={second}
          onChange={(value) => change({ and: value })}
        />
        <Select
          label={t('Bars of')}
          allowDeselect={false}
          data={shownMetrics.map(({ name: value, label }) => ({ value, label }))}
          value={chosen.name}
          onChange={(value) => change({ metric: value })}
        />
      </Group>
      <Show of={report}>
        {({ data: { breakdown } }) =>
          breakdown === undefined ? (
            <Nothing />
          ) : (
            <Rows breakdown={breakdown} chosen={chosen} query={query} />
          )
        }
      </Show>
    </Stack>
  );
}

function Rows({
  breakdown: { rows, other },
  chosen,
  query,
}: {
  breakdown: NonNullable<Overview['breakdown']>;
  chosen: ShownMetric;
  query: ReportQuery;
}): ReactNode {
  const rest = shownMetrics.filter(({ name }) => name !== chosen.name).slice(0, 7);
  const most = Math.max(...rows.map(({ metrics }) => metrics[chosen.name] ?? 0), 1e-9);
  const cellsOf = (metrics: Row['metrics']) =>
    rest.map(({ name, format }) => show(metrics[name] ?? null, format));
  const bar = (metrics: Row['metrics'], name: ReactNode) => (
    <div className="bar-row">
      <i style={{ width: `${Math.min(100, (100 * (metrics[chosen.name] ?? 0)) / most)}%` }} />
      {name}
      <b>{show(metrics[chosen.name] ?? null, chosen.format)}</b>
    </div>
  );
  return (
    <>
      <Cells
        minWidth={960}
        head={[chosen.label, ...rest.map(({ label }) => label)]}
        rows={[
          ...rows.map((row) => ({
            key: JSON.stringify(row.values),
            cells: [bar(row.metrics, <RowName row={row} query={query} />), ...cellsOf(row.metrics)],
          })),
          ...(other === null
            ? []
            : [
                {
                  key: 'other',
                  cells: [bar(other, <span>{t('all others')}</span>), ...cellsOf(other)],
                },
              ]),
        ]}
      />
      <Text size="sm">
        {t(
          '{count} row. A name opens the items behind it.|{count} rows. A name opens the items behind it.',
          {
            count: rows.length,
          },
        )}
      </Text>
    </>
  );
}
