/** Color scheme, language, help, and signing out. */
import {
  ActionIcon,
  Button,
  Group,
  Menu,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { changeSession, serviceAddress } from '../api.ts';
import { openShortcuts } from '../palette.tsx';
import { tellOtherTabs } from '../session.ts';
import { chooseLanguage, language, languages, t, type Language } from '../texts/texts.ts';
import { Icon } from './icons.tsx';

export function Account(): ReactNode {
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme('light') === 'dark';
  return (
    <Group gap="xs" wrap="nowrap">
      <Menu position="bottom-end" width={230} withinPortal>
        <Menu.Target>
          <ActionIcon variant="default" size={30} aria-label={t('Help, colours and language')}>
            <Icon name="help" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            component="a"
            href={serviceAddress('/docs/')}
            target="_blank"
            leftSection={<Icon name="audit" size={16} />}
          >
            {t('Guides')}
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="help" size={16} />} onClick={openShortcuts}>
            {t('Shortcuts')}
          </Menu.Item>
          <Menu.Item
            leftSection={<Icon name="colors" size={16} />}
            onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
          >
            {isDark ? t('Light colours') : t('Dark colours')}
          </Menu.Item>
          <Menu.Divider />
          <Menu.Label>{t('Language')}</Menu.Label>
          {(Object.entries(languages) as [Language, string][]).map(([code, name]) => (
            <Menu.Item
              key={code}
              lang={code}
              role="menuitemradio"
              aria-checked={code === language}
              leftSection={<Icon name="language" size={16} />}
              fw={code === language ? 700 : 400}
              onClick={() => chooseLanguage(code)}
            >
              {name}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <SignOut />
    </Group>
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
  const label = hasFailed ? t('Sign out: try again') : t('Sign out');
  return (
    <>
      <Button
        size="compact-sm"
        h={30}
        variant="default"
        visibleFrom="sm"
        color={hasFailed ? 'red' : 'gray'}
        onClick={() => void signOut()}
      >
        {label}
      </Button>
      <ActionIcon
        variant="default"
        size={30}
        hiddenFrom="sm"
        aria-label={label}
        onClick={() => void signOut()}
      >
        <Icon name="leave" />
      </ActionIcon>
    </>
  );
}
