/** The organization's people with their roles, invitations and sessions. */
import {
  Alert,
  Button,
  Code,
  Group,
  NativeSelect,
  Stack,
  Table,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, useList, type Schemas } from '../../data.ts';
import { formText } from '../../form-text.ts';
import { moment } from '../../format.ts';
import { Copy, Page } from '../../page.tsx';
import { askThen } from '../../questions.tsx';
import { Empty, Failed, More, Show } from '../../states.tsx';
import { Sessions } from './sessions.tsx';
import { t } from '../../texts/texts.ts';

type Person = Schemas['Person'];
type Role = Person['role'];

const roles: readonly Role[] = ['viewer', 'analyst', 'editor', 'admin', 'owner'];

export function PeoplePage(): ReactNode {
  return (
    <Page title={t('People')} curl={{ path: '/v1/people' }}>
      <Members />
      <Invitations />
      <Sessions />
    </Page>
  );
}

function Members(): ReactNode {
  const people = useList('/v1/people', {});
  const change = useChange(({ id, role }: { id: string; role: Role }) =>
    api.patch('/v1/people/{id}', { path: { id }, body: { role } }),
  );
  const remove = useChange((id: string) => api.delete('/v1/people/{id}', { path: { id } }));
  return (
    <Stack role="region" aria-label={t('Members')}>
      <Failed error={change.error ?? remove.error} />
      <Show of={people}>
        {(data) =>
          data.length === 0 ? (
            <Empty>
              {t('Nobody has an account yet. Invite yourself as an owner, and open the link.')}
            </Empty>
          ) : (
            <Table.ScrollContainer minWidth={640}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>{t('Name')}</Table.Th>
                    <Table.Th>{t('Email')}</Table.Th>
                    <Table.Th>{t('Role')}</Table.Th>
                    <Table.Th>{t('Second factor')}</Table.Th>
                    <Table.Th>{t('Signed in')}</Table.Th>
                    <Table.Th>{t('Action')}</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {data.map((person) => (
                    <Member
                      key={person.id}
                      person={person}
                      onRole={(role) => change.mutate({ id: person.id, role })}
                      onRemove={() => remove.mutate(person.id)}
                    />
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          )
        }
      </Show>
      <More of={people} />
    </Stack>
  );
}

function Member({
  person: { name, email, role, hasSecondFactor, signedInAt },
  onRole,
  onRemove,
}: {
  person: Person;
  onRole: (role: Role) => void;
  onRemove: () => void;
}): ReactNode {
  const removing = {
    title: t('Remove {name}?', { name }),
    text: t('The sessions of this person in this organization end immediately.'),
    action: t('Remove the person'),
  };
  return (
    <Table.Tr>
      <Table.Td>{name}</Table.Td>
      <Table.Td>{email}</Table.Td>
      <Table.Td>
        <NativeSelect
          aria-label={t('Role of {name}', { name })}
          value={role}
          data={[...roles]}
          onChange={(event) => onRole(event.currentTarget.value as Role)}
        />
      </Table.Td>
      <Table.Td>{hasSecondFactor ? 'yes' : 'no'}</Table.Td>
      <Table.Td>{signedInAt === null ? 'never' : moment(signedInAt)}</Table.Td>
      <Table.Td>
        <Button
          size="compact-sm"
          variant="default"
          aria-label={t('Remove {name}', { name })}
          onClick={() => askThen(removing, onRemove)}
        >
          {t('Remove')}
        </Button>
      </Table.Td>
    </Table.Tr>
  );
}

function Invitations(): ReactNode {
  const invitations = useList('/v1/people/invitations', {});
  const create = useChange((body: { email: string; role: Role }) =>
    api.post('/v1/people/invitations', { body }),
  );
  const withdraw = useChange((id: string) =>
    api.delete('/v1/people/invitations/{id}', { path: { id } }),
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    create.mutate({ email: formText(form, 'email'), role: formText(form, 'role') as Role });
  };
  const made = create.data?.data;
  return (
    <Stack role="region" aria-label={t('Invitations')}>
      <Title order={2} size="h4">
        {t('Invitations')}
      </Title>
      <form onSubmit={submit}>
        <Group align="end">
          <TextInput name="email" type="email" label={t('Email')} required maxLength={254} />
          <NativeSelect name="role" label={t('Role')} defaultValue="editor" data={[...roles]} />
          <Button type="submit" variant="default" loading={create.isPending}>
            {t('Invite')}
          </Button>
        </Group>
      </form>
      <Failed error={create.error ?? withdraw.error} />
      {made !== undefined && (
        <Alert title={t('The link is shown only once, and works once within a week')} role="status">
          <Group>
            <Code style={{ overflowWrap: 'anywhere' }}>{made.url}</Code>
            <Copy text={made.url} label={t('Copy')} />
          </Group>
        </Alert>
      )}
      <Show of={invitations}>
        {(data) =>
          data.map(({ id, email, role, expiresAt }) => (
            <Group key={id}>
              <Text size="sm">
                {t('{email}, {role}, until {expiresAt}', {
                  email,
                  role,
                  expiresAt: moment(expiresAt),
                })}
              </Text>
              <Button
                size="compact-sm"
                variant="default"
                aria-label={t('Withdraw the invitation of {email}', { email })}
                onClick={() => withdraw.mutate(id)}
              >
                {t('Withdraw')}
              </Button>
            </Group>
          ))
        }
      </Show>
      <More of={invitations} />
    </Stack>
  );
}
