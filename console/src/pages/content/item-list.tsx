/** Items as a table or grid. Only visible ones are rendered. */
import { Box, VisuallyHidden } from '@mantine/core';
import { useElementSize, useMergedRef } from '@mantine/hooks';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useRef, type ReactNode } from 'react';
import type { Item } from '../../data.ts';
import { clock, moment, percent, whole } from '../../format.ts';
import { lastScroll } from '../../location.ts';
import { typeNames } from './content-types.ts';
import type { Numbers, Plays } from './plays.ts';
import type { Selection } from './selection.ts';
import './item-list.css';
import { known, t } from '../../texts/texts.ts';

export type Sorting = { sort: string; order: string };

type ListParts = {
  items: readonly Item[];
  view: 'table' | 'grid';
  selection: Selection;
  plays: Plays;
  sorting: Sorting;
  onSort: (sorting: Sorting) => void;
  /** Called near the end of the list. */
  onEnd: () => void;
};

const rowHeight = 56;
const cardHeight = 300;
const cardWidth = 170;

export function ItemList({ items, view, selection, plays, ...rest }: ListParts): ReactNode {
  const { sorting, onSort, onEnd } = rest;
  const box = useRef<HTMLDivElement>(null);
  const { ref: sized, width } = useElementSize<HTMLDivElement>();
  const ref = useMergedRef(box, sized);
  const isGrid = view === 'grid';
  const perRow = isGrid ? Math.max(1, Math.floor(width / cardWidth)) : 1;
  const count = Math.ceil(items.length / perRow);
  const virtualizer = useWindowVirtualizer({
    count,
    estimateSize: () => (isGrid ? cardHeight : rowHeight),
    overscan: 8,
    scrollMargin: box.current?.offsetTop ?? 0,
    initialOffset: lastScroll,
  });
  const rows = virtualizer.getVirtualItems();
  const lastRow = rows.at(-1)?.index ?? 0;
  useListPlace(virtualizer, { isGrid, lastRow, count, onEnd });
  const offset = virtualizer.options.scrollMargin;
  return (
    <Box
      className="surface"
      px="sm"
      style={{ overflowX: 'auto' }}
      tabIndex={0}
      role="region"
      aria-label={t('Items')}
    >
      <Box
        ref={ref}
        role={isGrid ? 'list' : 'table'}
        aria-label={t('Items')}
        aria-rowcount={isGrid ? undefined : items.length + 1}
        className="item-list"
      >
        {!isGrid && <Head sorting={sorting} onSort={onSort} />}
        <Box
          role={isGrid ? 'presentation' : 'rowgroup'}
          style={{ position: 'relative', height: virtualizer.getTotalSize() }}
        >
          {rows.map(({ index, start }) => (
            <div
              key={index}
              role="presentation"
              className="item-line"
              data-grid={isGrid || undefined}
              style={{ transform: `translateY(${start - offset}px)` }}
            >
              {items.slice(index * perRow, (index + 1) * perRow).map((item, place) => {
                const Shape = isGrid ? Card : Row;
                return (
                  <Shape
                    key={item.id}
                    item={item}
                    index={index * perRow + place}
                    isSelected={selection.ids.has(item.id)}
                    toggle={selection.toggle}
                    numbers={plays(item.id)}
                  />
                );
              })}
            </div>
          ))}
        </Box>
      </Box>
    </Box>
  );
}

/** Restores the scroll position, remeasures when the view changes, and loads more near the end. */
function useListPlace(
  virtualizer: { measure: () => void },
  { isGrid, lastRow, count, onEnd }: ListPlace,
): void {
  useEffect(() => {
    // Once the list has its full height, restore the position.
    const place = lastScroll();
    if (place > 0) window.scrollTo(0, place);
  }, []);
  useEffect(() => {
    virtualizer.measure();
  }, [isGrid, virtualizer]);
  useEffect(() => {
    if (lastRow >= count - 10) onEnd();
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- asked when the list or the view moves
  }, [lastRow, count]);
}

type ListPlace = { isGrid: boolean; lastRow: number; count: number; onEnd: () => void };

const columns: readonly { name: string; sort?: string; isHidden?: boolean }[] = [
  { name: t('Select') },
  { name: t('Picture'), isHidden: true },
  { name: t('Title'), sort: 'title' },
  { name: t('State') },
  { name: t('Published') },
  { name: t('Type') },
  { name: t('Length') },
  { name: t('Plays') },
  { name: t('Finished') },
  { name: t('Tags') },
  { name: t('Created'), sort: 'createdAt' },
  { name: t('Changed'), sort: 'updatedAt' },
];

