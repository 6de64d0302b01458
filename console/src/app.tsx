/** The frame of the console: sign-in, navigation, and the view that the address names. */
import {
  ActionIcon,
  Alert,
  AppShell,
  Burger,
  Button,
  Group,
  NavLink,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure, useNetwork } from '@mantine/hooks';
import { ReelfeedError } from '@reelfeed/client/session';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { changeSession } from './api.ts';
import { useRead } from './data.ts';
import { goTo, useLocation } from './location.ts';
import { ShowPart } from './part.tsx';
import { tellOtherTabs, useSession } from './session.ts';
import { SignIn, SignInDialog } from './sign-in.tsx';
import { Failed, Loading } from './states.tsx';
import { findView, navigation } from './views.ts';

export function App(): ReactNode {
  const organization = useRead('/v1/organization', {});
  const { isOver, generation } = useSession();
  const client = useQueryClient();
  const id = organization.data?.data.id;
  const [firstId, setFirstId] = useState(id);
  if (firstId === undefined && id !== undefined) setFirstId(id);
  const isOther = firstId !== undefined && id !== undefined && id !== firstId;
  useEffect(() => {
    if (generation > 0) void client.invalidateQueries();
  }, [client, generation]);
  useEffect(() => {
    // Nothing of the organization before may stay, neither in view nor in memory.
    if (isOther) window.location.reload();
  }, [isOther]);
  if (organization.isPending || isOther) return <Loading />;
  if (organization.data === undefined) {
    const { error, refetch } = organization;
    const isSignedOut = error instanceof ReelfeedError && error.status === 401;
    if (isSignedOut) return <SignIn />;
    return (
      <main>
        <Failed error={error} retry={() => void refetch()} />
      </main>
    );
  }
  return (
    <>
      <Frame name={organization.data.data.name} />
      {isOver && <SignInDialog organizationId={organization.data.data.id} />}
    </>
  );
}

function Frame({ name }: { name: string }): ReactNode {
  const { path } = useLocation();
  const { online } = useNetwork();
  const [isOpen, { toggle, close }] = useDisclosure();
  const main = useRef<HTMLElement>(null);
  const current = useRef(path);
  useEffect(() => {
    // A link of somebody who is signed in already.
    if (path.startsWith('/sign-in/')) goTo('/overview');
    close();
    // A new view begins at its top, also for those who listen to it.
    if (current.current !== path) main.current?.focus();
    current.current = path;
  }, [path, close]);
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 190, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
      transitionDuration={0}
    >
      <AppShell.Header px="md">
        <Group h="100%" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={isOpen}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label="Navigation"
            />
            <Text fw={700}>Reelfeed</Text>
          </Group>
          <Group gap="sm" wrap="nowrap">
            <Text size="sm" truncate maw={140}>
              {name}
            </Text>
            <ColorScheme />
            <SignOut />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Main">
        {navigation.map((view) => (
          <NavLink
            key={view.path}
            href={`#${view.path}`}
            label={view.label}
            active={path === view.path || path.startsWith(`${view.path}/`)}
            variant="filled"
          />
        ))}
      </AppShell.Navbar>
      <AppShell.Main ref={main} tabIndex={-1} style={{ outline: 'none' }}>
        {!online && (
          <Alert color="yellow" mb="md" role="status">
            This computer is offline. What you see may be out of date.
          </Alert>
        )}
        <View key={path} path={path} />
      </AppShell.Main>
    </AppShell>
  );
}

function View({ path }: { path: string }): ReactNode {
  const client = useQueryClient();
  const found = findView(path);
  if (found === null) return <Text>There is no such page.</Text>;
  const { view, id } = found;
  // The page may have failed on the cached data.
  const forget = () =>
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== '/v1/organization' });
  return <ShowPart part={view} props={{ id }} onRetry={forget} />;
}

function ColorScheme(): ReactNode {
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme('light') === 'dark';
  return (
    <ActionIcon
      variant="default"
      aria-label={isDark ? 'Light colours' : 'Dark colours'}
      onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
    >
      <svg viewBox="0 0 20 20" width="16" height="16" aria-hidden="true" fill="currentColor">
        <path d="M10 2a8 8 0 0 0 0 16z" />
        <circle cx="10" cy="10" r="8" fill="none" stroke="currentColor" strokeWidth="2" />
      </svg>
    </ActionIcon>
  );
}

function SignOut(): ReactNode {
  const [hasFailed, setFailed] = useState(false);
  const signOut = async () => {
    try {
      await changeSession('DELETE');
    } catch {
      setFailed(true);
      return;
    }
    tellOtherTabs('ended');
    window.location.reload();
  };
  return (
    <Button
      size="compact-sm"
      variant="default"
      color={hasFailed ? 'red' : 'gray'}
      onClick={() => void signOut()}
    >
      {hasFailed ? 'Sign out: try again' : 'Sign out'}
    </Button>
  );
}
