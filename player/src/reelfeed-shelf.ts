/** `<reelfeed-shelf>`: a row of clips that opens the feed at the chosen clip. */
import { createReelfeed, type FeedItem } from '@reelfeed/client';
import { element, isRightToLeft, setName } from './page/dom.ts';
import { addStyles, areSame, serviceUrl, takeEarlyProperties } from './element-parts.ts';
import { formatTime } from './slide/format.ts';
import { posterOf } from './slide/poster.ts';
import { stableId } from './page/session.ts';
import styles from './styles/shelf.css';
import { webAddress } from '@reelfeed/client/playing';
import { openStore } from './page/storage.ts';
import { defaultTexts, type Texts } from './texts.ts';
import { type ReelfeedFeedElement, type ReelfeedShelfElement } from './types.ts';

const Base = 'HTMLElement' in globalThis ? HTMLElement : (Object as unknown as typeof HTMLElement);
const tag = 'reelfeed-shelf';
const defaultCount = 12;
const mostClips = 50;
/** Attributes that the shelf passes on to its feed. */
const feedAttributes = [
  'src',
  'key',
  'publishable-key',
  'user-id',
  'user-signature',
  'tags',
  'section',
  'share-url',
  'axis',
  'article-card',
];
const icons = {
  next: 'm9 5 7 7-7 7',
  close: 'm6 6 12 12M18 6 6 18',
};

export class ReelfeedShelf extends Base implements ReelfeedShelfElement {
  static readonly observedAttributes = [...feedAttributes, 'count'];

  getToken: ReelfeedFeedElement['getToken'] = null;
  articleCard: ReelfeedFeedElement['articleCard'] = null;
  #texts: Partial<Texts> = {};
  #isDue = false;
  #reading = new AbortController();
  #dialog: HTMLDialogElement | null = null;
  #opener: HTMLElement | null = null;

  get texts(): Partial<Texts> {
    return this.#texts;
  }

  set texts(texts: Partial<Texts>) {
    const isSame = areSame(this.#texts, texts);
    this.#texts = texts;
    if (!isSame) this.#fillSoon();
  }

  connectedCallback(): void {
    takeEarlyProperties(this, ['texts']);
    this.#fillSoon();
  }

  disconnectedCallback(): void {
    this.close();
    this.#reading.abort();
  }

  attributeChangedCallback(_name: string, before: string | null, after: string | null): void {
    if (before !== after) this.#fillSoon();
  }

  /** Opens the feed at a clip, or at its beginning. */
  open(contentId?: string): void {
    this.close();
    const feed = document.createElement('reelfeed-feed');
    for (const name of feedAttributes) {
      const value = this.getAttribute(name);
      if (value !== null) feed.setAttribute(name, value);
    }
    if (!this.hasAttribute('src')) feed.setAttribute('src', serviceUrl(null).href);
    if (contentId !== undefined) feed.setAttribute('start', contentId);
    feed.setAttribute('entry-point', 'direct');
    const { texts, getToken, articleCard } = this;
    Object.assign(feed, { texts, getToken, articleCard });
    for (const kind of ['reelfeed-event', 'reelfeed-slide'] as const) {
      // These events bubble only as far as the shadow root of the shelf.
      feed.addEventListener(kind, ({ detail }: CustomEvent<unknown>) =>
        this.dispatchEvent(new CustomEvent(kind, { detail, bubbles: true })),
      );
    }
    const close = element('button', { type: 'button', className: 'close' }, icon(icons.close));
    setName(close, this.#words.closeFeed);
    close.addEventListener('click', () => this.close());
    const dialog = element('dialog', {}, feed, close);
    dialog.setAttribute('aria-label', this.#words.feed);
    dialog.addEventListener('close', () => this.close());
    dialog.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && !event.defaultPrevented) this.close();
    });
    this.#dialog = dialog;
    this.shadowRoot?.append(dialog);
    if ('showModal' in dialog) dialog.showModal();
    else (dialog as HTMLElement).setAttribute('open', '');
    close.focus();
    document.documentElement.style.setProperty('overflow', 'hidden');
    import('./reelfeed-feed.ts').catch(() => this.close());
  }

