/** The reports, which share filters stored in the address. */
import { Button, Tabs, Text } from '@mantine/core';
import type { ComponentType, ReactNode } from 'react';
import { readText } from '../../api.ts';
import { useChange, useRead } from '../../data.ts';
import { useParameters } from '../../location.ts';
import { Page } from '../../page.tsx';
import { SavedViews } from '../../saved-views.tsx';
import { Failed } from '../../states.tsx';
import { BreakdownReport, useBreakdown } from './breakdown.tsx';
import { AudienceReport, RetentionReport } from './report-audience.tsx';
import { EngagementReport, SourcesReport } from './report-engagement.tsx';
import { HoursReport, ViewersReport } from './report-habits.tsx';
import { ItemsReport, MoversReport } from './report-items.tsx';
import { QualityReport } from './report-quality.tsx';
import { ReportFilters, useReportQuery, type ReportQuery } from './report-filters.tsx';
import { t } from '../../texts/texts.ts';

type Report = {
  name: string;
  label: string;
  about: string;
  Content: ComponentType<{ query: ReportQuery }>;
  /** Whether it supports hours and weeks. */
  hasGranularity: boolean;
  path: string;
};

const itemsReport: Report = {
  name: 'items',
  label: t('Items'),
  about: t('What was watched, and how. Includes archived items.'),
  Content: ItemsReport,
  hasGranularity: false,
  path: '/v1/analytics/content',
};

const reports: readonly Report[] = [
  itemsReport,
  {
    name: 'breakdown',
    label: t('Break-downs'),
    about: t('All numbers by one or two dimensions, such as country and device.'),
    Content: BreakdownReport,
    hasGranularity: false,
    path: '/v1/analytics/overview',
  },
  {
    name: 'movers',
    label: t('Movers'),
    about: t(
      'Items that changed most compared with the previous period. An incomplete day is left out.',
    ),
    Content: MoversReport,
    hasGranularity: false,
    path: '/v1/analytics/movers',
  },
  {
    name: 'audience',
    label: t('Audience'),
    about: t('Who watches: active, new and returning viewers.'),
    Content: AudienceReport,
    hasGranularity: false,
    path: '/v1/analytics/audience',
  },
  {
    name: 'viewers',
    label: t('Viewers'),
    about: t('How many people watch, on how many days they come, and how many of them react.'),
    Content: ViewersReport,
    hasGranularity: false,
    path: '/v1/analytics/viewers',
  },
  {
    name: 'hours',
    label: t('Hours'),
    about: t('The hours of the week in which viewers watch.'),
    Content: HoursReport,
    hasGranularity: false,
    path: '/v1/analytics/hours',
  },
  {
    name: 'retention',
    label: t('Retention'),
    about: t('How many new viewers return after a number of days.'),
    Content: RetentionReport,
    hasGranularity: true,
    path: '/v1/analytics/retention',
  },
  {
    name: 'engagement',
    label: t('Engagement'),
    about: t('Sessions, and what happens in them, by device, country or tag.'),
    Content: EngagementReport,
    hasGranularity: true,
    path: '/v1/analytics/engagement',
  },
  {
    name: 'sources',
    label: t('Sources'),
    about: t('Where viewers come from, by the entry point that the app names.'),
    Content: SourcesReport,
    hasGranularity: true,
    path: '/v1/analytics/sources',
  },
  {
    name: 'quality',
    label: t('Quality'),
    about: t('Playback quality: time to the first frame, stalls and errors.'),
    Content: QualityReport,
    hasGranularity: true,
    path: '/v1/analytics/quality',
  },
];

export function ReportsPage(): ReactNode {
  const [{ report: chosen = 'items' }, change] = useParameters();
  const timeZone = useRead('/v1/organization', {}).data?.data.timeZone ?? 'UTC';
  const report = reports.find(({ name }) => name === chosen) ?? itemsReport;
  const query = useReportQuery(timeZone, report);
  const breakdown = useBreakdown();
  const { name, Content, about, path } = report;
  const asked = name === 'breakdown' ? { ...query, ...breakdown } : query;
  return (
    <Page
      title={t('Reports')}
      curl={{ path, query: asked }}
      actions={
        <>
          <SavedViews of="reports" />
          <DownloadCsv name={name} path={path} query={asked} />
        </>
      }
    >
      <Tabs
        value={name}
        onChange={(value) => change({ report: value, sort: null, order: null })}
        keepMounted={false}
      >
        <Tabs.List>
          {reports.map((each) => (
            <Tabs.Tab key={each.name} value={each.name}>
              {each.label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={name} pt="md">
          <Text size="sm" mb="md">
            {t('{about} Days are those of {timeZone}.', { about, timeZone })}
          </Text>
          <ReportFilters query={query} hasGranularity={report.hasGranularity} />
          <Content query={query} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function DownloadCsv({
  name,
  path,
  query,
}: {
  name: string;
  path: string;
  query: ReportQuery & { breakdown?: string; top?: number };
}): ReactNode {
  const download = useChange(
    async () => {
      const text = await readText(
        `${path}?${new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)])).toString()}`,
        'text/csv',
      );
      const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
      const link = Object.assign(document.createElement('a'), {
        href: url,
        download: `${name}-${query.startDate}-${query.endDate}.csv`,
      });
      link.click();
      URL.revokeObjectURL(url);
    },
    { reads: 'none' },
  );
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        loading={download.isPending}
        onClick={() => download.mutate()}
      >
        {t('Download CSV')}
      </Button>
      <Failed error={download.error} />
    </>
  );
}
