import {
  createReelfeed,
  EventSender,
  localEventStorage,
  type EngagementEvent,
  type FeedItem,
  type Reelfeed,
} from '@reelfeed/client';
import { Chrome } from './chrome.ts';
import { type Axis } from './column.ts';
import { find, isRightToLeft } from '../page/dom.ts';
import { type FeedList, Marks, Preferences } from '@reelfeed/client/playing';
import { listenToWheel } from './gestures.ts';
import { listenToKeys } from './keyboard.ts';
import { Permissions, type GetToken } from '../playback/permissions.ts';
import { Player } from './player.ts';
import { faultOf, Screens, uploadCommand } from './screens.ts';
import { forgetKey, itemInAddress, keepKey, stableId, takeKey } from '../page/session.ts';
import { copyText } from '../page/share.ts';
import { watchSize } from '../page/size.ts';
import { openStore } from '../page/storage.ts';
import { Visibility } from '../page/visibility.ts';
import { type Texts } from '../texts.ts';
import { type ArticleCard } from '../types.ts';

/**
 * Polling intervals of an empty feed, so that the first clip appears without a reload: starts with
 * the first interval and doubles it up to the longest.
 */
const firstEmptyPollMs = 5_000;
const longestEmptyPollMs = 30_000;

export type SessionOptions = {
  /** The element, which receives keyboard events and whose visibility counts. */
  readonly host: HTMLElement;
  /** The root into which the template was cloned. */
  readonly root: ParentNode;
  /** Base URL of the service; ends with a slash. */
  readonly serviceUrl: URL;
  readonly key: string | null;
  readonly userId: string | null;
  readonly userSignature: string | null;
  readonly tags: readonly string[];
  readonly section: string | null;
  readonly start: string | null;
  /** The only item to play; null for a feed. */
  readonly contentId: string | null;
  readonly axis: Axis;
  /** How the viewer reached the first item. */
  readonly entryPoint: 'share' | 'direct';
  readonly articleCard: () => ((item: FeedItem) => ArticleCard | null) | null;
  /** An address with the placeholder `{id}` for an item's id; null for the service's own page. */
  readonly shareUrl: string | null;
  /** Whether the element is the whole page and reads the key and the item from its address. */
  readonly ownsPage: boolean;
  readonly texts: Texts;
  /** Asks for permission to watch a protected item; null asks the service. */
  readonly getToken: () => GetToken | null;
  readonly tracked: (event: EngagementEvent) => void;
  readonly slideShown: (item: FeedItem) => void;
};

/** One feed with one key and viewer, from its first request to `close`. */
export class FeedSession {
  readonly #options: SessionOptions;
  readonly #device = openStore('localStorage');
  readonly #tab = openStore('sessionStorage');
  readonly #deviceId = stableId(this.#device, 'device');
  readonly #sessionId = stableId(this.#tab, 'session');
  readonly #screens: Screens;
  readonly #chrome: Chrome;
  readonly #end = new AbortController();
  #player: Player | null = null;
  #events: EventSender | null = null;
  #emptyTimer: ReturnType<typeof setTimeout> | undefined;
  #emptyPollMs = firstEmptyPollMs;
  readonly #visibility: Visibility;

