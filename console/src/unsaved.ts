/** Forms that hold what nobody has saved yet. */
import { useEffect, useId } from 'react';

const dirty = new Set<string>();

export const hasUnsaved = (): boolean => dirty.size > 0;

/** While this holds, leaving the view or the page asks first. */
export function useUnsaved(isDirty: boolean): void {
  const id = useId();
  useEffect(() => {
    if (!isDirty) return;
    dirty.add(id);
    return () => void dirty.delete(id);
  }, [id, isDirty]);
}

window.addEventListener('beforeunload', (event) => {
  if (hasUnsaved()) event.preventDefault();
});
