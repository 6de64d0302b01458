import { type EngagementEvent } from '@reelfeed/client';
import { FeedSession } from './feed-session.ts';
import { loadHlsLibrary, usesNativeHls } from './hls-library.ts';
import { type GetToken } from './permissions.ts';
import playerCss from './player.css';
import { idIn } from './share.ts';
import screensCss from './screens.css';
import slideCss from './slide.css';
import template from './template.html';
import { defaultTexts, type Texts } from './texts.ts';
import { type ReelfeedFeedElement } from './types.ts';
import wideCss from './wide.css';

/** Outside of a browser, such as where a framework renders pages, the module can still be imported. */
const Base = 'HTMLElement' in globalThis ? HTMLElement : (Object as unknown as typeof HTMLElement);
const tag = 'reelfeed-feed';
let sheet: CSSStyleSheet | undefined;

/** `<reelfeed-feed>`. Attributes, properties, parts and custom properties are in docs/player.md. */
export class ReelfeedFeed extends Base implements ReelfeedFeedElement {
  static readonly observedAttributes = [
    'src',
    'key',
    'publishable-key',
    'user-id',
    'user-signature',
    'tags',
    'section',
    'start',
    'share-url',
  ];

  #session: FeedSession | null = null;
  #isDue = false;
  #texts: Partial<Texts> = {};
  #getToken: GetToken | null = null;

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

  connectedCallback(): void {
    this.#takeEarlyProperties();
    if (!usesNativeHls()) loadHlsLibrary().catch(() => {});
    this.#restartSoon();
  }

  disconnectedCallback(): void {
    this.#session?.close();
    this.#session = null;
  }

  attributeChangedCallback(): void {
    this.#restartSoon();
  }

  /** Frameworks set attributes one after the other; one start is enough for all of them. */
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
    addStyles(root);
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
      shareUrl: this.#text('share-url'),
      ownsPage: this.hasAttribute('page'),
      texts: { ...defaultTexts, ...this.#texts },
      getToken: () => this.#getToken,
      tracked: (event) => this.#tell(event),
    });
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

  /** A page may set properties before this module has made the element what it is. */
  #takeEarlyProperties(): void {
    for (const name of ['texts', 'getToken'] as const) {
      if (!Object.prototype.hasOwnProperty.call(this, name)) continue;
      const value = this[name];
      Reflect.deleteProperty(this, name);
      Reflect.set(this, name, value);
    }
  }
}

/** Frameworks set an object that is written in place anew at each rendering. */
function areSame(texts: Partial<Texts>, others: Partial<Texts>): boolean {
  const [one, other] = [new Map(Object.entries(texts)), new Map(Object.entries(others))];
  if (one.size !== other.size) return false;
  return [...one].every(([name, text]) => {
    const same = other.get(name);
    return text === same || (Array.isArray(text) && JSON.stringify(text) === JSON.stringify(same));
  });
}

/** Without `src`, the service is where this file came from. */
function serviceUrl(src: string | null): URL {
  const url = src === null ? new URL('../', import.meta.url) : new URL(src, document.baseURI);
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  url.search = '';
  url.hash = '';
  return url;
}

/**
 * A sheet made by script needs no permission from a page's content security policy. Safari before
 * 16.4 has none; it loads the same styles as a file.
 */
function addStyles(root: ShadowRoot): void {
  if ('adoptedStyleSheets' in root) {
    sheet ??= makeSheet();
    root.adoptedStyleSheets = [sheet];
    return;
  }
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = new URL('./reelfeed-feed.css', import.meta.url).href;
  (root as ShadowRoot).prepend(link);
}

function makeSheet(): CSSStyleSheet {
  const made = new CSSStyleSheet();
  made.replaceSync([playerCss, slideCss, screensCss, wideCss].join('\n'));
  return made;
}

if ('customElements' in globalThis && customElements.get(tag) === undefined) {
  customElements.define(tag, ReelfeedFeed);
}
