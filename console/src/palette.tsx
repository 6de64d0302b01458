/** The command palette (Ctrl-K) for pages, actions and items, and the list of shortcuts (`?`). */
import { ActionIcon, Button, Kbd, Modal, Stack, Table, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useEffect, useId, useState, type KeyboardEvent, type ReactNode } from 'react';
import { useRead } from './data.ts';
import { goTo } from './location.ts';
import './palette.css';
import { Icon } from './shell/icons.tsx';
import { t } from './texts/texts.ts';
import { navigation } from './views.ts';

type Entry = { label: string; hint: string; path: string };

const actions: readonly Entry[] = [
  { label: t('Upload videos'), hint: t('Action'), path: '/content' },
  { label: t('Import from addresses'), hint: t('Action'), path: '/content/import' },
  { label: t('New bulk job'), hint: t('Action'), path: '/content/jobs?make=job' },
  { label: t('New experiment'), hint: t('Action'), path: '/experiments/new' },
  { label: t('Change the weights of the feed'), hint: t('Action'), path: '/feed?tab=weights' },
  { label: t('Editorial rules'), hint: t('Action'), path: '/feed?tab=rules' },
  { label: t('Archived items'), hint: t('Action'), path: '/content?archived=only' },
  { label: t('Failed items'), hint: t('Action'), path: '/content?uploadStatus=error' },
];

/** After `g`, each of these letters opens a page. */
const places = new Map(
  navigation.flatMap(({ path, shortcut }) =>
    shortcut === undefined ? [] : [[shortcut.letter, { path, does: shortcut.does }] as const],
  ),
);

const shortcuts = [
  { keys: ['Ctrl', 'K'], does: t('Find pages, actions and items') },
  { keys: ['/'], does: t('Find pages, actions and items') },
  { keys: ['?'], does: t('Show the shortcuts') },
  ...Array.from(places, ([letter, { does }]) => ({ keys: ['g', letter], does })),
];

const openEvent = 'reelfeed:palette';
const shortcutsEvent = 'reelfeed:shortcuts';

export const openShortcuts = (): void => {
  window.dispatchEvent(new Event(shortcutsEvent));
};

export function PaletteButton(): ReactNode {
  const open = () => window.dispatchEvent(new Event(openEvent));
  return (
    <>
      <Button
        size="compact-sm"
        h={30}
        variant="default"
        visibleFrom="sm"
        aria-keyshortcuts="Control+K"
        leftSection={<Icon name="search" size={16} />}
        rightSection={<Kbd size="xs">Ctrl K</Kbd>}
        onClick={open}
      >
        {t('Find…')}
      </Button>
      <ActionIcon variant="default" size={30} hiddenFrom="sm" aria-label={t('Find')} onClick={open}>
        <Icon name="search" />
      </ActionIcon>
    </>
  );
}

export function Palette(): ReactNode {
  const [shown, setShown] = useState<'find' | 'shortcuts' | null>(null);
  useEffect(() => {
    let isAfterG = false;
    const press = (event: globalThis.KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        setShown('find');
        return;
      }
      const wasAfterG = isAfterG;
      isAfterG = false;
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const place = wasAfterG ? places.get(event.key)?.path : undefined;
      if (place !== undefined) goTo(place);
      else if (event.key === 'g') isAfterG = true;
      else if (event.key === '?') setShown('shortcuts');
      else if (event.key === '/') setShown('find');
      else return;
      event.preventDefault();
    };
    const open = () => setShown('find');
    const list = () => setShown('shortcuts');
    window.addEventListener('keydown', press);
    window.addEventListener(openEvent, open);
    window.addEventListener(shortcutsEvent, list);
    return () => {
      window.removeEventListener('keydown', press);
      window.removeEventListener(openEvent, open);
      window.removeEventListener(shortcutsEvent, list);
    };
  }, []);
  const close = () => setShown(null);
  return (
    <Modal
      opened={shown !== null}
      onClose={close}
      title={shown === 'shortcuts' ? t('Shortcuts') : t('Find')}
      closeButtonProps={{ 'aria-label': t('Close') }}
    >
      {shown === 'find' && <Find close={close} />}
      {shown === 'shortcuts' && <Shortcuts />}
    </Modal>
  );
}

/** Shortcuts are ignored while the user types or a dialog is open. */
function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest('input, textarea, select, [contenteditable], [role="dialog"], video') !== null
  );
}

function Shortcuts(): ReactNode {
  return (
    <Table>
      <Table.Tbody>
        {shortcuts.map(({ keys, does }) => (
          <Table.Tr key={keys.join(' ')}>
            <Table.Td>
              {keys.map((key) => (
                <Kbd key={key} mr={4}>
                  {key}
                </Kbd>
              ))}
            </Table.Td>
            <Table.Td>{does}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function Find({ close }: { close: () => void }): ReactNode {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const entries = useEntries(text);
  const id = useId();
  const chosen = entries[Math.min(at, entries.length - 1)];
  const open = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    close();
    goTo(entry.path);
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && entries.length > 0) {
      event.preventDefault();
      setAt((Math.min(at, entries.length - 1) + step + entries.length) % entries.length);
    }
    if (event.key === 'Enter') open(chosen);
  };
  return (
    <Stack gap="xs">
      <TextInput
        data-autofocus
        role="combobox"
        aria-label={t('Find')}
        placeholder={t('A page, an action, or the title of an item')}
        aria-expanded
        aria-controls={id}
        aria-activedescendant={chosen === undefined ? undefined : `${id}-${chosen.path}`}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <div role="listbox" id={id} aria-label={t('Found')}>
        {entries.map((entry) => (
          <div
            key={entry.path}
            id={`${id}-${entry.path}`}
            role="option"
            tabIndex={-1}
            aria-selected={entry === chosen}
            className="palette-entry"
            onClick={() => open(entry)}
            onKeyDown={press}
          >
            <Text size="sm" truncate>
              {entry.label}
            </Text>
            <Text size="xs">{entry.hint}</Text>
          </div>
        ))}
      </div>
      {entries.length === 0 && (
        <Text size="sm" role="status">
          {t('Nothing has this name.')}
        </Text>
      )}
    </Stack>
  );
}

const maxEntries = 12;

function useEntries(text: string): readonly Entry[] {
  const [settled] = useDebouncedValue(text.trim(), 200);
  const isSearch = settled.length > 1;
  const items = useRead(
    '/v1/content',
    { query: { limit: 6, ...(isSearch && { search: settled.slice(0, 200) }) } },
    { enabled: isSearch },
  );
  const known = [
    ...navigation.map(({ path, label }) => ({ path, label, hint: t('Page') })),
    ...actions,
  ];
  const words = text.toLowerCase().split(/\s+/);
  const matching = known.filter(({ label }) =>
    words.every((word) => label.toLowerCase().includes(word)),
  );
  const found = (isSearch ? (items.data?.data ?? []) : []).map(({ id, title }) => ({
    path: `/content/${id}`,
    label: title,
    hint: t('Item'),
  }));
  return [...matching, ...found].slice(0, maxEntries);
}
