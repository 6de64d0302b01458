/** Pages opened through a link: accepting an invitation, and setting a new password. */
import {
  Alert,
  Anchor,
  Button,
  Container,
  Paper,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { ReelfeedError } from '@reelfeed/client/session';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { askAccount } from '../../api.ts';
import { formPassword, formText } from '../../form-text.ts';
import { tellOtherTabs } from '../../session.ts';
import { Failed, Loading } from '../../states.tsx';
import { t } from '../../texts/texts.ts';
import type { Door as DoorOfService } from './account-form.tsx';
import { SingleSignOnButton } from './single-sign-on.tsx';

/** The page of a link, or null for any other address. */
export function findLink(path: string): ReactNode {
  const invitation = /^\/invitation\/([\w-]+)$/.exec(path)?.[1];
  if (invitation !== undefined) return <Invitation token={invitation} />;
  const reset = /^\/new-password\/([\w-]+)$/.exec(path)?.[1];
  if (reset !== undefined) return <NewPassword token={reset} />;
  return path === '/new-password' ? <AskForPassword /> : null;
}

/** Reloads, because nothing of the previously signed-in person may remain. */
function enter(): void {
  tellOtherTabs('begun');
  window.location.replace('#/overview');
  window.location.reload();
}

function Door({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <Container size={420} py={80} component="main">
      <Paper withBorder p="lg">
        <Stack>
          <Title order={1} size="h3">
            {title}
          </Title>
          {children}
        </Stack>
      </Paper>
    </Container>
  );
}

type Invited = { organization: string; email: string; role: string; hasAccount: boolean };

function Invitation({ token }: { token: string }): ReactNode {
  const invited = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => askAccount<Invited>('POST', '/invitation', { token }),
    retry: false,
    refetchOnWindowFocus: false,
  });
  if (invited.isPending) return <Loading />;
  if (invited.data === undefined) {
    return (
      <Door title={t('This invitation does not work')}>
        <Failed error={invited.error} />
        <Anchor href="#/overview">{t('Go to the console')}</Anchor>
      </Door>
    );
  }
  return <Accept token={token} {...invited.data} />;
}

function Accept({ token, organization, email, role, hasAccount }: Invited & { token: string }) {
  const [needsCode, setNeedsCode] = useState(false);
  const accept = useMutation({
    mutationFn: (body: object) => askAccount('POST', '/accept', body),
    onSuccess: enter,
    onError: (error) => {
      if (error instanceof ReelfeedError && error.code === 'SECOND_FACTOR_REQUIRED') {
        setNeedsCode(true);
      }
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const code = formText(form, 'code');
    accept.mutate({
      token,
      password: formPassword(form),
      ...(!hasAccount && { name: formText(form, 'name') }),
      ...(code !== '' && { code }),
    });
  };
  return (
    <Door title={t('Join {organization}', { organization })}>
      <Text size="sm">
        {t('You are invited as')} {email}
        {t(', with the role')} {role}.{hasAccount && t(' Sign in to your existing account.')}
      </Text>
      {!hasAccount && <SingleSignOnWay />}
      <form onSubmit={submit}>
        <Stack>
          <input type="hidden" name="email" value={email} autoComplete="username" />
          {!hasAccount && (
            <TextInput
              name="name"
              label={t('Your name')}
              autoComplete="name"
              required
              maxLength={100}
            />
          )}
          <PasswordInput
            name="password"
            label={t('Password')}
            {...(!hasAccount && {
              description: t('At least 12 characters, such as four random words.'),
            })}
            autoComplete={hasAccount ? 'current-password' : 'new-password'}
            minLength={hasAccount ? 1 : 12}
            required
          />
          {needsCode && (
            <TextInput
              name="code"
              label={t('Code')}
              autoComplete="one-time-code"
              required
              autoFocus
            />
          )}
          <Failed error={accept.error} />
          <Button type="submit" loading={accept.isPending}>
            {t('Join')}
          </Button>
        </Stack>
      </form>
    </Door>
  );
}

/** The first sign-in through the provider also accepts the invitation. */
function SingleSignOnWay(): ReactNode {
  const door = useQuery({
    queryKey: ['door'],
    queryFn: () => askAccount<DoorOfService>('GET', '/door'),
    retry: false,
  });
  const singleSignOn = door.data?.singleSignOn ?? null;
  return singleSignOn === null ? null : <SingleSignOnButton {...singleSignOn} />;
}

function NewPassword({ token }: { token: string }): ReactNode {
  const change = useMutation({
    mutationFn: (password: string) => askAccount('POST', '/reset', { token, password }),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    change.mutate(formPassword(event.currentTarget));
  };
  if (change.isSuccess) {
    return (
      <Door title={t('Your password is changed')}>
        <Text size="sm">{t('All your sessions have ended.')}</Text>
        <Anchor href="#/overview">{t('Sign in')}</Anchor>
      </Door>
    );
  }
  return (
    <Door title={t('Choose a new password')}>
      <form onSubmit={submit}>
        <Stack>
          <PasswordInput
            name="password"
            label={t('New password')}
            description={t('At least 12 characters, such as four random words.')}
            autoComplete="new-password"
            minLength={12}
            required
          />
          <Failed error={change.error} />
          <Button type="submit" loading={change.isPending}>
            {t('Change the password')}
          </Button>
        </Stack>
      </form>
    </Door>
  );
}

function AskForPassword(): ReactNode {
  const request = useMutation({
    mutationFn: (email: string) => askAccount('POST', '/reset-request', { email }),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    request.mutate(formText(event.currentTarget, 'email'));
  };
  return (
    <Door title={t('Request a new password')}>
      {request.isSuccess ? (
        <Alert role="status">
          {t(
            'If this address has an account, a mail with a link is on its way. The link works for an hour.',
          )}
        </Alert>
      ) : (
        <form onSubmit={submit}>
          <Stack>
            <TextInput
              name="email"
              type="email"
              label={t('Email')}
              autoComplete="username"
              required
            />
            <Failed error={request.error} />
            <Button type="submit" loading={request.isPending}>
              {t('Send the link')}
            </Button>
          </Stack>
        </form>
      )}
      <Anchor href="#/overview">{t('Back to sign-in')}</Anchor>
    </Door>
  );
}
