/** All items, with search, filters in the address, selection, and upload by dropping files. */
import {
  Anchor,
  Button,
  Code,
  Collapse,
  Group,
  SegmentedControl,
  Select,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useDebouncedValue, useDisclosure } from '@mantine/hooks';
import type { CallOptions } from '@reelfeed/client/session';
import { useInfiniteQuery } from '@tanstack/react-query';
import { memo, useMemo, useState, type ReactNode } from 'react';
import { api } from '../../api.ts';
import type { Item } from '../../data.ts';
import { words } from '../../format.ts';
import { useParameters } from '../../location.ts';
import { Page } from '../../page.tsx';
import { SavedViews } from '../../saved-views.tsx';
import { Empty, Show } from '../../states.tsx';
import { BulkBar } from './bulk-bar.tsx';
import { countOf } from './bulk-operations.ts';
import { contentTypes } from './content-types.ts';
import { ItemList } from './item-list.tsx';
import { NewCarousel } from './new-carousel.tsx';
import { usePlays } from './plays.ts';
import { useSelection } from './selection.ts';
import { Uploads } from './uploads.tsx';
import { known, t } from '../../texts/texts.ts';

type Query = NonNullable<CallOptions<'get', '/v1/content'>['query']>;
type Change = (changes: Readonly<Record<string, string | null>>) => void;
type Values = Readonly<Record<string, string>>;

const choices = {
  uploadStatus: ['pending', 'processing', 'ready', 'error'],
  publishStatus: ['published', 'unpublished'],
  visibility: ['public', 'unlisted', 'private'],
};
const moreChoices = {
  contentType: contentTypes,
  archived: ['true', 'only'],
};
/** Set through the column headers. */
const sorting = ['sort', 'order'];
const texts = ['tags', 'section', 'author', 'externalId'];

const isMoving = ({ uploadStatus }: Item) =>
  uploadStatus === 'processing' || uploadStatus === 'pending';

export function LibraryPage(): ReactNode {
  const [{ view = 'table', ...values }, change] = useParameters();
  const [settled] = useDebouncedValue(values, 250);
  const query = useMemo(() => queryOf(settled), [settled]);
  return (
    <Page
      title={t('Content')}
      curl={{ path: '/v1/content', query }}
      actions={
        <>
          <SavedViews of="content" />
          <NewCarousel />
          <Button component="a" href="#/content/import" variant="default" size="compact-sm">
            {t('Import')}
          </Button>
          <Button component="a" href="#/content/jobs" variant="default" size="compact-sm">
            {t('Bulk jobs')}
          </Button>
        </>
      }
    >
      <Uploads />
      <Filters values={values} view={view} change={change} />
      <Items query={query} view={view === 'grid' ? 'grid' : 'table'} />
    </Page>
  );
}

/** The list, separate from the form above it, which a new page must not rerender. */
const Items = memo(function Items({
  query,
  view,
}: {
  query: Query;
  view: 'table' | 'grid';
}): ReactNode {
  const pages = useInfiniteQuery({
    queryKey: ['/v1/content', query],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      api.get('/v1/content', {
        query: { limit: 100, ...query, ...(pageParam !== '' && { cursor: pageParam }) },
        signal,
      }),
    getNextPageParam: ({ meta }) => meta.nextCursor ?? undefined,
    // Comparing thousands of items with their previous versions takes longer than rendering the
    // visible ones.
    structuralSharing: false,
    // A long list is kept as it was, including its length, so that Back restores the position.
    refetchOnMount: ({ state: { data } }) => (data?.pages.length ?? 0) <= 2,
    // Items in processing change by themselves. A long list is not refetched just for that.
    refetchInterval: ({ state: { data } }) =>
      data === undefined || data.pages.length > 2
        ? false
        : data.pages.some((page) => page.data.some(isMoving))
          ? 1_000
          : 10_000,
  });
  const items = useMemo(() => pages.data?.pages.flatMap(({ data }) => data) ?? [], [pages.data]);
  const selection = useSelection(items);
  const plays = usePlays();
  const [{ sort = '', order = '' }, change] = useParameters();
  return (
    <>
      <Show of={pages}>
        {(data) => (
          <Stack gap="xs">
            <Text size="sm" role="status">
              {countOf(data.pages[0]?.meta.total ?? 0)}
              {selection.ids.size > 0 && t(', {count} selected', { count: selection.ids.size })}
            </Text>
            {items.length === 0 ? (
              <NoItems />
            ) : (
              <ItemList
                items={items}
                view={view}
                selection={selection}
                plays={plays}
                sorting={{ sort, order }}
                onSort={change}
                onEnd={() => {
                  if (pages.hasNextPage && !pages.isFetchingNextPage) void pages.fetchNextPage();
                }}
              />
            )}
          </Stack>
        )}
      </Show>
      <BulkBar selection={selection} query={query} />
    </>
  );
});

