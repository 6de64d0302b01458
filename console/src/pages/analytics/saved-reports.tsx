/** Saved reports: creating, running, pausing, sharing and deleting them. */
import { Badge, Button, Group, Table, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, useRead, type Answer } from '../../data.ts';
import { moment } from '../../format.ts';
import { Page } from '../../page.tsx';
import { askThen } from '../../questions.tsx';
import { Empty, Failed, Show } from '../../states.tsx';
import { NewReportForm } from './saved-report-form.tsx';
import { ReportLinks, ReportRuns } from './saved-report-sides.tsx';
import { t } from '../../texts/texts.ts';

const path = '/v1/analytics/reports';
type Report = Answer<'get', '/v1/analytics/reports'>['data'][number];

export function SavedReportsPage(): ReactNode {
  const reports = useRead('/v1/analytics/reports', {}, { every: 30_000 });
  return (
    <Page title={t('Saved reports')} curl={{ path }}>
      <Text size="sm">
        {t(
          'A report and its query, saved under a name. On a schedule, it runs once at each due time and is mailed, or sent to webhooks subscribed to analytics.report.',
        )}
      </Text>
      <NewReportForm />
      <Show of={reports}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>{t('No saved reports yet. Save one with the form above.')}</Empty>
          ) : (
            <Reports reports={data} />
          )
        }
      </Show>
    </Page>
  );
}

function Reports({ reports }: { reports: readonly Report[] }): ReactNode {
  return (
    <Table.ScrollContainer minWidth={720}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Name')}</Table.Th>
            <Table.Th>{t('Report')}</Table.Th>
            <Table.Th>{t('Days')}</Table.Th>
            <Table.Th>{t('Next')}</Table.Th>
            <Table.Th>{t('Action')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {reports.map((report) => (
            <Table.Tr key={report.id}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{report.name}</Table.Td>
              <Table.Td>{report.report}</Table.Td>
              <Table.Td>{report.range}</Table.Td>
              <Table.Td>
                {report.isEnabled ? (
                  moment(report.nextAt)
                ) : (
                  <Badge color="gray.7" tt="none">
                    {t('paused')}
                  </Badge>
                )}
              </Table.Td>
              <Table.Td>
                <Actions of={report} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Actions({ of: { id, name, isEnabled } }: { of: Report }): ReactNode {
  const [open, setOpen] = useState<'runs' | 'links' | null>(null);
  const run = useChange(() => api.post('/v1/analytics/reports/{id}/runs', { path: { id } }));
  const turn = useChange(() =>
    api.patch('/v1/analytics/reports/{id}', { path: { id }, body: { isEnabled: !isEnabled } }),
  );
  const remove = useChange(() => api.delete('/v1/analytics/reports/{id}', { path: { id } }));
  const question = {
    title: t('Delete {name}?', { name }),
    text: t('Its runs and links are deleted too.'),
    action: t('Delete'),
  };
  const close = () => setOpen(null);
  const button = (label: string, onClick: () => void, isPending = false) => (
    <Button
      size="compact-sm"
      variant="default"
      aria-label={`${label} ${name}`}
      loading={isPending}
      onClick={onClick}
    >
      {label}
    </Button>
  );
  return (
    <Group gap="xs" wrap="nowrap">
      {button(
        'Run now',
        () => run.mutate(undefined, { onSuccess: () => setOpen('runs') }),
        run.isPending,
      )}
      {button('Runs', () => setOpen('runs'))}
      {button('Links', () => setOpen('links'))}
      {button(isEnabled ? 'Pause' : 'Resume', () => turn.mutate(), turn.isPending)}
      {button('Delete', () => askThen(question, () => remove.mutate()), remove.isPending)}
      {open === 'runs' && <ReportRuns id={id} name={name} close={close} />}
      {open === 'links' && <ReportLinks id={id} name={name} close={close} />}
      <Failed error={run.error ?? turn.error ?? remove.error} />
    </Group>
  );
}
