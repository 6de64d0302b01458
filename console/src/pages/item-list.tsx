/** Items as a table or as a grid. Only what is in view is drawn, however many there are. */
import { Box, VisuallyHidden } from '@mantine/core';
import { useElementSize, useMergedRef } from '@mantine/hooks';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useRef, type ReactNode } from 'react';
import type { Item } from '../data.ts';
import { moment } from '../format.ts';
import type { Selection } from './selection.ts';
import './item-list.css';

type ListParts = {
  items: readonly Item[];
  view: 'table' | 'grid';
  selection: Selection;
  /** Called when the end of the list comes near. */
  onEnd: () => void;
};

const rowHeight = 56;
const cardHeight = 300;
const cardWidth = 170;

export function ItemList({ items, view, selection, onEnd }: ListParts): ReactNode {
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
  });
  const rows = virtualizer.getVirtualItems();
  const lastRow = rows.at(-1)?.index ?? 0;
  useEffect(() => {
    virtualizer.measure();
  }, [isGrid, virtualizer]);
  useEffect(() => {
    if (lastRow >= count - 10) onEnd();
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- asked when the list or the view moves
  }, [lastRow, count]);
  const offset = virtualizer.options.scrollMargin;
  return (
    <Box style={{ overflowX: 'auto' }} tabIndex={0} role="region" aria-label="Items">
      <Box
        ref={ref}
        role={isGrid ? 'list' : 'table'}
        aria-label="Items"
        aria-rowcount={isGrid ? undefined : items.length + 1}
        miw={isGrid ? undefined : 760}
      >
        {!isGrid && <Head />}
        <Box
          role={isGrid ? 'presentation' : 'rowgroup'}
          style={{ position: 'relative', height: virtualizer.getTotalSize() }}
        >
          {rows.map(({ index, start }) => (
            <div
              key={index}
              role="presentation"
              style={{
                position: 'absolute',
                insetInline: 0,
                transform: `translateY(${start - offset}px)`,
                display: isGrid ? 'flex' : 'block',
                gap: 10,
              }}
            >
              {items.slice(index * perRow, (index + 1) * perRow).map((item, place) => {
                const at = index * perRow + place;
                const Shape = isGrid ? Card : Row;
                return (
                  <Shape
                    key={item.id}
                    item={item}
                    index={at}
                    isSelected={selection.ids.has(item.id)}
                    toggle={selection.toggle}
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

function Head(): ReactNode {
  return (
    <div role="rowgroup">
      <div role="row" className="item-row item-head">
        {['Select', '', 'Title', 'State', 'Published', 'Tags', 'Created'].map((name) => (
          <span role="columnheader" key={name}>
            {name === '' ? <VisuallyHidden>Picture</VisuallyHidden> : name}
          </span>
        ))}
      </div>
    </div>
  );
}

type Shape = {
  item: Item;
  index: number;
  isSelected: boolean;
  toggle: Selection['toggle'];
};

/** Rows and cards are plain elements: hundreds a second are drawn while somebody scrolls. */
const Row = memo(function Row({ item, index, isSelected, toggle }: Shape): ReactNode {
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
      <span role="cell">{item.publishStatus}</span>
      <span role="cell" className="item-title">
        {item.tags.join(', ')}
      </span>
      <span role="cell">{moment(item.createdAt)}</span>
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

function Select({ item, index, isSelected, toggle }: Shape): ReactNode {
  return (
    <input
      type="checkbox"
      className="mantine-focus-auto"
      aria-label={`Select ${item.title}`}
      checked={isSelected}
      onChange={({ nativeEvent }) => toggle(index, (nativeEvent as unknown as MouseEvent).shiftKey)}
    />
  );
}

export function State({ item }: { item: Item }): ReactNode {
  const progress =
    item.uploadStatus === 'processing' ? ` ${Math.round(item.progress * 100)} %` : '';
  return (
    <span className="item-state" data-failed={item.uploadStatus === 'error' || undefined}>
      {`${item.uploadStatus}${progress}`}
    </span>
  );
}