/** The parameters that the API supports. A date covers the whole day. */
function queryOf({ createdAfter, createdBefore, ...rest }: Values): Query {
  const known = [...Object.keys(choices), ...Object.keys(moreChoices), ...texts];
  known.push('search', ...sorting);
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([name]) => known.includes(name))),
    ...(createdAfter !== undefined && { createdAfter: `${createdAfter}T00:00:00Z` }),
    ...(createdBefore !== undefined && { createdBefore: `${createdBefore}T23:59:59Z` }),
  };
}

function NoItems(): ReactNode {
  return (
    <Empty
      command={`curl ${new URL('../v1/content/upload', window.location.href).href} \\
  -H "Authorization: Bearer $SECRET_KEY" -F title="My first clip" -F file=@clip.mp4`}
    >
      {t('No item matches. Drop a video above,')}{' '}
      <Anchor href="#/content/import" underline="always">
        {t('import some')}
      </Anchor>
      {t(', or upload one with the API:')}
    </Empty>
  );
}

function Filters({
  values,
  view,
  change,
}: {
  values: Values;
  view: string;
  change: Change;
}): ReactNode {
  const isNarrowed = [...Object.keys(moreChoices), ...texts, 'createdAfter', 'createdBefore'].some(
    (name) => values[name] !== undefined,
  );
  const [isOpen, { toggle }] = useDisclosure(isNarrowed);
  const [search, setSearch] = useState(values['search'] ?? '');
  return (
    <Stack gap="xs">
      <Group align="end">
        <TextInput
          label={t('Search')}
          value={search}
          onChange={(event) => {
            setSearch(event.currentTarget.value);
            change({ search: event.currentTarget.value });
          }}
        />
        <Choices of={choices} values={values} change={change} />
        <Button variant="default" aria-expanded={isOpen} onClick={toggle}>
          {t('More filters')}
        </Button>
        <SegmentedControl
          aria-label={t('View')}
          value={view}
          onChange={(value) => change({ view: value })}
          data={[
            { value: 'table', label: t('Table') },
            { value: 'grid', label: t('Grid') },
          ]}
        />
      </Group>
      <Collapse expanded={isOpen}>
        <Group align="end">
          <Choices of={moreChoices} values={values} change={change} />
          {texts.map((name) => (
            <TextInput
              key={name}
              label={name === 'tags' ? t('Any of these tags') : words(name)}
              placeholder={name === 'tags' ? 'one,two' : 'any'}
              w={150}
              value={values[name] ?? ''}
              onChange={(event) => change({ [name]: event.currentTarget.value })}
            />
          ))}
          {['createdAfter', 'createdBefore'].map((name) => (
            <TextInput
              key={name}
              type="date"
              label={words(name)}
              value={values[name] ?? ''}
              onChange={(event) => change({ [name]: event.currentTarget.value })}
            />
          ))}
        </Group>
      </Collapse>
    </Stack>
  );
}

function Choices({
  of,
  values,
  change,
}: {
  of: Readonly<Record<string, readonly string[]>>;
  values: Values;
  change: Change;
}): ReactNode {
  return Object.entries(of).map(([name, allowed]) => (
    <Select
      key={name}
      label={words(name)}
      placeholder={name === 'archived' ? t('hidden') : t('any')}
      clearable
      w={140}
      data={allowed.map((value) => ({ value, label: known(value) }))}
      value={values[name] ?? null}
      onChange={(value) => change({ [name]: value })}
    />
  ));
}

/** Lets a long id wrap within its table cell. */
export function Id({ id }: { id: string }): ReactNode {
  return <Code style={{ overflowWrap: 'anywhere' }}>{id}</Code>;
}
