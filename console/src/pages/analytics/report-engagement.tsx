/** Sessions by segment and by source. */
import { Select, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useRead } from '../../data.ts';
import { whole, words } from '../../format.ts';
import { useParameters } from '../../location.ts';
import { Show } from '../../states.tsx';
import type { ReportQuery } from './report-filters.tsx';
import { Cells, count, Curve, Figures, plain, share, time } from './report-parts.tsx';
import { t } from '../../texts/texts.ts';

type Parts = { query: ReportQuery };
const segments = ['device', 'country', 'tag'] as const;
const headOfSegments = [
  t('Segment'),
  t('Sessions'),
  t('Length'),
  t('Plays'),
  t('Watch time'),
  t('Completion'),
  t('Engagement'),
  t('Likes, shares, saves'),
];

export function EngagementReport({ query }: Parts): ReactNode {
  const [values, change] = useParameters();
  const segment = segments.find((each) => each === values['segment']) ?? 'device';
  const report = useRead('/v1/analytics/engagement', { query: { ...query, segment } });
  return (
    <Show of={report}>
      {({ data: { summary, timeseries, segments: rows } }) => (
        <Stack>
          <Figures
            of={[
              [t('Sessions'), count(summary.sessions)],
              [t('Length of a session'), time(summary.averageSessionLength)],
              [t('Videos in a session'), plain(summary.averageVideosPerSession)],
              [t('Watch time in a session'), time(summary.averageWatchTimePerSession)],
            ]}
          />
          <Curve
            title={t('Sessions')}
            dates={timeseries.map(({ date }) => date)}
            format={whole}
            series={[{ label: 'sessions', values: timeseries.map(({ sessions }) => sessions) }]}
          />
          <Select
            label={t('Segments')}
            allowDeselect={false}
            w={160}
            data={segments.map((value) => ({ value, label: words(value) }))}
            value={segment}
            onChange={(value) => change({ segment: value })}
          />
          <Cells
            minWidth={760}
            head={headOfSegments}
            rows={rows.map((row) => ({
              key: row.segment ?? '',
              cells: [
                row.segment ?? 'unknown',
                count(row.sessions),
                time(row.averageSessionLength),
                whole(row.plays),
                time(row.totalWatchTime),
                share(row.completionRate),
                share(row.engagementRate),
                [row.likes, row.shares, row.saves].map(whole).join(', '),
              ],
            }))}
          />
        </Stack>
      )}
    </Show>
  );
}

export function SourcesReport({ query }: Parts): ReactNode {
  const report = useRead('/v1/analytics/sources', { query });
  return (
    <Show of={report}>
      {({ data: { sources, timeseries } }) => (
        <Stack>
          <Curve
            title={t('Impressions')}
            dates={timeseries.map(({ date }) => date)}
            format={whole}
            series={[
              {
                label: t('all sources'),
                values: timeseries.map(({ impressions }) =>
                  Object.values(impressions).reduce((sum, some) => sum + some, 0),
                ),
              },
            ]}
          />
          <Cells
            head={['Entry point', 'Impressions', 'Share']}
            rows={sources.map((source) => ({
              key: source.entryPoint ?? '',
              cells: [
                source.entryPoint ?? 'not named',
                whole(source.impressions),
                share(source.share),
              ],
            }))}
          />
        </Stack>
      )}
    </Show>
  );
}
