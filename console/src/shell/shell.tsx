/** The frame around each view: skip link, navigation, search, and the user menu. */
import { Alert, AppShell, Burger, Group, Text } from '@mantine/core';
import { useDisclosure, useNetwork } from '@mantine/hooks';
import { useEffect, useRef, type ReactNode, type RefObject } from 'react';
import { goTo, lastAddress, useLocation } from '../location.ts';
import { Who } from '../pages/people/who.tsx';
import { Palette, PaletteButton } from '../palette.tsx';
import { Questions } from '../questions.tsx';
import { t } from '../texts/texts.ts';
import { UploadTray } from '../upload-tray.tsx';
import { groups } from '../views.ts';
import { Icon } from './icons.tsx';
import logo from './logo.svg';
import { Account } from './account.tsx';
import { UpdateNotice } from './update-notice.tsx';
import './shell.css';

export function Frame({ name, children }: { name: string; children: ReactNode }): ReactNode {
  const { path } = useLocation();
  const { online } = useNetwork();
  const [isOpen, { toggle, close }] = useDisclosure();
  const main = useRef<HTMLElement>(null);
  const current = useRef(path);
  useEffect(() => {
    // A sign-in link used by someone who is already signed in.
    if (path.startsWith('/sign-in/')) goTo('/overview');
    close();
    // A new view starts at its top, also for screen readers.
    if (current.current !== path) main.current?.focus();
    current.current = path;
  }, [path, close]);
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 216, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding={{ base: 'sm', sm: 'lg' }}
      transitionDuration={0}
    >
      <SkipLink to={main} />
      <AppShell.Header px="md" className="shell-bar">
        <Group h="100%" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <Burger
              opened={isOpen}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={t('Navigation')}
            />
            <img src={logo} width="28" height="28" alt="" />
            <Text fw={700} visibleFrom="xs">
              {'Reelfeed'}
            </Text>
            <Who organization={name} />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <UploadTray />
            <PaletteButton />
            <Account />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label={t('Main')} className="shell-side">
        <Navigation path={path} />
        <UpdateNotice />
      </AppShell.Navbar>
      <AppShell.Main ref={main} id="main" tabIndex={-1} className="shell-main">
        {!online && (
          <Alert color="yellow" mb="md" role="status">
            {t('This computer is offline. What you see may be out of date.')}
          </Alert>
        )}
        {children}
      </AppShell.Main>
      <Questions />
      <Palette />
    </AppShell>
  );
}

/** The fragment holds the view's address, so the link moves the focus itself. */
function SkipLink({ to }: { to: RefObject<HTMLElement | null> }): ReactNode {
  return (
    <a
      href="#main"
      className="skip-link"
      onClick={(event) => {
        event.preventDefault();
        to.current?.focus();
      }}
    >
      {t('Skip to the content')}
    </a>
  );
}

function Navigation({ path }: { path: string }): ReactNode {
  return groups.map(({ label, views }) => (
    <div key={label} role="group" aria-label={label}>
      <div className="shell-group" aria-hidden="true">
        {label}
      </div>
      {views.map((view) => {
        const isCurrent =
          path === view.path ||
          (path.startsWith(`${view.path}/`) &&
            !views.some(
              (other) =>
                other !== view &&
                path.startsWith(other.path) &&
                other.path.length > view.path.length,
            ));
        return (
          <a
            key={view.path}
            className="shell-link mantine-focus-auto"
            href={isCurrent ? `#${view.path}` : lastAddress(view.path)}
            aria-current={isCurrent ? 'page' : undefined}
          >
            <Icon name={view.icon} />
            {view.label}
          </a>
        );
      })}
    </div>
  ));
}
