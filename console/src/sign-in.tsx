/** Sign-in: with a secret key, or by a one-time link that the service has printed. */
import {
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
import { api, changeSession } from './api.ts';
import { useLocation } from './location.ts';
import { sessionBegun, tellOtherTabs } from './session.ts';

/** A link is taken once per page: React runs effects twice where it looks for mistakes. */
let takenLink: string | null = null;

/** The page of those who are not signed in yet. */
export function SignIn(): ReactNode {
  return (
    <Container size={420} py={80} component="main">
      <Paper withBorder p="lg">
        <Stack>
          <Title order={1} size="h3">
            Sign in to Reelfeed
          </Title>
          <SignInForm signedIn={() => Promise.resolve()} />
        </Stack>
      </Paper>
    </Container>
  );
}

/** Over the page of those whose session has ended: what they have typed stays there. */
export function SignInDialog({ organizationId }: { organizationId: string }): ReactNode {
  const signedIn = async () => {
    const { data } = await api.get('/v1/organization');
    if (data.id === organizationId) return;
    // Nothing of the organization before may stay, neither in view nor in memory.
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
      title="You were signed out. Sign in to go on."
    >
      <SignInForm signedIn={signedIn} />
    </Modal>
  );
}

/** `signedIn` is awaited before the page goes on. */
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
          With a secret key, which the first start printed. This makes another one:
          <Code block mt={4}>
            npx reelfeed keys create --type secret --name console
          </Code>
        </Text>
        <PasswordInput
          label="Secret key"
          placeholder="rf_sk_…"
          autoComplete="current-password"
          required
          data-autofocus
          value={secretKey}
          error={error}
          onChange={(event) => setSecretKey(event.currentTarget.value)}
        />
        <Button type="submit" loading={isWaiting}>
          Sign in
        </Button>
      </Stack>
    </form>
  );
}