  constructor(options: SessionOptions) {
    this.#options = options;
    const { root, texts, ownsPage, host, axis } = options;
    this.#screens = new Screens(root, texts);
    this.#chrome = new Chrome(root, texts, {
      unmute: () => this.#player?.toggleMute(),
      step: (offset) => this.#player?.step(offset),
    });
    const feed = find(root, '#feed', HTMLElement);
    feed.setAttribute('aria-label', texts.feed);
    listenToWheel(
      feed,
      (offset) => this.#player?.step(offset),
      (offset) => ownsPage || this.#player?.canStep(offset) === true,
      () => (axis === 'vertical' ? 0 : isRightToLeft(feed) ? -1 : 1),
    );
    const frame = find(root, '.root', HTMLElement);
    frame.classList.toggle('horizontal', axis === 'horizontal');
    watchSize(frame, this.#end.signal);
    const changed = (): void => this.#showPlace();
    this.#visibility = new Visibility({ host, root, changed, signal: this.#end.signal });
    this.#listenToPage();
    const key = ownsPage ? takeKey(this.#tab, options.key) : options.key;
    if (key === null) this.#askForKey(null);
    else this.#open(key);
  }

  /** Ends requests, clips and listeners. Unacknowledged events stay in the browser's storage. */
  close(): void {
    this.#end.abort();
    clearTimeout(this.#emptyTimer);
    this.#closeFeed();
  }

  #closeFeed(): void {
    this.#player?.close();
    this.#player = null;
    void this.#events?.close();
    this.#events = null;
  }

  #open(publishableKey: string): void {
    const { texts } = this.#options;
    const fault = faultOf(publishableKey, texts);
    if (fault !== null) {
      this.#askForKey(fault);
      return;
    }
    this.#closeFeed();
    const { serviceUrl: baseUrl, userId: user } = this.#options;
    const userId = user ?? undefined;
    const userSignature = this.#options.userSignature ?? undefined;
    const deviceId = this.#deviceId;
    const viewer = { baseUrl, publishableKey, userId, userSignature, deviceId };
    this.#events = new EventSender({
      ...viewer,
      sessionId: this.#sessionId,
      storage: localEventStorage(`reelfeed.events.${publishableKey.slice(-8)}`),
    });
    this.#player = this.#makePlayer(createReelfeed({ ...viewer, device: 'web' }));
    this.#screens.hide();
    this.#showPlace();
    this.#start();
  }

  #makePlayer(client: Reelfeed): Player {
    const { host, root, texts, ownsPage, tags, section, getToken, tracked } = this.#options;
    const { userId, userSignature, contentId, axis, articleCard, slideShown, entryPoint } =
      this.#options;
    const ask: GetToken = (item) => (getToken() ?? (({ id }) => client.playbackToken(id)))(item);
    return new Player({
      host,
      root: find(root, '#feed', HTMLElement),
      slideTemplate: find(root, '#slide-template', HTMLTemplateElement),
      chrome: this.#chrome,
      texts,
      device: this.#device,
      preferences: new Preferences(this.#device),
      likes: new Marks(this.#device, 'likes', userId),
      saves: new Marks(this.#device, 'saves', userId),
      recall: userId === null || userSignature === null ? null : (ids) => client.reactions(ids),
      contentId,
      axis,
      articleCard,
      slideShown,
      entryPoint,
      permissions: new Permissions(ask),
      client,
      query: {
        ...(tags.length > 0 && { tags }),
        ...(section !== null && { section }),
      },
      sessionId: this.#sessionId,
      ownsPage,
      addressOf: (id) => this.#addressOf(id),
      track: (event) => {
        this.#events?.track(event);
        tracked(event);
      },
      listChanged: (list) => this.#onList(list),
    });
  }

  #start(): void {
    void this.#player?.restart(this.#linkedItem());
  }

  #linkedItem(): string | null {
    return this.#options.ownsPage ? itemInAddress() : this.#options.start;
  }

  #addressOf(id: string): string {
    const { shareUrl, ownsPage, serviceUrl } = this.#options;
    const name = encodeURIComponent(id);
    if (shareUrl !== null) return new URL(shareUrl.replaceAll('{id}', name), location.href).href;
    const page = ownsPage ? `${location.origin}${location.pathname}` : `${serviceUrl.href}feed`;
    return `${page}#${name}`;
  }

  /** Plays only while visible: half of the element, on a page that is not hidden. */
  #showPlace(): void {
    this.#player?.setHidden(!this.#visibility.isVisible);
  }

  #listenToPage(): void {
    const { host, ownsPage } = this.#options;
    const { signal } = this.#end;
    const withPlayer = (act: (player: Player) => void) => (): void => {
      if (this.#player !== null) act(this.#player);
    };
    listenToKeys(
      ownsPage ? document : host,
      {
        step: (offset) => this.#player?.step(offset),
        seekBy: (seconds) => this.#player?.seekBy(seconds),
        togglePlay: withPlayer((player) => player.togglePlay()),
        toggleMute: withPlayer((player) => player.toggleMute()),
        toggleLike: withPlayer((player) => player.toggleLike()),
        toggleSave: withPlayer((player) => player.toggleSave()),
        toggleCaptions: withPlayer((player) => player.toggleCaptions()),
        share: withPlayer((player) => player.share()),
        toggleFullScreen: withPlayer((player) => player.toggleFullScreen()),
      },
      { signal, swipeKeys: () => this.#swipeKeys },
    );
    window.addEventListener(
      'offline',
      withPlayer(({ list }) => this.#showNetwork(list)),
      { signal },
    );
    window.addEventListener(
      'online',
      withPlayer((player) => {
        this.#showNetwork(player.list);
        void player.reconnect();
      }),
      { signal },
    );
    if (ownsPage) window.addEventListener('hashchange', () => this.#start(), { signal });
  }

  /** In a vertical feed, the left and right arrow keys control the clip. */
  get #swipeKeys(): { before: string; after: string } {
    const { axis, root } = this.#options;
    if (axis === 'vertical') return { before: '', after: '' };
    const isTurned = isRightToLeft(find(root, '.root', HTMLElement));
    const [before, after] = isTurned ? ['ArrowRight', 'ArrowLeft'] : ['ArrowLeft', 'ArrowRight'];
    return { before, after };
  }

  /** Viewers can enter a key only on the service's own page. */
  #askForKey(problem: string | null): void {
    this.#closeFeed();
    const { ownsPage, texts } = this.#options;
    if (!ownsPage) {
      this.#chrome.showNotice(problem ?? texts.keyMissing);
      return;
    }
    forgetKey(this.#tab);
    this.#screens.showKeyForm(problem, (publishableKey) => {
      keepKey(this.#tab, publishableKey);
      this.#open(publishableKey);
    });
  }

  /** Shows the screens and notices for the state of the list. */
  #onList(list: FeedList): void {
    clearTimeout(this.#emptyTimer);
    this.#showNetwork(list);
    const { phase } = list;
    if (list.slides.length > 0) {
      this.#screens.hide();
      this.#emptyPollMs = firstEmptyPollMs;
      return;
    }
    if (phase.name === 'refused') this.#onRefused(list);
    if (phase.name === 'ended') {
      const { ownsPage, serviceUrl } = this.#options;
      const command = ownsPage ? uploadCommand(serviceUrl.href) : null;
      this.#screens.showEmpty(command, (text) => void this.#copyCommand(text));
      if (this.#options.contentId !== null) return;
      this.#emptyTimer = setTimeout(() => this.#start(), this.#emptyPollMs);
      this.#emptyPollMs = Math.min(longestEmptyPollMs, this.#emptyPollMs * 2);
    }
  }

  #onRefused({ phase }: FeedList): void {
    if (phase.name !== 'refused') return;
    const { error } = phase;
    const { ownsPage, texts } = this.#options;
    if (ownsPage && (error.status === 401 || error.status === 403)) {
      this.#askForKey(texts.keyRefused(error.code, error.message));
      return;
    }
    const retry = (): void => {
      this.#screens.hide();
      this.#start();
    };
    this.#screens.showFailure(error, retry, ownsPage ? () => this.#askForKey(null) : null);
  }

  #showNetwork({ phase }: FeedList): void {
    const { texts } = this.#options;
    if (!navigator.onLine) this.#chrome.showNotice(texts.offline);
    else if (phase.name === 'waiting') this.#chrome.showNotice(texts.reconnecting);
    else if (phase.name === 'refused') this.#chrome.showNotice(phase.error.message);
    else this.#chrome.showNotice(null);
  }

  async #copyCommand(command: string): Promise<void> {
    const { texts } = this.#options;
    this.#chrome.showToast((await copyText(command)) ? texts.commandCopied : texts.linkFailed);
  }
}
