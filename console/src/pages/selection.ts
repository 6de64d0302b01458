/** Which items are selected. With Shift, everything since the last one that was clicked. */
import { useCallback, useRef, useState } from 'react';
import type { Item } from '../data.ts';

export type Selection = {
  ids: ReadonlySet<string>;
  items: readonly Item[];
  /** Selects the item at this place, or no longer; a range from the last one on. */
  toggle: (index: number, isRange: boolean) => void;
  selectAll: () => void;
  clear: () => void;
};

export function useSelection(items: readonly Item[]): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [last, setLast] = useState<string | null>(null);
  // The same function at every drawing, so that a row that has not changed is not drawn again.
  const latest = useRef({ items, ids, last });
  latest.current = { items, ids, last };
  const toggle = useCallback((index: number, isRange: boolean) => {
    const { items, ids, last } = latest.current;
    const item = items[index];
    if (item === undefined) return;
    const isSelected = !ids.has(item.id);
    const from = isRange ? items.findIndex(({ id }) => id === last) : -1;
    const [low, high] =
      from === -1 ? [index, index] : [Math.min(from, index), Math.max(from, index)];
    const next = new Set(ids);
    for (const { id } of items.slice(low, high + 1)) {
      if (isSelected) next.add(id);
      else next.delete(id);
    }
    setIds(next);
    setLast(item.id);
  }, []);
  return {
    ids,
    items: items.filter(({ id }) => ids.has(id)),
    toggle,
    selectAll: () => setIds(new Set(items.map(({ id }) => id))),
    clear: () => setIds(new Set()),
  };
}
