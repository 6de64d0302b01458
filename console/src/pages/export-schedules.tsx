/** Exports that are made every day. */
import { Button, Group, NumberInput, Stack, Table, Text, Title } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import { api } from '../api.ts';
import { useChange, useRead, type Schemas } from '../data.ts';
import { formText } from '../form-text.ts';
import { Failed, Show } from '../states.tsx';
import { filterText, useExportFields } from './export-fields.tsx';

type Schedule = Schemas['ExportSchedule'];

export function ExportSchedules(): ReactNode {
  const schedules = useRead('/v1/exports/schedules', {});
  const { fields, read } = useExportFields();
  const create = useChange(
    (body: Parameters<typeof api.post<'/v1/exports/schedules'>>[1]['body']) =>
      api.post('/v1/exports/schedules', { body }),
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    create.mutate({ ...read(form), delayHours: Number(formText(form, 'delayHours')) });
  };
  return (
    <Stack>
      <Title order={2}>Every day</Title>
      <Text size="sm">
        Each day becomes an export once it is over. Events arrive up to 24 hours late: after 25
        hours a day is complete.
      </Text>
      <form onSubmit={submit}>
        <Group align="end">
          {fields}
          <NumberInput
            name="delayHours"
            label="Hours after the day"
            w={150}
            min={0}
            max={48}
            defaultValue={25}
          />
          <Button type="submit" loading={create.isPending}>
            Create schedule
          </Button>
        </Group>
      </form>
      <Failed error={create.error} />
      <Show of={schedules}>
        {({ data }) =>
          data.length === 0 ? <Text>No schedule yet.</Text> : <Rows schedules={data} />
        }
      </Show>
    </Stack>
  );
}

function Rows({ schedules }: { schedules: readonly Schedule[] }): ReactNode {
  const stop = useChange((id: string) =>
    api.delete('/v1/exports/schedules/{id}', { path: { id } }),
  );
  return (
    <>
      <Failed error={stop.error} />
      <Table.ScrollContainer minWidth={640}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>What</Table.Th>
              <Table.Th>Filter</Table.Th>
              <Table.Th>Format</Table.Th>
              <Table.Th>Next day</Table.Th>
              <Table.Th>Action</Table.Th>
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
                    aria-label={`Stop the schedule of ${dataset} from ${nextDate}`}
                    onClick={() => stop.mutate(id)}
                  >
                    Stop
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
