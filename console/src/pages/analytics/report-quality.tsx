/** Playback quality. */
import { SimpleGrid, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useRead, type Answer } from '../../data.ts';
import { percent, seconds, whole } from '../../format.ts';
import { Show } from '../../states.tsx';
import type { ReportQuery } from './report-filters.tsx';
import { Cells, count, Curve, Figures, milliseconds, plain, share } from './report-parts.tsx';
import { t } from '../../texts/texts.ts';

type Quality = Answer<'get', '/v1/analytics/quality'>['data'];

export function QualityReport({ query }: { query: ReportQuery }): ReactNode {
  const report = useRead('/v1/analytics/quality', { query });
  return (
    <Show of={report}>
      {({ data }) => (
        <Stack>
          <Summary of={data.summary} />
          <Curves of={data.timeseries} />
          <Tables of={data} />
        </Stack>
      )}
    </Show>
  );
}

function Summary({ of: { startupTime, ...rest } }: { of: Quality['summary'] }): ReactNode {
  return (
    <Figures
      of={[
        [t('First frame, median'), milliseconds(startupTime.p50)],
        [t('First frame, p75'), milliseconds(startupTime.p75)],
        [t('First frame, p95'), milliseconds(startupTime.p95)],
        [t('Time stalled'), share(rest.rebufferRatio)],
        [t('Stalls per hour'), plain(rest.rebuffersPerHour)],
        [t('Error rate'), share(rest.errorRate)],
        [t('Failed before the start'), count(rest.failuresBeforeStart)],
        [t('Left before the start'), count(rest.exitsBeforeStart)],
      ]}
    />
  );
}

function Curves({ of }: { of: Quality['timeseries'] }): ReactNode {
  const dates = of.map(({ date }) => date);
  const hundredths = (value: number) => percent(value, 2);
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Curve
        title={t('Time to the first frame')}
        dates={dates}
        format={(value) => `${whole(value)} ms`}
        series={[
          { label: 'p95', values: of.map(({ startupTime }) => startupTime.p95) },
          { label: 'median', values: of.map(({ startupTime }) => startupTime.p50) },
        ]}
      />
      <Curve
        title={t('Stalled and failed')}
        dates={dates}
        format={hundredths}
        series={[
          { label: t('time stalled'), values: of.map(({ rebufferRatio }) => rebufferRatio) },
          { label: t('error rate'), values: of.map(({ errorRate }) => errorRate) },
        ]}
      />
    </SimpleGrid>
  );
}

function Tables({ of: { renditions, codecs, errors } }: { of: Quality }): ReactNode {
  if (renditions === null || codecs === null || errors === null) {
    return (
      <Text size="sm">
        {t('With these filters there is nothing by rendition, codec and error.')}
      </Text>
    );
  }
  return (
    <>
      <Cells
        title={t('By rendition')}
        head={['Rendition', 'Plays', 'First frame', 'Stalls', 'Time stalled', 'Switches to it']}
        rows={renditions.map((one) => ({
          key: one.rendition ?? '',
          cells: [
            one.rendition ?? 'unknown',
            whole(one.plays),
            milliseconds(one.averageStartupTime),
            whole(one.rebuffers),
            seconds(one.rebufferTime),
            one.switchesTo === null ? '–' : whole(one.switchesTo),
          ],
        }))}
      />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Cells
          title={t('By codec')}
          minWidth={300}
          head={['Codec', 'Plays', 'First frame']}
          rows={codecs.map((one) => ({
            key: one.codec ?? '',
            cells: [one.codec ?? 'unknown', whole(one.plays), milliseconds(one.averageStartupTime)],
          }))}
        />
        <Cells
          title={t('Errors')}
          minWidth={300}
          head={[t('Code'), 'Count']}
          rows={errors.map((one) => ({
            key: one.code ?? '',
            cells: [one.code ?? 'not named', whole(one.count)],
          }))}
        />
      </SimpleGrid>
    </>
  );
}
