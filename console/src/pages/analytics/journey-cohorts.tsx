/** The cohort answer: a heat map of shares, the underlying counts, and the breakdown. */
import { Anchor, Stack, Table, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { Card } from '../../card.tsx';
import { percent, whole, words } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { JourneyAnswer, Others, valueName } from './journey-answer.tsx';
import type { CohortBody, Cohorts } from './journey-question.ts';
import './journeys.css';
import { TableSwitch } from '../../charts/table-switch.tsx';

type Returns = Pick<Cohorts['cohorts'][number], 'size' | 'periods'>;
type Row = Returns & { key: string; name: ReactNode };

export function CohortAnswer({ body }: { body: CohortBody }): ReactNode {
  const isOfWeeks = body.granularity === 'week';
  return (
    <JourneyAnswer<CohortBody, Cohorts>
      path="/v1/analytics/cohorts"
      body={body}
      ask={(asked, signal) => api.post('/v1/analytics/cohorts', { body: asked, signal })}
      isEmpty={({ cohorts }) => cohorts.every(({ size }) => size === 0)}
    >
      {({ cohorts, otherCohorts, breakdown, otherValues }) => (
        <Stack>
          <HeatMap
            title={t('Viewers who come back')}
            isOfWeeks={isOfWeeks}
            rows={cohorts
              .filter(({ size }) => size > 0)
              .map(({ cohort, ...returns }) => ({
                ...returns,
                key: cohort,
                name:
                  body.by === 'item' ? (
                    <Anchor size="sm" href={`#/content/${cohort}`}>
                      {cohort.slice(0, 8)}
                    </Anchor>
                  ) : (
                    cohort
                  ),
              }))}
          />
          <Others count={otherCohorts} />
          {breakdown !== null && (
            <>
              <HeatMap
                title={t('By {dimension}', { dimension: words(body.breakdown ?? '') })}
                isOfWeeks={isOfWeeks}
                rows={breakdown.map(({ value, ...returns }) => ({
                  ...returns,
                  key: JSON.stringify(value),
                  name: valueName(value),
                }))}
              />
              <Others count={otherValues} />
            </>
          )}
        </Stack>
      )}
    </JourneyAnswer>
  );
}

function HeatMap({
  title,
  rows,
  isOfWeeks,
}: {
  title: string;
  rows: readonly Row[];
  isOfWeeks: boolean;
}): ReactNode {
  const [isTable, setTable] = useState(false);
  const longest = rows[0]?.periods ?? [];
  const hasDash = rows.some(({ periods }) => periods.some(({ share }) => share === null));
  return (
    <Card
      title={title}
      actions={<TableSwitch title={title} isTable={isTable} onChange={setTable} />}
    >
      <Table.ScrollContainer minWidth={160 + 64 * longest.length}>
        <Table className="heat" withRowBorders={isTable}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('Cohort')}</Table.Th>
              <Table.Th>{t('Viewers')}</Table.Th>
              {longest.map(({ period }) => (
                <Table.Th key={period}>
                  {isOfWeeks
                    ? t('Week {number}', { number: period })
                    : t('Day {number}', { number: period })}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(({ key, name, size, periods }) => (
              <Table.Tr key={key}>
                <Table.Td>{name}</Table.Td>
                <Table.Td>{whole(size)}</Table.Td>
                {periods.map((one) => (
                  <Cell key={one.period} isTable={isTable} {...one} />
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {hasDash && <Text size="sm">{t('A dash means that no viewer has got that far yet.')}</Text>}
    </Card>
  );
}

type Period = Returns['periods'][number];

function Cell({ share, viewers, of, isTable }: Period & { isTable: boolean }): ReactNode {
  if (share === null) return <Table.Td>–</Table.Td>;
  const counts = t('{viewers} of {of}', { viewers: whole(viewers), of: whole(of) });
  if (isTable) return <Table.Td>{counts}</Table.Td>;
  // Even the strongest tint keeps the text readable in light and dark mode.
  const tint = `color-mix(in srgb, var(--chart-1) ${Math.round(45 * share)}%, transparent)`;
  return (
    <Table.Td title={counts} style={{ background: tint }}>
      {percent(share, 0)}
    </Table.Td>
  );
}
