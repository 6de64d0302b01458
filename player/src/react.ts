/** The elements as React components: `import { ReelfeedFeed } from '@reelfeed/player/react'`. */
import {
  createElement,
  forwardRef,
  useEffect,
  useImperativeHandle,
  useRef,
  type CSSProperties,
  type ForwardRefExoticComponent,
  type ReactNode,
  type RefAttributes,
} from 'react';
import { attributesOf, load, type CommonProps, type ElementName } from './framework.ts';
import {
  type ReelfeedFeedElement,
  type ReelfeedPlayerElement,
  type ReelfeedShelfElement,
} from './types.ts';

type Shared = CommonProps & {
  readonly className?: string | undefined;
  readonly style?: CSSProperties | undefined;
  /** Shown above the clips and positioned by its own styles. */
  readonly children?: ReactNode;
};

export type ReelfeedFeedProps = Shared & { readonly start?: string | undefined };
export type ReelfeedPlayerProps = Shared & { readonly contentId: string };
export type ReelfeedShelfProps = Shared & { readonly count?: number | undefined };

type Component<Props, Element> = ForwardRefExoticComponent<Props & RefAttributes<Element>>;

function component<Props extends Shared, Element extends ReelfeedFeedElement>(
  name: ElementName,
): Component<Props, Element> {
  const Made = forwardRef<Element, Props>(function Reelfeed(props, forwarded) {
    const own = useRef<Element>(null);
    const latest = useRef<Props>(props as Props);
    latest.current = props as Props;
    useImperativeHandle(forwarded, () => own.current as Element, []);
    useEffect(() => {
      void load(name);
      const element = own.current;
      if (element === null) return undefined;
      const end = new AbortController();
      const { signal } = end;
      element.addEventListener(
        'reelfeed-event',
        (event) => latest.current.onEvent?.(event.detail),
        {
          signal,
        },
      );
      element.addEventListener(
        'reelfeed-slide',
        (event) => latest.current.onSlide?.(event.detail),
        {
          signal,
        },
      );
      element.addEventListener('error', (event) => latest.current.onError?.(event), { signal });
      return () => end.abort();
    }, []);
    const { texts, getToken, articleCard, className, style, children } = props as Shared;
    // An effect before the first paint is not needed, because the element starts in a microtask.
    useEffect(() => {
      if (own.current === null) return;
      own.current.texts = texts ?? {};
      own.current.getToken = getToken ?? null;
      own.current.articleCard = articleCard ?? null;
    });
    const overlay =
      children === undefined ? null : createElement('div', { slot: 'overlay' }, children);
    const attributes = attributesOf(props);
    return createElement(name, { ...attributes, ref: own, class: className, style }, overlay);
  });
  Made.displayName = name;
  return Made as unknown as Component<Props, Element>;
}

export const ReelfeedFeed = component<ReelfeedFeedProps, ReelfeedFeedElement>('reelfeed-feed');
export const ReelfeedPlayer = component<ReelfeedPlayerProps, ReelfeedPlayerElement>(
  'reelfeed-player',
);
export const ReelfeedShelf = component<ReelfeedShelfProps, ReelfeedShelfElement>('reelfeed-shelf');
