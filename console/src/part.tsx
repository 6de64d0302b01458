/** Code that is loaded when it is shown first: a page, or a part of a page. */
import { createElement, lazy, Suspense, type ComponentType, type ReactNode } from 'react';
import { Boundary, NotLoadedError } from './boundary.tsx';
import { Loading } from './states.tsx';
import { reloadIfUpgraded } from './upgrade.ts';

/** What could not be loaded stays so until `loadAgain`. */
export class Part<Props extends object> {
  readonly isPage: boolean;
  readonly #load: () => Promise<ComponentType<Props>>;
  #component: ComponentType<Props>;

  constructor(load: () => Promise<ComponentType<Props>>, { isPage = false } = {}) {
    this.isPage = isPage;
    this.#load = load;
    this.#component = this.#make();
  }

  get component(): ComponentType<Props> {
    return this.#component;
  }

  loadAgain(): void {
    this.#component = this.#make();
  }

  #make(): ComponentType<Props> {
    return lazy(() => this.#loadOnce());
  }

  async #loadOnce(): Promise<{ default: ComponentType<Props> }> {
    try {
      return { default: await this.#load() };
    } catch (cause) {
      // On a page that is only now opened nothing has been typed. The reload ends it; until then it
      // is loading.
      if (this.isPage && (await reloadIfUpgraded())) return await new Promise<never>(() => {});
      throw new NotLoadedError('The code could not be loaded.', { cause });
    }
  }
}

/** Shows a part, or in its place why not. `onRetry` is called before it is tried again. */
export function ShowPart<Props extends object>({
  part,
  props,
  onRetry,
}: {
  part: Part<Props>;
  props: Props;
  onRetry?: () => void;
}): ReactNode {
  const startOver = () => {
    part.loadAgain();
    onRetry?.();
  };
  return (
    <Boundary isPage={part.isPage} onRetry={startOver}>
      <Suspense fallback={<Loading />}>
        <Current part={part} props={props} />
      </Suspense>
    </Boundary>
  );
}

/** Reads the component at each render, so that one that is loaded again is found. */
function Current<Props extends object>({
  part,
  props,
}: {
  part: Part<Props>;
  props: Props;
}): ReactNode {
  return createElement(part.component, props);
}
