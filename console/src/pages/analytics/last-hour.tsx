/** The last 60 minutes by minute. */
import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useRead } from '../../data.ts';
import { moment, whole } from '../../format.ts';
import { Page } from '../../page.tsx';
import { Show } from '../../states.tsx';
import { Cells, Curve, Figures } from './report-parts.tsx';
import { t } from '../../texts/texts.ts';

const everyMs = 5_000;

export function LastHourPage(): ReactNode {
  const report = useRead('/v1/analytics/realtime', {}, { every: everyMs });
  return (
    <Page title={t('Last hour')} curl={{ path: '/v1/analytics/realtime' }}>
      <Show of={report}>
        {({ data, meta }) => (
          <Stack>
            <Text size="sm">{t('Counted up to {asOf}.', { asOf: moment(meta.asOf) })}</Text>
            <Figures
              of={[
                [t('Viewers, last 5 minutes'), whole(data.viewersLastFiveMinutes)],
                [t('Viewers, last hour'), whole(data.total.viewers)],
                [t('Plays'), whole(data.total.plays)],
                [t('Likes'), whole(data.total.likes)],
                [t('Shares'), whole(data.total.shares)],
                [t('Errors'), whole(data.total.errors)],
              ]}
            />
            <Curve
              title={t('By the minute')}
              dates={data.minutes.map(({ minute }) => minute)}
              series={[
                { label: t('Plays'), values: data.minutes.map(({ plays }) => plays) },
                { label: t('Viewers'), values: data.minutes.map(({ viewers }) => viewers) },
              ]}
              format={whole}
            />
            <Cells
              title={t('Rising')}
              head={['Item', 'Plays per minute', 'Before']}
              rows={data.rising.map((item) => ({
                key: item.contentId,
                cells: [
                  item.title,
                  item.playsPerMinute.toFixed(1),
                  item.playsPerMinuteBefore.toFixed(1),
                ],
              }))}
            />
            <Cells
              title={t('Most played')}
              head={['Item', 'Plays', 'Impressions', 'Likes']}
              rows={data.top.map((item) => ({
                key: item.contentId,
                cells: [item.title, whole(item.plays), whole(item.impressions), whole(item.likes)],
              }))}
            />
          </Stack>
        )}
      </Show>
    </Page>
  );
}
