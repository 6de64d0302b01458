/** The user's own account: name, password, second factor, sessions. */
import {
  Alert,
  Button,
  Code,
  Group,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { askAccount } from '../../api.ts';
import { useChange, type Schemas } from '../../data.ts';
import { formPassword, formText } from '../../form-text.ts';
import { Copy, Page } from '../../page.tsx';
import { Empty, Failed, Show } from '../../states.tsx';
import { useOwnAccount, type OwnAccount } from './own-account.ts';
import { Passkeys } from './passkeys.tsx';
import { SessionTable } from './sessions.tsx';
import { t } from '../../texts/texts.ts';

export function AccountPage(): ReactNode {
  const account = useOwnAccount();
  return (
    <Page title={t('Your account')}>
      <Show of={account}>
        {(data) =>
          data === null ? (
            <Empty>{t('You are signed in with a secret key, which has no account.')}</Empty>
          ) : (
            <>
              <Profile account={data} />
              <Password account={data} />
              <SecondFactor account={data} />
              <Passkeys account={data} />
              <OwnSessions />
            </>
          )
        }
      </Show>
    </Page>
  );
}

/** Adds a code if the account has a second factor. */
function codeOf(form: HTMLFormElement): { code?: string } {
  const code = formText(form, 'code');
  return code === '' ? {} : { code };
}

function Profile({ account: { name, email, role } }: { account: OwnAccount }): ReactNode {
  const change = useChange((body: { name: string }) => askAccount('PATCH', '', body));
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    change.mutate({ name: formText(event.currentTarget, 'name') });
  };
  return (
    <form onSubmit={submit}>
      <Stack maw={420}>
        <Text size="sm">{t('{email}, {role} of this organization', { email, role })}</Text>
        <TextInput name="name" label={t('Name')} defaultValue={name} required maxLength={100} />
        <Failed error={change.error} />
        <Button type="submit" variant="default" loading={change.isPending}>
          {t('Save the name')}
        </Button>
      </Stack>
    </form>
  );
}

function Code6({ account }: { account: OwnAccount }): ReactNode {
  if (!account.hasSecondFactor) return null;
  return <TextInput name="code" label={t('Code')} autoComplete="one-time-code" required />;
}

function Password({ account }: { account: OwnAccount }): ReactNode {
  const change = useChange((body: object) => askAccount('POST', '/password', body));
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const [current, password] = [formPassword(form, 'current'), formPassword(form, 'password')];
    change.mutate({ current, password, ...codeOf(form) });
  };
  return (
    <form onSubmit={submit} aria-label={t('Password')}>
      <Stack maw={420}>
        <Title order={2} size="h4">
          {t('Password')}
        </Title>
        <PasswordInput
          name="current"
          label={t('Current password')}
          autoComplete="current-password"
          required
        />
        <PasswordInput
          name="password"
          label={t('New password')}
          description={t('At least 12 characters, such as four random words.')}
          autoComplete="new-password"
          minLength={12}
          required
        />
        <Code6 account={account} />
        <Failed error={change.error} />
        {change.isSuccess && (
          <Alert role="status">
            {t('The password is changed. Your other sessions have ended.')}
          </Alert>
        )}
        <Button type="submit" variant="default" loading={change.isPending}>
          {t('Change the password')}
        </Button>
      </Stack>
    </form>
  );
}

type Begun = { secret: string; url: string };

function SecondFactor({ account }: { account: OwnAccount }): ReactNode {
  const [begun, setBegun] = useState<Begun | null>(null);
  const begin = useChange(async (body: object) =>
    setBegun(await askAccount<Begun>('POST', '/totp', body)),
  );
  const confirm = useChange((code: string) =>
    askAccount<{ recoveryCodes: readonly string[] }>('POST', '/totp/confirm', { code }),
  );
  const remove = useChange((body: object) => askAccount('DELETE', '/totp', body));
  const proven = (run: (body: object) => void) => (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    run({ password: formPassword(form, 'factorPassword'), ...codeOf(form) });
  };
  const codes = confirm.data?.recoveryCodes;
  return (
    <Stack maw={420} role="region" aria-label={t('Second factor')}>
      <Title order={2} size="h4">
        {t('Second factor')}
      </Title>
      <Text size="sm">
        {account.hasSecondFactor
          ? t('Signing in requires a code from your authenticator app.')
          : t(
              'An authenticator app generates a code for each sign-in, so that a password alone is not enough.',
            )}
      </Text>
      {codes !== undefined && (
        <Alert title={t('Recovery codes: shown only once, and each works once')} role="status">
          <Code block>{codes.join('\n')}</Code>
          <Copy text={codes.join('\n')} label={t('Copy')} />
        </Alert>
      )}
      {begun !== null && codes === undefined ? (
        <FirstCode
          begun={begun}
          error={confirm.error}
          isWaiting={confirm.isPending}
          onCode={(code) => confirm.mutate(code)}
        />
      ) : (
        <form
          onSubmit={proven((body) =>
            account.hasSecondFactor ? remove.mutate(body) : begin.mutate(body),
          )}
        >
          <Stack>
            <PasswordInput
              name="factorPassword"
              label={t('Your password')}
              autoComplete="current-password"
              required
            />
            <Code6 account={account} />
            <Failed error={begin.error ?? remove.error} />
            <Button type="submit" variant="default" loading={begin.isPending || remove.isPending}>
              {account.hasSecondFactor ? t('Turn it off') : t('Set it up')}
            </Button>
          </Stack>
        </form>
      )}
    </Stack>
  );
}

function FirstCode({
  begun,
  error,
  isWaiting,
  onCode,
}: {
  begun: Begun;
  error: Error | null;
  isWaiting: boolean;
  onCode: (code: string) => void;
}): ReactNode {
  return (
    <form
      onSubmit={(event: FormEvent<HTMLFormElement>) => {
        event.preventDefault();
        onCode(formText(event.currentTarget, 'firstCode'));
      }}
    >
      <Stack>
        <Text size="sm">{t('Add this secret to your app, then type the code that it shows.')}</Text>
        <Group>
          <Code style={{ overflowWrap: 'anywhere' }}>{begun.secret}</Code>
          <Copy text={begun.secret} label={t('Copy the secret')} />
        </Group>
        <TextInput
          name="firstCode"
          label={t('Code from the app')}
          autoComplete="one-time-code"
          required
        />
        <Failed error={error} />
        <Button type="submit" loading={isWaiting}>
          {t('Turn it on')}
        </Button>
      </Stack>
    </form>
  );
}

function OwnSessions(): ReactNode {
  const sessions = useQuery({
    queryKey: ['/console/account/sessions'],
    queryFn: () => askAccount<readonly Schemas['Session'][]>('GET', '/sessions'),
  });
  const end = useChange((id: string) => askAccount('DELETE', `/sessions/${id}`));
  return (
    <Stack role="region" aria-label={t('Your sessions')}>
      <Title order={2} size="h4">
        {t('Your sessions, in all organizations')}
      </Title>
      <Failed error={end.error} />
      <Show of={sessions}>
        {(data) => <SessionTable sessions={data} onEnd={(id) => end.mutate(id)} />}
      </Show>
    </Stack>
  );
}
