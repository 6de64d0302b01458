/** Forms with unsaved input. */
import { useEffect, useId } from 'react';

const dirty = new Set<string>();

export const hasUnsaved = (): boolean => dirty.size > 0;

/** While true, leaving the view or the page asks for confirmation. */
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
