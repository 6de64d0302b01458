/** Metrics compared with the previous period, their trend, and traffic sources. */
import { Anchor, SimpleGrid, Switch } from '@mantine/core';
import type { ReactNode } from 'react';
import { ChartCard } from '../../charts/chart.tsx';
import { useRead } from '../../data.ts';
import { dayOrHour, percent } from '../../format.ts';
import { goTo, useParameters } from '../../location.ts';
import { Page } from '../../page.tsx';
import { SavedViews } from '../../saved-views.tsx';
import { Empty, Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';
import { WebhookNotices } from '../webhooks/webhook-notices.tsx';
import { AlertNotice } from './alert-notice.tsx';
import { BreakdownCard } from './breakdown.tsx';
import { LiveTail } from './live-tail.tsx';
import { mainMetrics, metricOf, type Overview, type ShownMetric } from './metrics-shown.ts';
import { QualityCards } from './overview-quality.tsx';
import './overview.css';
import { periodBefore } from './periods.ts';
import {
  addressOfFilters,
  ReportFilters,
  useReportQuery,
  type ReportQuery,
} from './report-filters.tsx';
import { TopItems } from './top-items.tsx';

const every = 5_000;
const defaultDays = 7;

export function OverviewPage(): ReactNode {
  // The frame has loaded it before any view is shown.
  const timeZone = useRead('/v1/organization', {}).data?.data.timeZone ?? 'UTC';
  const query = useReportQuery(timeZone, { hasGranularity: true, defaultDays });
  const [{ metric, compare }, change] = useParameters();
  const overview = useRead('/v1/analytics/overview', { query }, { every });
  const shown = metricOf(metric);
  const isCompared = compare !== 'no';
  return (
    <Page
      title={t('Overview')}
      curl={{ path: '/v1/analytics/overview', query }}
      actions={<SavedViews of="overview" />}
    >
      <AlertNotice />
      <WebhookNotices />
      <ReportFilters query={query} hasGranularity defaultDays={defaultDays}>
        <Switch
          label={t('Compare with the previous period')}
          mb={8}
          checked={isCompared}
          onChange={(event) => change({ compare: event.currentTarget.checked ? null : 'no' })}
        />
      </ReportFilters>
      <Show of={overview}>
        {({ data }) =>
          data.summary.impressions + data.summary.plays === 0 ? (
            <NothingWatched />
          ) : (
            <>
              <Cards of={data} shown={shown} pick={(name) => change({ metric: name })} />
              <Course of={data} shown={shown} query={query} isCompared={isCompared} />
            </>
          )
        }
      </Show>
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <TopItems query={query} />
        <BreakdownCard query={query} metric={shown} />
      </SimpleGrid>
      <QualityCards query={query} isCompared={isCompared} />
      <LiveTail />
    </Page>
  );
}

function NothingWatched(): ReactNode {
  return (
    <Empty>
      {t('Nobody has watched anything in this period.')}{' '}
      <Anchor href="../feed" underline="always">
        {t('Open the feed')}
      </Anchor>{' '}
      {t('and watch a clip, or run this to see simulated viewers:')} <code>npm run demo</code>
    </Empty>
  );
}

/** Each metric is a button that shows its trend below. */
function Cards({
  of: { summary, comparison },
  shown,
  pick,
}: {
  of: Overview;
  shown: ShownMetric;
  pick: (name: string) => void;
}): ReactNode {
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="sm">
      {mainMetrics.map(({ name, label, format, isBadWhenUp = false }) => {
        const value = summary[name];
        const { change } = comparison[name];
        return (
          <button
            key={name}
            type="button"
            className="overview-card mantine-focus-auto"
            aria-pressed={name === shown.name}
            onClick={() => pick(name)}
          >
            <span>{label}</span>
            <strong>{value === null ? '–' : format(value)}</strong>
            <Change change={change} isBadWhenUp={isBadWhenUp} />
          </button>
        );
      })}
    </SimpleGrid>
  );
}

export function Change({
  change,
  isBadWhenUp,
}: {
  change: number | null;
  isBadWhenUp: boolean;
}): ReactNode {
  if (change === null) return <small>{t('nothing to compare with')}</small>;
  const isUp = change > 0;
  const tone = change === 0 ? undefined : isUp === isBadWhenUp ? 'bad' : 'good';
  return (
    <small data-tone={tone}>
      {`${isUp ? '▲ +' : change < 0 ? '▼ −' : ''}${percent(Math.abs(change), 0)}`}
      <span className="overview-before">{` ${t('from the previous period')}`}</span>
    </small>
  );
}

/** The trend of the chosen metric. A point opens the items of its day. */
function Course({
  of: { timeseries },
  shown: { name, label, format },
  query,
  isCompared,
}: {
  of: Overview;
  shown: ShownMetric;
  query: ReportQuery;
  isCompared: boolean;
}): ReactNode {
  const before = useRead(
    '/v1/analytics/overview',
    { query: periodBefore(query) },
    { enabled: isCompared },
  );
  const earlier = isCompared ? (before.data?.data.timeseries ?? []) : [];
  const openItems = (index: number) => {
    const day = timeseries[index]?.date.slice(0, 10);
    if (day === undefined) return;
    goTo(`/reports?report=items&${addressOfFilters({ ...query, startDate: day, endDate: day })}`);
  };
  return (
    <ChartCard
      title={label}
      about={t('Choose a day to see its items.')}
      marks={timeseries.map(({ date }) => dayOrHour(date))}
      format={format}
      series={[
        { label: t('this period'), values: timeseries.map((point) => point[name]) },
        ...(earlier.length === 0
          ? []
          : [
              {
                label: t('the previous period'),
                values: timeseries.map((_, index) => earlier[index]?.[name] ?? null),
                isBefore: true,
              },
            ]),
      ]}
      height={260}
      onPick={openItems}
    />
  );
}
