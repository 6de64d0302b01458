/** Items by viewer activity, and those that changed most. */
import { Anchor, Group, Select, Stack, UnstyledButton } from '@mantine/core';
import type { ReactNode } from 'react';
import { useList, useRead } from '../../data.ts';
import { percent, whole, words } from '../../format.ts';
import { useParameters } from '../../location.ts';
import { More, Show } from '../../states.tsx';
import type { ReportQuery } from './report-filters.tsx';
import { Cells, count, share, show, time } from './report-parts.tsx';
import { known, t } from '../../texts/texts.ts';

type Parts = { query: ReportQuery };

const columns = [
  { sort: 'plays', label: t('Plays'), format: count },
  { sort: 'uniqueViewers', label: t('Viewers'), format: count },
  { sort: 'totalWatchTime', label: t('Watch time'), format: time },
  { sort: 'completionRate', label: t('Finished'), format: share },
  { sort: 'hookRate', label: t('Hooked'), format: share },
  { sort: 'swipeAwayRate', label: t('Swiped away'), format: share },
  { sort: 'engagementRate', label: t('Engagement'), format: share },
  { sort: 'likes', label: t('Likes'), format: count },
] as const;

const titleOf = (id: string, title: string | null) => (
  <Anchor href={`#/content/${id}`} underline="always">
    {title ?? id}
  </Anchor>
);

export function ItemsReport({ query }: Parts): ReactNode {
  const [values, change] = useParameters();
  const sort = columns.find((each) => each.sort === values['sort'])?.sort ?? 'plays';
  const order = values['order'] === 'asc' ? ('asc' as const) : ('desc' as const);
  const items = useList('/v1/analytics/content', { query: { ...query, sort, order } });
  const head = columns.map((column) => {
    const direction = order === 'desc' ? ', most first' : ', least first';
    const text = column.label + (column.sort === sort ? direction : '');
    return (
      <UnstyledButton
        key={column.sort}
        fz="sm"
        fw={700}
        td="underline"
        mih={24}
        aria-label={t('Sort by {text}', { text })}
        onClick={() =>
          change({
            sort: column.sort,
            order: column.sort === sort && order === 'desc' ? 'asc' : 'desc',
          })
        }
      >
        {text}
      </UnstyledButton>
    );
  });
  return (
    <Stack>
      <Show of={items}>
        {(data) => (
          <Cells
            minWidth={860}
            head={[t('Item'), ...head]}
            rows={data.map(({ contentId, title, metrics }) => ({
              key: contentId,
              cells: [
                titleOf(contentId, title),
                ...columns.map((column) => column.format(metrics[column.sort])),
              ],
            }))}
          />
        )}
      </Show>
      <More of={items} />
    </Stack>
  );
}

const movedMetrics = [
  ...(['plays', 'impressions', 'likes', 'shares', 'saves', 'totalWatchTime'] as const),
];
const directions = ['both', 'up', 'down'] as const;

export function MoversReport({ query }: Parts): ReactNode {
  const [values, change] = useParameters();
  const metric = movedMetrics.find((each) => each === values['metric']) ?? 'plays';
  const direction = directions.find((each) => each === values['direction']) ?? 'both';
  const movers = useRead('/v1/analytics/movers', {
    query: { ...query, metric, direction, limit: 50 },
  });
  const format = (value: number) => (metric === 'totalWatchTime' ? time(value) : whole(value));
  const signed = (value: number) =>
    `${value > 0 ? '+' : value < 0 ? '−' : ''}${format(Math.abs(value))}`;
  return (
    <Stack>
      <Group>
        <Select
          label={t('Metric')}
          allowDeselect={false}
          data={movedMetrics.map((value) => ({ value, label: words(value) }))}
          value={metric}
          onChange={(value) => change({ metric: value })}
        />
        <Select
          label={t('Direction')}
          allowDeselect={false}
          data={directions.map((value) => ({ value, label: known(value) }))}
          value={direction}
          onChange={(value) => change({ direction: value })}
        />
      </Group>
      <Show of={movers}>
        {({ data }) => (
          <Cells
            head={['Item', 'Now', 'Before', 'Difference', 'Change']}
            rows={data.map((item) => ({
              key: item.contentId,
              cells: [
                titleOf(item.contentId, item.title),
                format(item.current),
                format(item.previous),
                signed(item.difference),
                show(item.change, (value) => percent(value, 0)),
              ],
            }))}
          />
        )}
      </Show>
    </Stack>
  );
}
