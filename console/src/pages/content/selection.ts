/**
 * The selected items, including those now hidden by the filter. Shift selects the range from the
 * last click.
 */
import { useCallback, useMemo, useRef, useState } from 'react';
import type { Item } from '../../data.ts';

export type Selection = {
  ids: ReadonlySet<string>;
  items: readonly Item[];
  /** Number of selected items that the list does not show. */
  hiddenCount: number;
  /** Toggles the item at this index, or selects a range from the last one. */
  toggle: (index: number, isRange: boolean) => void;
  remove: (id: string) => void;
  selectAll: () => void;
  clear: () => void;
};

export function useSelection(items: readonly Item[]): Selection {
  const [selected, setSelected] = useState<ReadonlyMap<string, Item>>(new Map());
  const [last, setLast] = useState<string | null>(null);
  // A stable function, so that unchanged rows are not rendered again.
  const latest = useRef({ items, selected, last });
  latest.current = { items, selected, last };
  const toggle = useCallback((index: number, isRange: boolean) => {
    const { items, selected, last } = latest.current;
    const item = items[index];
    if (item === undefined) return;
    setSelected(toggled(items, selected, { index, from: isRange ? last : null }));
    setLast(item.id);
  }, []);
  const ids = useMemo(() => new Set(selected.keys()), [selected]);
  const hiddenCount = useMemo(() => {
    const shown = new Set(items.map(({ id }) => id));
    return [...ids].filter((id) => !shown.has(id)).length;
  }, [items, ids]);
  return {
    ids,
    items: [...selected.values()],
    hiddenCount,
    toggle,
    remove: (id) => setSelected(new Map([...selected].filter(([each]) => each !== id))),
    selectAll: () =>
      setSelected(new Map([...selected, ...items.map((each) => [each.id, each] as const)])),
    clear: () => setSelected(new Map()),
  };
}

/**
 * Returns the selection after a click at an index, extended to the item `from` if that one is
 * shown.
 */
export function toggled<Row extends { id: string }>(
  items: readonly Row[],
  selected: ReadonlyMap<string, Row>,
  { index, from }: { index: number; from: string | null },
): ReadonlyMap<string, Row> {
  const item = items[index];
  if (item === undefined) return selected;
  const isSelected = !selected.has(item.id);
  const start = items.findIndex(({ id }) => id === from);
  const [low, high] =
    start === -1 ? [index, index] : [Math.min(start, index), Math.max(start, index)];
  const next = new Map(selected);
  for (const each of items.slice(low, high + 1)) {
    if (isSelected) next.set(each.id, each);
    else next.delete(each.id);
  }
  return next;
}
