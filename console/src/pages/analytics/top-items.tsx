/** The most played items with links, and a link to all of them. */
import { Anchor } from '@mantine/core';
import type { ReactNode } from 'react';
import { Card, Nothing } from '../../card.tsx';
import { useRead } from '../../data.ts';
import { percent, whole } from '../../format.ts';
import { Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';
import { addressOfFilters, type ReportQuery } from './report-filters.tsx';

export function TopItems({ query: all }: { query: ReportQuery }): ReactNode {
  const query = { ...all };
  delete query.granularity;
  const items = useRead('/v1/analytics/content', {
    query: { ...query, sort: 'plays', order: 'desc', limit: 8 },
  });
  return (
    <Card
      title={t('Most played')}
      actions={
        <Anchor size="sm" href={`#/reports?report=items&${addressOfFilters(query)}`}>
          {t('All items')}
        </Anchor>
      }
    >
      <Show of={items}>
        {({ data }) => {
          const most = Math.max(...data.map(({ metrics }) => metrics.plays), 1);
          if (data.length === 0) return <Nothing />;
          return (
            <div role="list">
              {data.map(({ contentId, title, metrics }) => (
                <div key={contentId} role="listitem" className="bar-row">
                  <i style={{ width: `${(100 * metrics.plays) / most}%` }} />
                  <a href={`#/content/${contentId}`}>{title ?? contentId}</a>
                  <b>{whole(metrics.plays)}</b>
                  <small>
                    {metrics.completionRate === null
                      ? '–'
                      : t('{share} finished', { share: percent(metrics.completionRate, 0) })}
                  </small>
                </div>
              ))}
            </div>
          );
        }}
      </Show>
    </Card>
  );
}
