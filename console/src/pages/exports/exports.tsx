/** Exports: create, watch and download one, or schedule daily exports and pushes to a bucket. */
import { Anchor, Button, Group, Progress, Stack, Table, TextInput } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, useList, type Schemas } from '../../data.ts';
import { Opener } from '../../drawer.tsx';
import { bytes, moment, percent, whole } from '../../format.ts';
import { formText } from '../../form-text.ts';
import { Page } from '../../page.tsx';
import { askThen } from '../../questions.tsx';
import { Empty, Failed, More, Show } from '../../states.tsx';
import { ExportDestinations } from './export-destinations.tsx';
import { filterText, useExportFields, type ExportChoice } from './export-fields.tsx';
import { ExportSchedules } from './export-schedules.tsx';
import { t } from '../../texts/texts.ts';

type Export = Schemas['Export'];

const daysAgo = (days: number) =>
  new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
const isUnfinished = ({ status }: Export) => status === 'pending' || status === 'processing';

export function ExportsPage(): ReactNode {
  const exports = useList(
    '/v1/exports',
    {},
    { every: (rows) => (rows.some(isUnfinished) ? 1_000 : false) },
  );
  return (
    <Page
      title={t('Exports')}
      about={t(
        'Events, items and results as files, once, every day, or pushed to your own bucket.',
      )}
      curl={{ path: '/v1/exports' }}
      actions={<Opener label={t('New export')}>{(close) => <NewExport done={close} />}</Opener>}
    >
      <Show of={exports}>
        {(data) =>
          data.length === 0 ? (
            <Empty>{t('No exports yet. “New export” creates one.')}</Empty>
          ) : (
            <Exports exports={data} />
          )
        }
      </Show>
      <More of={exports} />
      <ExportSchedules />
      <ExportDestinations />
    </Page>
  );
}

function NewExport({ done }: { done: () => void }): ReactNode {
  const { fields, read } = useExportFields();
  const create = useChange((body: ExportChoice & { startDate: string; endDate: string }) =>
    api.post('/v1/exports', { body }),
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const text = (name: string) => formText(form, name);
    create.mutate(
      { ...read(form), startDate: text('startDate'), endDate: text('endDate') },
      { onSuccess: done },
    );
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          name="startDate"
          type="date"
          label={t('From')}
          required
          defaultValue={daysAgo(7)}
        />
        <TextInput name="endDate" type="date" label={t('To')} required defaultValue={daysAgo(0)} />
        {fields}
        <Failed error={create.error} />
        <Group>
          <Button type="submit" loading={create.isPending}>
            {t('Create export')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Exports({ exports }: { exports: readonly Export[] }): ReactNode {
  const cancel = useChange((id: string) => api.post('/v1/exports/{id}/cancel', { path: { id } }));
  const remove = useChange((id: string) => api.delete('/v1/exports/{id}', { path: { id } }));
  return (
    <>
      <Failed error={cancel.error ?? remove.error} />
      <Table.ScrollContainer minWidth={900}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('What')}</Table.Th>
              <Table.Th>{t('Days')}</Table.Th>
              <Table.Th>{t('Filter')}</Table.Th>
              <Table.Th>{t('Format')}</Table.Th>
              <Table.Th>{t('Status')}</Table.Th>
              <Table.Th>{t('Rows')}</Table.Th>
              <Table.Th>{t('File')}</Table.Th>
              <Table.Th>{t('Created')}</Table.Th>
              <Table.Th>{t('Action')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {exports.map((each) => (
              <Table.Tr key={each.id}>
                <Table.Td>{each.dataset}</Table.Td>
                <Table.Td>
                  {t('{startDate} to {endDate}', {
                    startDate: each.startDate,
                    endDate: each.endDate,
                  })}
                </Table.Td>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{filterText(each.filter)}</Table.Td>
                <Table.Td>
                  {each.format + (each.compression === 'none' ? '' : `, ${each.compression}`)}
                </Table.Td>
                <Table.Td>
                  <Status of={each} />
                </Table.Td>
                <Table.Td>{each.rowCount === null ? '–' : whole(each.rowCount)}</Table.Td>
                <Table.Td>
                  {each.downloadUrl === null ? (
                    '–'
                  ) : (
                    <Anchor href={each.downloadUrl} underline="always" download>
                      {t('Download {bytes}', { bytes: bytes(each.fileSize ?? 0) })}
                    </Anchor>
                  )}
                </Table.Td>
                <Table.Td>{moment(each.createdAt)}</Table.Td>
                <Table.Td>
                  <End
                    of={each}
                    onCancel={(id) => cancel.mutate(id)}
                    onDelete={(id) => remove.mutate(id)}
                  />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </>
  );
}

function Status({ of: { status, error, progress, dataset } }: { of: Export }): ReactNode {
  if (error !== null) return `failed: ${error}`;
  if (status !== 'processing') return status;
  return (
    <>
      {percent(progress, 0)}
      <Progress
        value={progress * 100}
        aria-label={t('Progress of the export of {dataset}', { dataset })}
      />
    </>
  );
}

function End({
  of: each,
  onCancel,
  onDelete,
}: {
  of: Export;
  onCancel: (id: string) => void;
  onDelete: (id: string) => void;
}): ReactNode {
  const label = isUnfinished(each) ? 'Cancel' : 'Delete';
  const act = isUnfinished(each) ? onCancel : onDelete;
  return (
    <Button
      size="compact-sm"
      variant="default"
      aria-label={t('{label} the export of {dataset} of {createdAt}', {
        label,
        dataset: each.dataset,
        createdAt: moment(each.createdAt),
      })}
      onClick={() =>
        askThen(
          {
            title: t('{label} this export?', { label }),
            text: isUnfinished(each)
              ? t('Everything written so far is removed.')
              : t('Its file is removed, and links to it stop working.'),
            action: t('{label} the export', { label }),
          },
          () => act(each.id),
        )
      }
    >
      {label}
    </Button>
  );
}
