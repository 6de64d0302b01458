import { type EngagementEvent } from '@reelfeed/client';
import { FeedSession } from './feed/feed-session.ts';
import { loadHlsLibrary, usesNativeHls } from './playback/hls-library.ts';
import { addStyles, areSame, serviceUrl, takeEarlyProperties } from './element-parts.ts';
import { type GetToken } from './playback/permissions.ts';
import menuCss from './styles/menu.css';
import compactCss from './styles/compact.css';
import picturesCss from './styles/pictures.css';
import playerCss from './styles/player.css';
import { idIn } from './page/share.ts';
import screensCss from './styles/screens.css';
import slideCss from './styles/slide.css';
import statesCss from './styles/states.css';
import template from './template.html';
import { defaultTexts, type Texts } from './texts.ts';
import { type ArticleCard, type ReelfeedFeedElement, type ReelfeedItem } from './types.ts';
import wideCss from './styles/wide.css';

/** The module can be imported outside a browser, for example for server-side rendering. */
const Base = 'HTMLElement' in globalThis ? HTMLElement : (Object as unknown as typeof HTMLElement);
const styles = [
  playerCss,
  statesCss,
  picturesCss,
  slideCss,
  menuCss,
  screensCss,
  wideCss,
  compactCss,
].join('\n');

/**
 * `<reelfeed-feed>`. Attributes, properties, parts and custom properties are documented in
 * docs/player.md.
 */
export class ReelfeedFeed extends Base implements ReelfeedFeedElement {
  static readonly observedAttributes: readonly string[] = [
    'src',
    'key',
    'publishable-key',
    'user-id',
    'user-signature',
    'tags',
    'section',
    'start',
    'share-url',
    'axis',
    'article-card',
    'entry-point',
  ];

  #session: FeedSession | null = null;
  #isDue = false;
  #texts: Partial<Texts> = {};
  #getToken: GetToken | null = null;
  #articleCard: ((item: ReelfeedItem) => ArticleCard | null) | null = null;

  get texts(): Partial<Texts> {
    return this.#texts;
  }

  set texts(texts: Partial<Texts>) {
    const isSame = areSame(this.#texts, texts);
    this.#texts = texts;
    if (!isSame) this.#restartSoon();
  }

  get getToken(): GetToken | null {
    return this.#getToken;
  }

  set getToken(getToken: GetToken | null) {
    this.#getToken = getToken;
  }

  get articleCard(): ((item: ReelfeedItem) => ArticleCard | null) | null {
    return this.#articleCard;
  }

  set articleCard(articleCard: ((item: ReelfeedItem) => ArticleCard | null) | null) {
    this.#articleCard = articleCard;
  }

  /** The only item to play, or null for a feed. */
  protected get contentId(): string | null {
    return null;
  }

  connectedCallback(): void {
    takeEarlyProperties(this, ['texts', 'getToken', 'articleCard']);
    if (!usesNativeHls()) loadHlsLibrary().catch(() => {});
    this.#restartSoon();
  }

  disconnectedCallback(): void {
    this.#session?.close();
    this.#session = null;
  }

  attributeChangedCallback(_name: string, before: string | null, after: string | null): void {
    if (before !== after) this.#restartSoon();
  }

  /** Frameworks set attributes one after another. A single start is enough for all of them. */
  #restartSoon(): void {
    if (!this.isConnected || this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      if (this.isConnected) this.#restart();
    });
  }

  #restart(): void {
    this.#session?.close();
    const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' });
    root.replaceChildren(document.createRange().createContextualFragment(template));
    addStyles(root, styles, 'reelfeed-feed.css');
    this.#session = new FeedSession({
      host: this,
      root,
      serviceUrl: serviceUrl(this.getAttribute('src')),
      key: this.#text('key') ?? this.#text('publishable-key'),
      userId: this.#text('user-id'),
      userSignature: this.#text('user-signature'),
      tags: (this.#text('tags') ?? '').split(',').filter(Boolean),
      section: this.#text('section'),
      start: idIn(this.getAttribute('start')),
      contentId: this.contentId,
      axis: this.getAttribute('axis') === 'horizontal' ? 'horizontal' : 'vertical',
      entryPoint: this.#text('entry-point') === 'direct' ? 'direct' : 'share',
      shareUrl: this.#text('share-url'),
      ownsPage: this.hasAttribute('page'),
      texts: { ...defaultTexts, ...this.#texts },
      getToken: () => this.#getToken,
      articleCard: () => this.#cardOf,
      tracked: (event) => this.#tell(event),
      slideShown: (detail) =>
        this.dispatchEvent(new CustomEvent('reelfeed-slide', { detail, bubbles: true })),
    });
  }

  /** With only the attribute set, the card uses the player's own texts. */
  get #cardOf(): ((item: ReelfeedItem) => ArticleCard | null) | null {
    if (this.#articleCard !== null) return this.#articleCard;
    const title = this.#texts.openArticleCard ?? defaultTexts.openArticleCard;
    return this.hasAttribute('article-card') ? () => ({ title }) : null;
  }

  #text(attribute: string): string | null {
    return this.getAttribute(attribute)?.trim() || null;
  }

  #tell(detail: EngagementEvent): void {
    this.dispatchEvent(new CustomEvent('reelfeed-event', { detail, bubbles: true }));
    if (detail.event !== 'error') return;
    const { errorMessage } = detail.data ?? {};
    const message = typeof errorMessage === 'string' ? errorMessage : '';
    this.dispatchEvent(new ErrorEvent('error', { message, error: detail }));
  }
}

/** `<reelfeed-player content-id>`: a single item, which may be unlisted. */
export class ReelfeedPlayer extends ReelfeedFeed {
  static override readonly observedAttributes = [...ReelfeedFeed.observedAttributes, 'content-id'];

  protected override get contentId(): string | null {
    return idIn(this.getAttribute('content-id')) ?? '';
  }
}
