/**
 * Sign-in with an account or a one-time link printed by the service, or with a secret key as long
 * as no account exists.
 */
import {
  Anchor,
  Button,
  Code,
  Container,
  Modal,
  Paper,
  PasswordInput,
  Stack,
  Text,
  Title,
} from '@mantine/core';
import { useEffect, useState, type FormEvent, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { api, askAccount, changeSession } from './api.ts';
import { useLocation } from './location.ts';
import { AccountForm, type Door } from './pages/people/account-form.tsx';
import { PasskeyButton } from './pages/people/passkeys.tsx';
import { Refusal, SingleSignOnButton } from './pages/people/single-sign-on.tsx';
import { sessionBegun, tellOtherTabs } from './session.ts';
import { Loading } from './states.tsx';
import { t } from './texts/texts.ts';

/** A link is consumed once per page: React runs effects twice in strict mode. */
let takenLink: string | null = null;

/** The page for signing in. */
export function SignIn(): ReactNode {
  return (
    <Container size={420} py={80} component="main">
      <Paper withBorder p="lg">
        <Stack>
          <Title order={1} size="h3">
            {t('Sign in to Reelfeed')}
          </Title>
          <Ways signedIn={() => Promise.resolve()} />
        </Stack>
      </Paper>
    </Container>
  );
}

/** Shown over the page when the session has ended, so that unsaved input is kept. */
export function SignInDialog({ organizationId }: { organizationId: string }): ReactNode {
  const signedIn = async () => {
    const { data } = await api.get('/v1/organization');
    if (data.id === organizationId) return;
    // Nothing of the previous organization may remain, neither on the page nor in memory.
    window.location.reload();
    await new Promise<never>(() => {});
  };
  return (
    <Modal
      opened
      onClose={() => {}}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      zIndex={1_000}
      title={t('You were signed out. Sign in to continue.')}
    >
      <Ways signedIn={signedIn} />
    </Modal>
  );
}

/** The preferred sign-in method of this service, and the other one. */
function Ways({ signedIn }: { signedIn: () => Promise<void> }): ReactNode {
  const door = useQuery({
    queryKey: ['door'],
    queryFn: () => askAccount<Door>('GET', '/door'),
    retry: false,
  });
  const { query } = useLocation();
  const [other, setOther] = useState(false);
  if (door.isPending) return <Loading />;
  const { hasPeople = false, singleSignOn = null } = door.data ?? {};
  const byAccount = hasPeople !== other;
  const byPassword = singleSignOn?.isOnly !== true;
  return (
    <Stack>
      <Refusal code={query.get('refused')} />
      {singleSignOn !== null && <SingleSignOnButton {...singleSignOn} />}
      {byAccount && door.data?.hasPasskeys === true && <PasskeyButton signedIn={signedIn} />}
      {byAccount && byPassword && (
        <AccountForm signedIn={signedIn} hasMail={door.data?.hasMail ?? false} />
      )}
      {!byAccount && <SignInForm signedIn={signedIn} />}
      {hasPeople && (
        <Anchor component="button" type="button" size="sm" onClick={() => setOther(!other)}>
          {byAccount ? t('Use a secret key') : t('Use an account')}
        </Anchor>
      )}
    </Stack>
  );
}

/** `signedIn` is awaited before continuing. */
function SignInForm({ signedIn }: { signedIn: () => Promise<void> }): ReactNode {
  const [secretKey, setSecretKey] = useState('');
  const [error, setError] = useState<string | null>(null);
  const [isWaiting, setWaiting] = useState(false);
  const { path } = useLocation();
  const link = /^\/sign-in\/([\w-]+)$/.exec(path)?.[1] ?? null;

  const signIn = async (body: { secretKey: string } | { link: string }) => {
    setWaiting(true);
    try {
      await changeSession('POST', body);
      if ('link' in body) window.location.replace('#/overview');
      tellOtherTabs('begun');
      await signedIn();
      sessionBegun();
    } catch (failure) {
      setError((failure as Error).message);
    }
    setWaiting(false);
  };
  useEffect(() => {
    if (link === null || link === takenLink) return;
    takenLink = link;
    void signIn({ link });
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- once for each link
  }, [link]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void signIn({ secretKey: secretKey.trim() });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm" component="div">
          {t('With a secret key, which the first start printed. This makes another one:')}
          <Code block mt={4}>
            npx reelfeed keys create --type secret --name console
          </Code>
        </Text>
        <PasswordInput
          label={t('Secret key')}
          placeholder={t('rf_sk_…')}
          autoComplete="current-password"
          required
          data-autofocus
          value={secretKey}
          error={error}
          onChange={(event) => setSecretKey(event.currentTarget.value)}
        />
        <Button type="submit" loading={isWaiting}>
          {t('Sign in')}
        </Button>
      </Stack>
    </form>
  );
}
