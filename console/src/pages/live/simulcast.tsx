/** The servers to which a broadcast is forwarded while it is live. */
import { Badge, Button, Group, PasswordInput, Stack, Table, Text, TextInput } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import { api } from '../../api.ts';
import { Card } from '../../card.tsx';
import { useChange, type Schemas } from '../../data.ts';
import { formText } from '../../form-text.ts';
import { askThen } from '../../questions.tsx';
import { Failed } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

type LiveStream = Schemas['LiveStream'];
type Target = LiveStream['simulcastTargets'][number];

const maxTargets = 5;

export function Simulcast({ of: { id, simulcastTargets, status } }: { of: LiveStream }): ReactNode {
  if (status === 'ended' && simulcastTargets.length === 0) return null;
  return (
    <Card title={t('Simulcast')}>
      <Stack>
        {simulcastTargets.length === 0 ? (
          <Text size="sm">{t('This broadcast is not passed on to any other service.')}</Text>
        ) : (
          <Targets id={id} targets={simulcastTargets} />
        )}
        {status !== 'ended' && simulcastTargets.length < maxTargets && <Add id={id} />}
      </Stack>
    </Card>
  );
}

function Targets({ id, targets }: { id: string; targets: readonly Target[] }): ReactNode {
  return (
    <Table.ScrollContainer minWidth={480}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Name')}</Table.Th>
            <Table.Th>{t('Server')}</Table.Th>
            <Table.Th>{t('State')}</Table.Th>
            <Table.Th />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {targets.map((target) => (
            <Table.Tr key={target.id}>
              <Table.Td>{target.name}</Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                {target.url}
                {target.keyEnd !== '' && ` (…${target.keyEnd})`}
              </Table.Td>
              <Table.Td>
                <TargetState of={target} />
              </Table.Td>
              <Table.Td>
                <Remove id={id} target={target} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function TargetState({ of: { message, status } }: { of: Target }): ReactNode {
  const names = {
    idle: t('idle'),
    connecting: t('connecting'),
    sending: t('sending'),
    failed: t('failed'),
  };
  const colors = { idle: 'gray', connecting: 'blue', sending: 'green', failed: 'red' };
  return (
    <Stack gap={4}>
      <Badge color={`${colors[status]}.9`} variant="filled">
        {names[status]}
      </Badge>
      {message !== null && <Text size="sm">{message}</Text>}
    </Stack>
  );
}

function Remove({ id, target }: { id: string; target: Target }): ReactNode {
  const path = { id, targetId: target.id };
  const remove = useChange(() =>
    api.delete('/v1/live-streams/{id}/simulcast-targets/{targetId}', { path }),
  );
  const question = {
    title: t('Stop passing on to “{name}”?', { name: target.name }),
    text: t('The connection to this server ends, and its key is deleted.'),
    action: t('Stop passing on'),
  };
  return (
    <>
      <Button
        variant="default"
        size="xs"
        loading={remove.isPending}
        onClick={() => askThen(question, () => remove.mutate())}
      >
        {t('Remove…')}
      </Button>
      <Failed error={remove.error} />
    </>
  );
}

function Add({ id }: { id: string }): ReactNode {
  const add = useChange((body: { url: string; streamKey: string; name?: string }) =>
    api.post('/v1/live-streams/{id}/simulcast-targets', { path: { id }, body }),
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const name = formText(form, 'name');
    const body = { url: formText(form, 'url'), streamKey: formText(form, 'streamKey') };
    add.mutate({ ...body, ...(name !== '' && { name }) }, { onSuccess: () => form.reset() });
  };
  return (
    <form onSubmit={submit}>
      <Group gap="sm" align="end">
        <TextInput
          name="url"
          label={t('Server')}
          placeholder="rtmps://live.example.com/app"
          required
          maxLength={2_048}
          w={300}
        />
        <PasswordInput
          name="streamKey"
          label={t('Stream key')}
          required
          maxLength={1_024}
          w={220}
        />
        <TextInput name="name" label={t('Name')} maxLength={100} w={160} />
        <Button type="submit" variant="default" loading={add.isPending}>
          {t('Pass on')}
        </Button>
      </Group>
      <Failed error={add.error} />
    </form>
  );
}
