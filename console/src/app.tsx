/** The frame of the console: sign-in, navigation, and the view that the address names. */
import {
  Anchor,
  AppShell,
  Button,
  Container,
  Group,
  NavLink,
  Paper,
  PasswordInput,
  Stack,
  Text,
  Title,
} from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { ApiFailure, get, request } from './api.ts';
import { useLocation } from './location.ts';
import { ItemPage } from './pages/item.tsx';
import { KeysPage } from './pages/keys.tsx';
import { LibraryPage } from './pages/library.tsx';
import { OverviewPage } from './pages/overview.tsx';
import { WebhookPage } from './pages/webhook.tsx';
import { WebhooksPage } from './pages/webhooks.tsx';
import { Failed, Loading } from './states.tsx';

type Organization = { name: string };

export function App(): ReactNode {
  const organization = useQuery({
    queryKey: ['organization'],
    queryFn: () => get<{ data: Organization }>('v1/organization'),
  });
  if (organization.isPending) return <Loading />;
  if (organization.isError) {
    const { error, refetch } = organization;
    const isSignedOut = error instanceof ApiFailure && error.status === 401;
    return isSignedOut ? <SignIn /> : <Failed error={error} retry={() => void refetch()} />;
  }
  return <Frame name={organization.data.data.name} />;
}

const views = [
  { path: '/overview', label: 'Overview' },
  { path: '/content', label: 'Content' },
  { path: '/webhooks', label: 'Webhooks' },
  { path: '/keys', label: 'Keys' },
];

function Frame({ name }: { name: string }): ReactNode {
  const { path } = useLocation();
  const client = useQueryClient();
  const signOut = async () => {
    await request('DELETE', 'console/session');
    client.clear();
    window.location.reload();
  };
  return (
    <AppShell header={{ height: 52 }} navbar={{ width: 180, breakpoint: 'xs' }} padding="md">
      <AppShell.Header px="md">
        <Group h="100%" justify="space-between" wrap="nowrap">
          <Text fw={700}>Reelfeed</Text>
          <Group gap="sm" wrap="nowrap">
            <Text size="sm">{name}</Text>
            <Button size="compact-sm" variant="default" onClick={() => void signOut()}>
              Sign out
            </Button>
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar visibleFrom="xs" p="xs" aria-label="Main">
        {views.map((view) => (
          <NavLink
            key={view.path}
            href={`#${view.path}`}
            label={view.label}
            active={path.startsWith(view.path)}
          />
        ))}
      </AppShell.Navbar>
      <AppShell.Main>
        <Group hiddenFrom="xs" mb="md" component="nav" aria-label="Main">
          {views.map((view) => (
            <Anchor key={view.path} href={`#${view.path}`} underline="always">
              {view.label}
            </Anchor>
          ))}
        </Group>
        <View path={path} />
      </AppShell.Main>
    </AppShell>
  );
}

function View({ path }: { path: string }): ReactNode {
  const [, view = '', id] = path.split('/');
  if (view === 'overview') return <OverviewPage />;
  if (view === 'content') return id === undefined ? <LibraryPage /> : <ItemPage id={id} />;
  if (view === 'webhooks') return id === undefined ? <WebhooksPage /> : <WebhookPage id={id} />;
  if (view === 'keys') return <KeysPage />;
  return <Text>There is no such page.</Text>;
}

function SignIn(): ReactNode {
  const [secretKey, setSecretKey] = useState('');
  const [error, setError] = useState<string | null>(null);
  const client = useQueryClient();
  const signIn = async (event: FormEvent) => {
    event.preventDefault();
    try {
      await request('POST', 'console/session', { secretKey: secretKey.trim() });
      await client.invalidateQueries();
    } catch (failure) {
      setError((failure as Error).message);
    }
  };
  return (
    <Container size={420} py={80} component="main">
      <Paper withBorder p="lg">
        <form onSubmit={(event) => void signIn(event)}>
          <Stack>
            <Title order={1} size="h3">
              Sign in to Reelfeed
            </Title>
            <Text size="sm">
              With a secret key, which the first start printed. `npx reelfeed keys create --type
              secret --name console` makes another one.
            </Text>
            <PasswordInput
              label="Secret key"
              placeholder="rf_sk_…"
              autoComplete="current-password"
              required
              value={secretKey}
              error={error}
              onChange={(event) => setSecretKey(event.currentTarget.value)}
            />
            <Button type="submit">Sign in</Button>
          </Stack>
        </form>
      </Paper>
    </Container>
  );
}
