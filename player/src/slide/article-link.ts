import { type FeedItem } from '@reelfeed/client';
import { webAddress, type Slide } from '@reelfeed/client/playing';
import { element, find, setLabel, setName } from '../page/dom.ts';
import { type Texts } from '../texts.ts';
import { type ArticleCard } from '../types.ts';

type ArticleOptions = {
  readonly slide: Slide;
  readonly card: ((item: FeedItem) => ArticleCard | null) | null;
  readonly texts: Texts;
};

/**
 * Links to the article of a slide: by a button in the rail, or by a card below the text if the page
 * provides one.
 */
export function showArticle(slideRoot: HTMLElement, { slide, card, texts }: ArticleOptions): void {
  const link = webAddress(slide.item.articleUrl);
  if (link === null) return;
  const content = card?.(slide.item) ?? null;
  const place = content === null ? '.article' : '.article-card';
  const article = find(slideRoot, place, HTMLAnchorElement);
  article.hidden = false;
  article.href = link;
  if (content === null) {
    setName(article, texts.openArticle);
    setLabel(article, texts.article);
    return;
  }
  const image = webAddress(content.imageUrl ?? null);
  const words = element('span', { dir: 'auto' }, element('b', {}, content.title));
  words.append(element('small', {}, content.text ?? new URL(link).host));
  if (image !== null) article.append(element('img', { src: image, alt: '', loading: 'lazy' }));
  article.append(words);
}