type SortParts = { sorting: Sorting; onSort: ListParts['onSort'] };

/** A column header that sorts the list, and reverses the order when pressed again. */
function SortHead({
  name,
  sort,
  sorting,
  onSort,
}: SortParts & { name: string; sort: string }): ReactNode {
  const first = sort === 'title' ? 'asc' : 'desc';
  const isChosen = (sorting.sort || 'createdAt') === sort;
  const order = isChosen ? sorting.order || first : null;
  const next = order === null ? first : order === 'asc' ? 'desc' : 'asc';
  return (
    <span
      role="columnheader"
      aria-sort={order === null ? 'none' : order === 'asc' ? 'ascending' : 'descending'}
    >
      <button
        type="button"
        className="item-sort mantine-focus-auto"
        onClick={() => onSort({ sort, order: next })}
      >
        {name}
        {order !== null && <span aria-hidden="true" className="item-sorted" data-order={order} />}
      </button>
    </span>
  );
}

function Head({ sorting, onSort }: SortParts): ReactNode {
  return (
    <div role="rowgroup">
      <div role="row" className="item-row item-head">
        {columns.map(({ name, sort, isHidden = false }) =>
          sort === undefined ? (
            <span role="columnheader" key={name}>
              {isHidden ? <VisuallyHidden>{name}</VisuallyHidden> : name}
            </span>
          ) : (
            <SortHead key={name} name={name} sort={sort} sorting={sorting} onSort={onSort} />
          ),
        )}
      </div>
    </div>
  );
}

type Shape = {
  item: Item;
  index: number;
  isSelected: boolean;
  toggle: Selection['toggle'];
  numbers: Numbers;
};

/** Rows and cards are plain elements, because hundreds per second are rendered while scrolling. */
const Row = memo(function Row({ item, index, isSelected, toggle, numbers }: Shape): ReactNode {
  return (
    <div role="row" aria-rowindex={index + 2} aria-selected={isSelected} className="item-row">
      <span role="cell">
        <Select item={item} index={index} isSelected={isSelected} toggle={toggle} />
      </span>
      <span role="cell">
        <Picture item={item} />
      </span>
      <span role="cell" className="item-title">
        <Title item={item} />
      </span>
      <span role="cell">
        <State item={item} />
      </span>
      <span role="cell">{known(item.publishStatus)}</span>
      <span role="cell">{typeNames[item.contentType]}</span>
      <span role="cell">{item.duration === null ? '–' : clock(item.duration)}</span>
      <span role="cell">{numbers === null ? '–' : whole(numbers.plays)}</span>
      <span role="cell">
        {numbers?.completionRate == null ? '–' : percent(numbers.completionRate, 0)}
      </span>
      <span role="cell" className="item-title">
        {item.tags.join(', ')}
      </span>
      <span role="cell">{moment(item.createdAt)}</span>
      <span role="cell">{moment(item.updatedAt)}</span>
    </div>
  );
});

const Card = memo(function Card({ item, index, isSelected, toggle }: Shape): ReactNode {
  return (
    <div role="listitem" className="item-card" style={{ width: cardWidth - 10 }}>
      <Picture item={item} />
      <span className="item-select">
        <Select item={item} index={index} isSelected={isSelected} toggle={toggle} />
      </span>
      <span className="item-title">
        <Title item={item} />
      </span>
      <State item={item} />
    </div>
  );
});

function Picture({ item: { thumbnailUrl } }: { item: Item }): ReactNode {
  return (
    <span className="item-picture">
      {thumbnailUrl !== null && <img src={thumbnailUrl} alt="" loading="lazy" decoding="async" />}
    </span>
  );
}

function Title({ item }: { item: Item }): ReactNode {
  return (
    <a href={`#/content/${item.id}`} className="item-link mantine-focus-auto">
      {item.title}
    </a>
  );
}

function Select({ item, index, isSelected, toggle }: Omit<Shape, 'numbers'>): ReactNode {
  return (
    <input
      type="checkbox"
      className="mantine-focus-auto"
      aria-label={t('Select {title}', { title: item.title })}
      checked={isSelected}
      onChange={({ nativeEvent }) => toggle(index, (nativeEvent as unknown as MouseEvent).shiftKey)}
    />
  );
}

export function State({ item }: { item: Item }): ReactNode {
  const progress =
    item.uploadStatus === 'processing' ? ` ${Math.round(item.progress * 100)} %` : '';
  return (
    <span
      className="item-state"
      data-state={item.archivedAt === null ? item.uploadStatus : 'archived'}
    >
      {item.archivedAt === null ? `${known(item.uploadStatus)}${progress}` : t('archived')}
    </span>
  );
}
