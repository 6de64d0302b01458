/** Lazily loaded code: a page, or a part of a page. */
import { createElement, lazy, Suspense, type ComponentType, type ReactNode } from 'react';
import { Boundary, NotLoadedError } from './boundary.tsx';
import { Loading } from './states.tsx';
import { reloadIfUpgraded } from './upgrade.ts';

export type Part<Props extends object> = {
  readonly component: ComponentType<Props>;
  readonly isPage: boolean;
};

export function makePart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  { isPage = false } = {},
): Part<Props> {
  const component: ComponentType<Props> = lazy(async () => {
    try {
      return { default: await load() };
    } catch (cause) {
      // Nothing has been typed on a page that is just opening. Stay in the loading state until the
      // reload.
      if (isPage && (await reloadIfUpgraded())) return await new Promise<never>(() => {});
      throw new NotLoadedError('The code could not be loaded.', { cause });
    }
  });
  return { component, isPage };
}

/** Shows a part, or why it failed. `onRetry` is called before a retry. */
export function ShowPart<Props extends object>({
  part: { component, isPage },
  props,
  onRetry,
  fallback = <Loading />,
}: {
  part: Part<Props>;
  props: Props;
  onRetry?: () => void;
  /** Shown during loading. */
  fallback?: ReactNode;
}): ReactNode {
  return (
    <Boundary isPage={isPage} onRetry={onRetry}>
      <Suspense fallback={fallback}>{createElement(component, props)}</Suspense>
    </Boundary>
  );
}