  /** Closes the feed; the focus returns to the clip that opened it. */
  close(): void {
    if (this.#dialog === null) return;
    const dialog = this.#dialog;
    this.#dialog = null;
    dialog.remove();
    document.documentElement.style.removeProperty('overflow');
    this.#opener?.focus();
    this.#opener = null;
  }

  get #words(): Texts {
    return { ...defaultTexts, ...this.#texts };
  }

  #fillSoon(): void {
    if (!this.isConnected || this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      if (this.isConnected) void this.#fill();
    });
  }

  /** A shelf that can't be filled takes up no space. An `error` event informs the page. */
  async #fill(): Promise<void> {
    this.#reading.abort();
    this.#reading = new AbortController();
    const { signal } = this.#reading;
    const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' });
    try {
      const items = await this.#read(signal);
      root.replaceChildren(this.#shelf(items));
      addStyles(root, styles, 'reelfeed-shelf.css');
    } catch (error) {
      if (signal.aborted) return;
      const message = error instanceof Error ? error.message : '';
      this.dispatchEvent(new ErrorEvent('error', { message, error }));
    }
  }

  async #read(signal: AbortSignal): Promise<readonly FeedItem[]> {
    const text = (name: string) => this.getAttribute(name)?.trim() || undefined;
    const client = createReelfeed({
      baseUrl: serviceUrl(this.getAttribute('src')),
      publishableKey: text('key') ?? text('publishable-key') ?? '',
      userId: text('user-id'),
      userSignature: text('user-signature'),
      deviceId: stableId(openStore('localStorage'), 'device'),
      device: 'web',
    });
    const count = Math.min(mostClips, Math.max(1, Number(text('count') ?? defaultCount) || 1));
    const tags = text('tags')?.split(',').filter(Boolean);
    const sessionId = stableId(openStore('sessionStorage'), 'session');
    const { items } = await client.feed({
      limit: count,
      tags,
      section: text('section'),
      sessionId,
      signal,
    });
    return items;
  }

  #shelf(items: readonly FeedItem[]): HTMLElement {
    const row = element('ul', { className: 'row' }, ...items.map((item) => this.#clip(item)));
    row.setAttribute('aria-label', this.#words.shelf);
    const back = this.#turn('back', this.#words.shelfBack, row, -1);
    const on = this.#turn('on', this.#words.shelfOn, row, 1);
    const showTurns = (): void => {
      const at = Math.abs(row.scrollLeft);
      back.hidden = at < 8;
      on.hidden = at > row.scrollWidth - row.clientWidth - 8;
    };
    row.addEventListener('scroll', showTurns, { passive: true });
    new ResizeObserver(showTurns).observe(row);
    const shelf = element('div', { className: 'shelf' }, row, back, on);
    shelf.classList.toggle('rtl', isRightToLeft(this));
    shelf.setAttribute('part', 'shelf');
    return shelf;
  }

  #clip(item: FeedItem): HTMLElement {
    const poster = webAddress(posterOf(item, 200)) ?? webAddress(item.images[0]?.imageUrl ?? null);
    const picture = element('img', { alt: '', loading: 'lazy', decoding: 'async' });
    if (poster === null) picture.hidden = true;
    else picture.src = poster;
    const title = element('span', { dir: 'auto' }, element('b', {}, item.title));
    const button = element('button', { type: 'button', className: 'clip' }, picture, title);
    button.setAttribute('part', 'clip');
    if (item.duration !== null)
      button.append(element('i', { dir: 'ltr' }, formatTime(item.duration)));
    button.addEventListener('click', () => {
      this.open(item.id);
      this.#opener = button;
    });
    // Starts loading the player as soon as the pointer reaches the button.
    const prepare = (): void => void import('./reelfeed-feed.ts').catch(() => {});
    button.addEventListener('pointerenter', prepare, { once: true });
    return element('li', {}, button);
  }

  #turn(className: string, name: string, row: HTMLElement, direction: 1 | -1): HTMLElement {
    const button = element('button', { type: 'button', className: `turn ${className}` });
    button.append(icon(icons.next));
    button.hidden = true;
    setName(button, name);
    button.addEventListener('click', () => {
      const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
      const left = direction * row.clientWidth * 0.8 * (isRightToLeft(row) ? -1 : 1);
      row.scrollBy({ left, behavior: calm ? 'instant' : 'smooth' });
    });
    return button;
  }
}

function icon(path: string): SVGSVGElement {
  const names = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(names, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  const line = document.createElementNS(names, 'path');
  for (const [name, value] of Object.entries({ fill: 'none', stroke: 'currentColor', d: path })) {
    line.setAttribute(name, value);
  }
  line.setAttribute('stroke-width', '2.4');
  line.setAttribute('stroke-linecap', 'round');
  svg.append(line);
  return svg;
}

if ('customElements' in globalThis && customElements.get(tag) === undefined) {
  customElements.define(tag, ReelfeedShelf);
}
