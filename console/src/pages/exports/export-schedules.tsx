/** Daily exports. */
import { Button, Group, NumberInput, Stack, Table, Text, Title } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, useRead, type Schemas } from '../../data.ts';
import { Opener } from '../../drawer.tsx';
import { formText } from '../../form-text.ts';
import { askThen } from '../../questions.tsx';
import { Empty, Failed, Show } from '../../states.tsx';
import { filterText, useExportFields } from './export-fields.tsx';
import { t } from '../../texts/texts.ts';

type Schedule = Schemas['ExportSchedule'];

export function ExportSchedules(): ReactNode {
  const schedules = useRead('/v1/exports/schedules', {});
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {t('Every day')}
        </Title>
        <Opener label={t('New schedule')}>{(close) => <NewSchedule done={close} />}</Opener>
      </Group>
      <Text size="sm">
        {t(
          'Each day is exported once it is over. Events can arrive up to 24 hours late, so a day is complete after 25 hours.',
        )}
      </Text>
      <Show of={schedules}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>{t('No schedules yet. “New schedule” exports each day.')}</Empty>
          ) : (
            <Rows schedules={data} />
          )
        }
      </Show>
    </Stack>
  );
}

function NewSchedule({ done }: { done: () => void }): ReactNode {
  const { fields, read } = useExportFields();
  const create = useChange(
    (body: Parameters<typeof api.post<'/v1/exports/schedules'>>[1]['body']) =>
      api.post('/v1/exports/schedules', { body }),
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    create.mutate(
      { ...read(form), delayHours: Number(formText(form, 'delayHours')) },
      { onSuccess: done },
    );
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        {fields}
        <NumberInput
          name="delayHours"
          label={t('Hours after the day')}
          min={0}
          max={48}
          defaultValue={25}
        />
        <Failed error={create.error} />
        <Group>
          <Button type="submit" loading={create.isPending}>
            {t('Create schedule')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

const stopping = {
  title: t('Stop this schedule?'),
  text: t('Its existing exports are kept. No further days are exported.'),
  action: t('Stop the schedule'),
};

function Rows({ schedules }: { schedules: readonly Schedule[] }): ReactNode {
  const stop = useChange((id: string) =>
    api.delete('/v1/exports/schedules/{id}', { path: { id } }),
  );
  return (
    <>
      <Failed error={stop.error} />
      <Table.ScrollContainer minWidth={720}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('What')}</Table.Th>
              <Table.Th>{t('Filter')}</Table.Th>
              <Table.Th>{t('Format')}</Table.Th>
              <Table.Th>{t('Next day')}</Table.Th>
              <Table.Th>{t('Action')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {schedules.map(({ id, dataset, format, compression, filter, nextDate }) => (
              <Table.Tr key={id}>
                <Table.Td>{dataset}</Table.Td>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{filterText(filter)}</Table.Td>
                <Table.Td>{compression === 'none' ? format : `${format}, ${compression}`}</Table.Td>
                <Table.Td>{nextDate}</Table.Td>
                <Table.Td>
                  <Button
                    size="compact-sm"
                    variant="default"
                    aria-label={t('Stop the schedule of {dataset} from {nextDate}', {
                      dataset,
                      nextDate,
                    })}
                    onClick={() => askThen(stopping, () => stop.mutate(id))}
                  >
                    {t('Stop')}
                  </Button>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </>
  );
}
