/** Results of one metric by segment, and its lift over time. */
import { Alert, Group, Select, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { ChartCard } from '../../charts/chart.tsx';
import { useRead, type Answer } from '../../data.ts';
import { dayOrHour, percent, whole, words } from '../../format.ts';
import { Show } from '../../states.tsx';
import type { Experiment } from './experiment.tsx';
import { t } from '../../texts/texts.ts';

type Results = Answer<'get', '/v1/experiments/{id}/results'>['data'];
type Segments = NonNullable<Results['segments']>;
type Timeline = NonNullable<Results['timeline']>;
type NameOf = (id: string) => string;

const dimensions = [
  { value: 'country', label: t('Country') },
  { value: 'device', label: t('Device') },
  { value: 'newOrReturning', label: t('New or returning') },
  { value: 'appVersion', label: t('Version of the app') },
] as const;
type Dimension = (typeof dimensions)[number]['value'];

export function Breakdown({ experiment }: { experiment: Experiment }): ReactNode {
  const [metric, setMetric] = useState(experiment.primaryMetric);
  const [segment, setSegment] = useState<Dimension>('country');
  const results = useRead('/v1/experiments/{id}/results', {
    path: { id: experiment.id },
    query: { segment, granularity: 'day', metric },
  });
  const names = [...experiment.metrics, ...experiment.guardrails.map((one) => one.metric)];
  const nameOf = (id: string) => experiment.variants.find((one) => one.id === id)?.name ?? id;
  return (
    <Stack>
      <Title order={2} size="h4">
        {t('By segment and over time')}
      </Title>
      <Group>
        <Select
          label={t('Metric')}
          allowDeselect={false}
          data={names.map((value) => ({ value, label: words(value) }))}
          value={metric}
          onChange={(value) => setMetric(value ?? metric)}
        />
        <Select
          label={t('Segment')}
          allowDeselect={false}
          data={[...dimensions]}
          value={segment}
          onChange={(value) => setSegment(value ?? segment)}
        />
      </Group>
      <Show of={results}>
        {({ data }) => (
          <Stack>
            {data.timeline !== undefined && <Curve timeline={data.timeline} nameOf={nameOf} />}
            {data.segments !== undefined && (
              <SegmentTable segments={data.segments} nameOf={nameOf} />
            )}
          </Stack>
        )}
      </Show>
    </Stack>
  );
}

function Curve({ timeline, nameOf }: { timeline: Timeline; nameOf: NameOf }): ReactNode {
  const { points, novelty } = timeline;
  const treatments = [
    ...new Set(points.flatMap(({ variants }) => variants.filter(isCompared).map(({ id }) => id))),
  ];
  const fading = novelty.filter(({ isFading }) => isFading);
  return (
    <Stack gap="xs">
      {fading.map(({ variant, earlyLift, lateLift }) => (
        <Alert key={variant} color="yellow" title={t('The effect fades')}>
          {t(
            '“{variant}” had a lift of {earlyLift} in the first half of the days, and of {lateLift} in the second. Part of it may be novelty: let the experiment continue.',
            {
              variant: nameOf(variant),
              earlyLift: percent(earlyLift),
              lateLift: percent(lateLift),
            },
          )}
        </Alert>
      ))}
      {treatments.length === 0 && (
        <Text size="sm">{t('The curve begins when each variant has enough participants.')}</Text>
      )}
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        {treatments.map((id) => (
          <LiftCurve key={id} name={nameOf(id)} id={id} points={points} />
        ))}
        <Exposure points={points} nameOf={nameOf} />
      </SimpleGrid>
      <Text size="sm">
        {t(
          'Days are UTC days. The interval holds for all days at once, so it may be read every day.',
        )}
      </Text>
    </Stack>
  );
}

/** The lift up to each day, with its interval. */
function LiftCurve({
  id,
  name,
  points,
}: Pick<Timeline, 'points'> & { id: string; name: string }): ReactNode {
  const found = points.map(({ variants }) => variants.find((variant) => variant.id === id));
  return (
    <ChartCard
      title={t('Lift of “{name}” over the days', { name })}
      marks={points.map(({ date }) => dayOrHour(date))}
      format={(value) => percent(value)}
      kind="line"
      series={[{ label: 'lift', values: found.map((one) => one?.lift ?? null) }]}
      range={{
        label: 'interval',
        values: found.map((one) => {
          const [low, high] = one?.liftInterval ?? [];
          return low === undefined || high === undefined ? null : [low, high];
        }),
      }}
    />
  );
}

/** Participants up to each day, by variant. */
function Exposure({ points, nameOf }: Pick<Timeline, 'points'> & { nameOf: NameOf }): ReactNode {
  const ids = [...new Set(points.flatMap(({ variants }) => variants.map(({ id }) => id)))];
  if (points.length === 0) return null;
  return (
    <ChartCard
      title={t('Participants over the days')}
      marks={points.map(({ date }) => dayOrHour(date))}
      format={whole}
      kind="line"
      series={ids.map((id) => ({
        label: nameOf(id),
        values: points.map(
          ({ variants }) => variants.find((one) => one.id === id)?.participants ?? null,
        ),
      }))}
    />
  );
}

function isCompared({ liftInterval }: { liftInterval: unknown }): boolean {
  return liftInterval !== null;
}

function SegmentTable({ segments, nameOf }: { segments: Segments; nameOf: NameOf }): ReactNode {
  const rows = segments.values.flatMap(({ value, variants }) =>
    variants.map((variant) => ({ ...variant, segment: value })),
  );
  const signed = (value: number) => percent(value).replace('-', '−');
  return (
    <Stack gap="xs">
      <Table.ScrollContainer minWidth={520}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('Segment')}</Table.Th>
              <Table.Th>{t('Variant')}</Table.Th>
              <Table.Th>{t('Participants')}</Table.Th>
              <Table.Th>{t('Value')}</Table.Th>
              <Table.Th>{t('Lift')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => {
              const [low, high] = row.liftInterval ?? [];
              const lift = row.lift ?? null;
              return (
                <Table.Tr key={`${row.segment} ${row.id}`}>
                  <Table.Td>{row.segment}</Table.Td>
                  <Table.Td>{nameOf(row.id)}</Table.Td>
                  <Table.Td>{whole(row.participants)}</Table.Td>
                  <Table.Td>{Number(row.value.toPrecision(4))}</Table.Td>
                  <Table.Td fw={row.significant === true ? 700 : 400}>
                    {lift === null || low === undefined || high === undefined
                      ? '–'
                      : t('{lift} ({low} to {high})', {
                          lift: signed(lift),
                          low: signed(low),
                          high: signed(high),
                        })}
                  </Table.Td>
                </Table.Tr>
              );
            })}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Text size="sm">
        {`Judged as one family of ${segments.comparisons} comparisons, corrected by Holm’s method.` +
          (segments.leftOut > 0 ? ` ${segments.leftOut} smaller segments are left out.` : '')}
      </Text>
    </Stack>
  );
}
