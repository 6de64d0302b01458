import { type FeedItem } from '@reelfeed/client';
import { find, setName } from './dom.ts';
import { type Texts } from './texts.ts';

/** What a viewer can refuse: the item, its author or its tags, or report the item. */
export type Refusal = 'item' | 'author' | 'tag' | 'report';

const refusals = ['item', 'author', 'tag', 'report'] as const;

/** What this page's viewer refused, as long as the feed knows the item. */
const refused = new WeakMap<FeedItem, Set<Refusal>>();

type Parts = {
  readonly texts: Texts;
  /** Called with what the viewer refused, or took back. */
  readonly refuse: (refusal: Refusal, isSet: boolean) => void;
};

/** Connects the menu of a slide. Each entry stays pressed until it is taken back. */
export function connectMenu(
  root: HTMLDetailsElement,
  item: FeedItem,
  { texts, refuse }: Parts,
): void {
  const summary = find(root, 'summary', HTMLElement);
  setName(summary, texts.options);
  find(summary, 'span', HTMLElement).textContent = texts.options;
  const names: Record<Refusal, string> = {
    item: texts.notInterested,
    author: texts.lessOfAuthor,
    tag: texts.lessOfTags,
    report: texts.report,
  };
  const isOffered = (refusal: Refusal) =>
    (refusal !== 'author' || item.author !== null) && (refusal !== 'tag' || item.tags.length > 0);
  for (const refusal of refusals) {
    const button = find(root, `[data-refusal="${refusal}"]`, HTMLButtonElement);
    button.textContent = names[refusal];
    button.hidden = !isOffered(refusal);
    const show = () =>
      button.setAttribute('aria-pressed', String(refused.get(item)?.has(refusal) ?? false));
    button.addEventListener('click', () => {
      const isSet = toggle(item, refusal);
      show();
      root.open = false;
      refuse(refusal, isSet);
    });
    show();
  }
  root.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !root.open) return;
    root.open = false;
    summary.focus();
    event.stopPropagation();
  });
}

/** @returns whether it is refused now */
function toggle(item: FeedItem, refusal: Refusal): boolean {
  const all = refused.get(item) ?? new Set<Refusal>();
  refused.set(item, all);
  const isSet = !all.delete(refusal);
  if (isSet) all.add(refusal);
  return isSet;
}
