import { find } from './dom.ts';

/** Part of an element that must be inside the window for it to count as visible. */
const visibleShare = 0.5;

type VisibilityOptions = {
  readonly host: HTMLElement;
  /** The root that contains the element's videos. */
  readonly root: ParentNode;
  readonly changed: () => void;
  readonly signal: AbortSignal;
};

/** Whether a viewer can see the element, or a clip of it in picture-in-picture mode. */
export class Visibility {
  readonly #root: ParentNode;
  #isInView = false;

  constructor({ host, root, changed, signal }: VisibilityOptions) {
    this.#root = root;
    const observer = new IntersectionObserver(
      (entries) => {
        this.#isInView = (entries[entries.length - 1]?.intersectionRatio ?? 0) >= visibleShare;
        changed();
      },
      { threshold: visibleShare },
    );
    observer.observe(host);
    signal.addEventListener('abort', () => observer.disconnect());
    const frame = find(root, '.root', HTMLElement);
    frame.addEventListener('leavepictureinpicture', changed, { signal });
    document.addEventListener('visibilitychange', changed, { signal });
  }

  get isVisible(): boolean {
    const isInWindow = !document.hidden && this.#isInView;
    return isInWindow || this.#floating !== null;
  }

  /** The clip in picture-in-picture mode. */
  get #floating(): Element | null {
    const root = this.#root;
    return (root instanceof ShadowRoot ? root.pictureInPictureElement : null) ?? null;
  }
}
