/** Items as a table or as a grid. Only what is in view is drawn, however many there are. */
import { Anchor, Badge, Box, Checkbox, Image, Text, VisuallyHidden } from '@mantine/core';
import { useElementSize, useMergedRef } from '@mantine/hooks';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useRef, type ReactNode } from 'react';
import type { Item } from '../data.ts';
import { moment } from '../format.ts';
import type { Selection } from './selection.ts';

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
const columns = '40px 44px minmax(160px, 3fr) 120px 110px minmax(80px, 2fr) 170px';

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

const cells = { display: 'grid', gridTemplateColumns: columns, gap: 8, alignItems: 'center' };

function Head(): ReactNode {
  return (
    <div role="rowgroup">
      <Box role="row" fw={700} fz="sm" py={8} style={{ ...cells, borderBottom: '1px solid' }}>
        {['Select', '', 'Title', 'State', 'Published', 'Tags', 'Created'].map((name) => (
          <span role="columnheader" key={name} style={{ overflow: 'hidden' }}>
            {name === '' ? <VisuallyHidden>Picture</VisuallyHidden> : name}
          </span>
        ))}
      </Box>
    </div>
  );
}

type Shape = {
  item: Item;
  index: number;
  isSelected: boolean;
  toggle: Selection['toggle'];
};

const Row = memo(function Row({ item, index, isSelected, toggle }: Shape): ReactNode {
  return (
    <Box
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      h={rowHeight}
      fz="sm"
      style={{ ...cells, borderBottom: '1px solid var(--mantine-color-default-border)' }}
    >
      <span role="cell">
        <Select item={item} index={index} isSelected={isSelected} toggle={toggle} />
      </span>
      <span role="cell">
        {item.thumbnailUrl !== null && (
          <Image src={item.thumbnailUrl} alt="" w={28} h={44} fit="cover" radius="sm" />
        )}
      </span>
      <Title item={item} role="cell" />
      <span role="cell">
        <State item={item} />
      </span>
      <span role="cell">{item.publishStatus}</span>
      <Text role="cell" size="sm" truncate>
        {item.tags.join(', ')}
      </Text>
      <span role="cell">{moment(item.createdAt)}</span>
    </Box>
  );
});

const Card = memo(function Card({ item, index, isSelected, toggle }: Shape): ReactNode {
  return (
    <Box role="listitem" w={cardWidth - 10} h={cardHeight - 10} style={{ position: 'relative' }}>
      <Box
        h={220}
        bg="var(--mantine-color-default-border)"
        style={{ borderRadius: 8, overflow: 'hidden' }}
      >
        {item.thumbnailUrl !== null && (
          <Image src={item.thumbnailUrl} alt="" w="100%" h={220} fit="cover" />
        )}
      </Box>
      <Box style={{ position: 'absolute', top: 8, left: 8 }}>
        <Select item={item} index={index} isSelected={isSelected} toggle={toggle} />
      </Box>
      <Title item={item} />
      <State item={item} />
    </Box>
  );
});

function Title({ item, role }: { item: Item; role?: string }): ReactNode {
  return (
    <Text role={role} size="sm" truncate component="span" display="block">
      <Anchor href={`#/content/${item.id}`} underline="always" inherit>
        {item.title}
      </Anchor>
    </Text>
  );
}

function Select({ item, index, isSelected, toggle }: Shape): ReactNode {
  return (
    <Checkbox
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
    <Badge variant="outline" color={item.uploadStatus === 'error' ? 'red' : 'gray'} tt="none">
      {`${item.uploadStatus}${progress}`}
    </Badge>
  );
}
