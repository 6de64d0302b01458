/** Results of one metric by segment, and its lift over the days. */
import { Alert, Group, Select, Stack, Table, Text, Title } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { Band } from '../band.tsx';
import { useRead, type Answer } from '../data.ts';
import { percent, whole, words } from '../format.ts';
import { Show } from '../states.tsx';
import type { Experiment } from './experiment.tsx';

type Results = Answer<'get', '/v1/experiments/{id}/results'>['data'];
type Segments = NonNullable<Results['segments']>;
type Timeline = NonNullable<Results['timeline']>;
type NameOf = (id: string) => string;

const dimensions = [
  { value: 'country', label: 'Country' },
  { value: 'device', label: 'Device' },
  { value: 'newOrReturning', label: 'New or returning' },
  { value: 'appVersion', label: 'Version of the app' },
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
        By segment and over time
      </Title>
      <Group>
        <Select
          label="Metric"
          allowDeselect={false}
          data={names.map((value) => ({ value, label: words(value) }))}
          value={metric}
          onChange={(value) => setMetric(value ?? metric)}
        />
        <Select
          label="Segment"
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
        <Alert key={variant} color="yellow" title="The effect fades">
          {`“${nameOf(variant)}” had a lift of ${percent(earlyLift)} in the first half of the days, and of ` +
            `${percent(lateLift)} in the second. Novelty may be part of it: let it run on.`}
        </Alert>
      ))}
      {treatments.length === 0 && (
        <Text size="sm">The curve begins when each variant has enough participants.</Text>
      )}
      {treatments.map((id) => (
        <Band
          key={id}
          title={`Lift of “${nameOf(id)}” over the days`}
          points={points.map(({ date, variants }) => {
            const found = variants.find((variant) => variant.id === id);
            const [low, high] = found?.liftInterval ?? [];
            const interval: [number, number] | null =
              low === undefined || high === undefined ? null : [low, high];
            return { mark: date, value: found?.lift ?? null, interval };
          })}
        />
      ))}
      <Text size="sm">
        Days are UTC days. The interval holds for all days at once, so it may be read every day.
      </Text>
    </Stack>
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
              <Table.Th>Segment</Table.Th>
              <Table.Th>Variant</Table.Th>
              <Table.Th>Participants</Table.Th>
              <Table.Th>Value</Table.Th>
              <Table.Th>Lift</Table.Th>
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
                      : `${signed(lift)} (${signed(low)} to ${signed(high)})`}
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
