/** The state of the service, from `/readyz` and `/metrics`. */
import { Alert, Badge, Group, Paper, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { serviceAddress } from '../../api.ts';
import { bytes, moment, seconds, whole, words } from '../../format.ts';
import { Copy, Page } from '../../page.tsx';
import { Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

type Sample = { name: string; labels: Readonly<Record<string, string>>; value: number };
type System = { checks: Readonly<Record<string, string>>; samples: readonly Sample[] };

export function SystemPage(): ReactNode {
  const system = useQuery({
    queryKey: ['system'],
    queryFn: ({ signal }) => readSystem(signal),
    refetchInterval: 5_000,
  });
  return (
    <Page
      title={t('System')}
      actions={
        <Copy
          text={t("curl '{serviceAddress}'", { serviceAddress: serviceAddress('/metrics') })}
          label={t('Copy as curl')}
        />
      }
    >
      <Show of={system}>{(data) => <Content system={data} />}</Show>
    </Page>
  );
}

async function readSystem(signal: AbortSignal): Promise<System> {
  const [ready, metrics] = await Promise.all([
    fetch(serviceAddress('/readyz'), { signal }),
    fetch(serviceAddress('/metrics'), { signal }),
  ]).catch(() => {
    throw new Error('The service cannot be reached. Is it running?');
  });
  const { checks } = (await ready.json()) as Pick<System, 'checks'>;
  return { checks, samples: parseMetrics(await metrics.text()) };
}

/** Parses samples in the Prometheus text format. */
export function parseMetrics(text: string): Sample[] {
  return [...text.matchAll(/^(\w+)(?:\{(.*)\})? ([-+\w.]+)$/gm)].map(
    ([, name = '', labels = '', value]) => ({
      name,
      labels: Object.fromEntries(
        [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, of]) => [key, of]),
      ) as Record<string, string>,
      value: Number(value),
    }),
  );
}

function Content({ system: { checks, samples } }: { system: System }): ReactNode {
  const all = (name: string) => samples.filter((sample) => sample.name === name);
  const one = (name: string) => all(name)[0]?.value ?? null;
  const build = all('build_info')[0]?.labels ?? {};
  const show = (value: number | null, format: (value: number) => string) =>
    value === null ? '–' : format(value);
  const started = one('process_start_time_seconds');
  const facts = [
    [t('Free disk space'), show(one('disk_free_bytes'), bytes)],
    [t('Memory of this process'), show(one('process_resident_memory_bytes'), bytes)],
    [t('Running since'), started === null ? '–' : moment(new Date(started * 1_000).toISOString())],
    [t('Versions'), `Reelfeed ${build['version'] ?? '–'}, Node ${build['node'] ?? '–'}`],
  ];
  const problems = Object.entries(checks).filter(([, state]) => state !== 'ok');
  return (
    <Stack>
      {problems.map(([name, problem]) => (
        <Alert key={name} color="red" title={words(name)} role="alert">
          {problem}
        </Alert>
      ))}
      <Group>
        {Object.entries(checks).map(([name, state]) => (
          <Badge key={name} variant="outline" color="gray" tt="none" size="lg">
            {`${name}: ${state}`}
          </Badge>
        ))}
      </Group>
      <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }}>
        {facts.map(([name, value]) => (
          <Paper key={name} withBorder p="md">
            <Text size="sm">{name}</Text>
            <Text fw={700}>{value}</Text>
          </Paper>
        ))}
      </SimpleGrid>
      <Title order={2} size="h4">
        {t('Backups')}
      </Title>
      <Backups all={all} />
      <Title order={2} size="h4">
        {t('Queue')}
      </Title>
      <Queue depth={all('job_queue_depth')} age={all('job_oldest_due_age_seconds')} />
      <Title order={2} size="h4">
        {t('Statistics behind the event log')}
      </Title>
      <Figures
        head={[t('Projection'), t('Behind')]}
        rows={all('projection_lag_seconds').map(({ labels, value }) => [
          labels['projection'] ?? '',
          value === 0 ? 'up to date' : seconds(value),
        ])}
      />
    </Stack>
  );
}

const runs = {
  backup: 'Backup',
  archive: 'Archiving of the log',
  drill: 'Restore drill',
};

/** Last successes and failures of backups, their interval, and the restorable time range. */
function Backups({ all }: { all: (name: string) => readonly Sample[] }): ReactNode {
  const settings = all('backup_setting_seconds');
  if (settings.length === 0) {
    return <Text>{t('Automatic backups are off. Set REELFEED_BACKUP_TO to enable them.')}</Text>;
  }
  const valueOf = (name: string, label: string, is: string) =>
    all(name).find(({ labels }) => labels[label] === is)?.value ?? null;
  const time = (value: number | null) =>
    value === null ? '–' : moment(new Date(value * 1_000).toISOString());
  const setting = (is: string) => {
    const value = valueOf('backup_setting_seconds', 'setting', is);
    return value === null || value === 0 ? 'never' : seconds(value);
  };
  const first = valueOf('backup_recovery_timestamp_seconds', 'end', 'first');
  const last = valueOf('backup_recovery_timestamp_seconds', 'end', 'last');
  return (
    <>
      <Figures
        head={['Run', 'Last success', 'Last failure']}
        rows={Object.entries(runs).map(([kind, name]) => [
          name,
          time(valueOf('backup_last_success_timestamp_seconds', 'kind', kind)),
          time(valueOf('backup_last_failure_timestamp_seconds', 'kind', kind)),
        ])}
      />
      <Text size="sm">
        {t('A backup every {setting}, kept for {setting2}; a drill every {setting3}.', {
          setting: setting('every'),
          setting2: setting('keep'),
          setting3: setting('drill'),
        })}
        {first !== null &&
          last !== null &&
          t(' Any time from {first} to {last} can be restored.', {
            first: time(first),
            last: time(last),
          })}
      </Text>
    </>
  );
}

function Queue({ depth, age }: { depth: readonly Sample[]; age: readonly Sample[] }): ReactNode {
  if (depth.length === 0) return <Text>{t('No job is waiting, running or failed.')}</Text>;
  const rows = depth.map(({ labels, value }) => {
    const { job = '', state = '' } = labels;
    const waited = age.find((each) => each.labels['job'] === job && each.labels['state'] === state);
    const late = waited?.value ?? 0;
    return [job, state, whole(value), late === 0 ? '–' : seconds(late)];
  });
  return <Figures head={['Job', 'State', 'Jobs', 'Oldest overdue by']} rows={rows} />;
}

function Figures({
  head,
  rows,
}: {
  head: readonly string[];
  rows: readonly (readonly string[])[];
}): ReactNode {
  return (
    <Table.ScrollContainer minWidth={360}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            {head.map((name) => (
              <Table.Th key={name}>{name}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={row.join(' ')}>
              {row.map((value, index) => (
                <Table.Td key={head[index]}>{value}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
