/**
 * Named views: a page's address with its filters. Stored in this browser for each organization; a
 * link shares one with others.
 */
import { Button, Group, Menu, Modal, Stack, TextInput } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useRead } from './data.ts';
import { useLocation } from './location.ts';
import { Icon } from './shell/icons.tsx';
import { t } from './texts/texts.ts';

type SavedView = { name: string; hash: string };

const maxViews = 50;

function readViews(key: string): readonly SavedView[] {
  try {
    const stored = JSON.parse(window.localStorage.getItem(key) ?? '[]') as unknown;
    return Array.isArray(stored) ? (stored as SavedView[]).filter(isView) : [];
  } catch {
    return [];
  }
}

const isView = (view: unknown): view is SavedView =>
  typeof view === 'object' &&
  view !== null &&
  'name' in view &&
  typeof view.name === 'string' &&
  'hash' in view &&
  typeof view.hash === 'string' &&
  view.hash.startsWith('#/');

export function SavedViews({ of }: { of: string }): ReactNode {
  const organizationId = useRead('/v1/organization', {}).data?.data.id ?? '';
  const key = `reelfeed-views ${organizationId} ${of}`;
  const [views, setViews] = useState(() => readViews(key));
  const [isNaming, setNaming] = useState(false);
  const clipboard = useClipboard();
  // The address is the view, so this must rerender when it changes.
  useLocation();
  const keep = (next: readonly SavedView[]) => {
    setViews(next);
    window.localStorage.setItem(key, JSON.stringify(next));
  };
  const save = (name: string) => {
    const others = views.filter((view) => view.name !== name);
    keep([...others, { name, hash: window.location.hash }].slice(-maxViews));
    setNaming(false);
  };
  return (
    <>
      <Menu position="bottom-end" width={280} withinPortal>
        <Menu.Target>
          <Button
            size="compact-sm"
            h={30}
            variant="default"
            leftSection={<Icon name="save" size={16} />}
          >
            {t('Views')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {views.map(({ name, hash }) => (
            <Group key={name} gap={4} wrap="nowrap" role="none">
              <Menu.Item component="a" href={hash} flex={1} style={{ overflowWrap: 'anywhere' }}>
                {name}
              </Menu.Item>
              <Menu.Item
                w={30}
                px={8}
                aria-label={t('Delete the view {name}', { name })}
                closeMenuOnClick={false}
                onClick={() => keep(views.filter((view) => view.name !== name))}
              >
                ×
              </Menu.Item>
            </Group>
          ))}
          {views.length === 0 && <Menu.Label>{t('No view is saved here yet.')}</Menu.Label>}
          <Menu.Divider />
          <Menu.Item leftSection={<Icon name="add" size={16} />} onClick={() => setNaming(true)}>
            {t('Save this view…')}
          </Menu.Item>
          <Menu.Item
            leftSection={<Icon name="link" size={16} />}
            closeMenuOnClick={false}
            onClick={() => clipboard.copy(window.location.href)}
          >
            {clipboard.copied ? t('Copied') : t('Copy the link to this view')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isNaming && <NameDialog save={save} close={() => setNaming(false)} />}
    </>
  );
}

function NameDialog({
  save,
  close,
}: {
  save: (name: string) => void;
  close: () => void;
}): ReactNode {
  const [name, setName] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== '') save(name.trim());
  };
  return (
    <Modal
      opened
      onClose={close}
      title={t('Save this view')}
      closeButtonProps={{ 'aria-label': t('Close') }}
    >
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            data-autofocus
            label={t('Name')}
            description={t('It is stored in this browser. Copy its link to share it.')}
            required
            maxLength={80}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Group>
            <Button type="submit">{t('Save the view')}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
