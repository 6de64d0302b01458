/** Charts of how often viewers return and at which hours of the week. */
import { Select, Stack, Table, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useRead, type Answer } from '../../data.ts';
import { whole } from '../../format.ts';
import { Show } from '../../states.tsx';
import type { ReportQuery } from './report-filters.tsx';
import { Cells, Figures, share } from './report-parts.tsx';
import { t } from '../../texts/texts.ts';

type Parts = { query: ReportQuery };

export function ViewersReport({ query }: Parts): ReactNode {
  const report = useRead('/v1/analytics/viewers', { query });
  return (
    <Show of={report}>
      {({ data }) => (
        <Stack>
          <Figures
            of={[
              [t('Viewers'), whole(data.uniqueViewers)],
              [t('Liked, shared or saved'), whole(data.reactingViewers)],
              [t('Liked'), whole(data.likers)],
              [t('Likes'), whole(data.likes)],
              [t('Likes withdrawn'), whole(data.unlikes)],
              [t('Net likes'), whole(data.netLikes)],
            ]}
          />
          <Cells
            head={['Days with a view', 'Viewers', 'Share']}
            rows={data.frequency.map(({ daysFrom, daysTo, viewers, share: part }) => ({
              key: String(daysFrom),
              cells: [daysOf(daysFrom, daysTo), whole(viewers), share(part)],
            }))}
          />
        </Stack>
      )}
    </Show>
  );
}

function daysOf(from: number, to: number | null): string {
  if (to === null) return `${from} or more`;
  return from === to ? String(from) : `${from} to ${to}`;
}

type Hour = Answer<'get', '/v1/analytics/hours'>['data'][number];

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const choices = [
  { value: 'plays', label: t('Plays') },
  { value: 'impressions', label: t('Impressions') },
  { value: 'likes', label: t('Likes') },
  { value: 'sessions', label: t('Sessions') },
] as const;
type Measure = (typeof choices)[number]['value'];

export function HoursReport({ query }: Parts): ReactNode {
  const [measure, setMeasure] = useState<Measure>('plays');
  const report = useRead('/v1/analytics/hours', { query });
  return (
    <Stack>
      <Select
        label={t('Measure')}
        allowDeselect={false}
        w={160}
        data={choices}
        value={measure}
        onChange={(value) => setMeasure(value ?? 'plays')}
      />
      <Show of={report}>{({ data }) => <Week hours={data} measure={measure} />}</Show>
      <Text size="sm">
        {t(
          'Averages over the weekdays of the range. A dash means that no such weekday has begun, or that the filter has no sessions.',
        )}
      </Text>
    </Stack>
  );
}

/** Average for this weekday and hour, or null without data. */
function averageOf(hour: Hour, measure: Measure): number | null {
  const value = hour[measure];
  return value === null || hour.days === 0 ? null : value / hour.days;
}

function Week({ hours, measure }: { hours: readonly Hour[]; measure: Measure }): ReactNode {
  const most = Math.max(...hours.map((hour) => averageOf(hour, measure) ?? 0), 1e-9);
  return (
    <Table.ScrollContainer minWidth={640}>
      <Table layout="fixed">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Hour')}</Table.Th>
            {weekdays.map((name) => (
              <Table.Th key={name}>{name}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {Array.from({ length: 24 }, (_, hour) => (
            <Table.Tr key={hour}>
              <Table.Th scope="row">{`${hour}:00`}</Table.Th>
              {hours
                .filter((each) => each.hour === hour)
                .map((each) => {
                  const value = averageOf(each, measure);
                  return (
                    <Table.Td key={each.weekday} style={{ background: shade((value ?? 0) / most) }}>
                      {value === null ? '–' : rounded(value)}
                    </Table.Td>
                  );
                })}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

const rounded = (value: number): string => (value < 10 ? String(+value.toFixed(1)) : whole(value));

/** Faint enough for text on top in both color schemes. */
const shade = (part: number): string =>
  `color-mix(in srgb, var(--mantine-primary-color-filled) ${Math.round(part * 30)}%, transparent)`;
