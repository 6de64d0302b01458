import { type EngagementEvent, type FeedQuery, type Reelfeed } from '@reelfeed/client';
import { showCaptions } from './captions.ts';
import { type Chrome } from './chrome.ts';
import { Column } from './column.ts';
import { FeedList } from './feed-list.ts';
import { listenToTaps } from './gestures.ts';
import { ItemView, type SlideActions } from './item-view.ts';
import { type KeyActions } from './keyboard.ts';
import { LinkedSearch } from './linked-search.ts';
import { type Marks } from './marks.ts';
import { type Permissions } from './permissions.ts';
import { describe, type Playback, type PlaybackSource } from './playback.ts';
import { PlayerPool } from './player-pool.ts';
import { endCard } from './screens.ts';
import { shareItem } from './share.ts';
import { type Refusal } from './slide-menu.ts';
import { webAddress, type Slide } from './slides.ts';
import { type Texts } from './texts.ts';
import { Viewing } from './viewing.ts';

const pageSize = 10;
/** A clip that cannot be played is left after this time, unless the viewer acts before. */
const skipBrokenMs = 4000;
/** Slides watched before the offer of sound makes itself small. */
const silentSlides = 2;
/** Beyond this many slides the oldest are let go of, all of them far behind the viewer. */
const keptSlides = 300;
const droppedSlides = 100;

export type PlayerOptions = {
  readonly root: HTMLElement;
  readonly slideTemplate: HTMLTemplateElement;
  readonly chrome: Chrome;
  readonly texts: Texts;
  readonly likes: Marks;
  readonly saves: Marks;
  readonly permissions: Permissions;
  readonly client: Reelfeed;
  readonly query: Pick<FeedQuery, 'tags' | 'section'>;
  readonly sessionId: string;
  /** The element is the whole page: it may take the focus, and name the page. */
  readonly ownsPage: boolean;
  /** The item that a link has named, if it was one. */
  readonly linkedItem: () => string | null;
  /** The address that opens one item. */
  readonly addressOf: (contentId: string) => string;
  /** Takes what the viewer does, for the service. */
  readonly track: (event: EngagementEvent) => void;
  /** Called after each change of the list, when the column shows it. */
  readonly listChanged: (list: FeedList) => void;
};

/** Brings list, column and players together: what is watched, what comes next, what the viewer does. */
export class Player implements SlideActions, KeyActions {
  readonly list: FeedList;
  readonly #options: PlayerOptions;
  readonly #column: Column;
  readonly #pool: PlayerPool;
  readonly #end: HTMLElement;
  readonly #viewing: Viewing;
  readonly #search = new LinkedSearch();
  /** Ids of what could not be shown; each is told once. */
  readonly #broken = new Set<string>();
  #captions = false;
  #skipTimer: ReturnType<typeof setTimeout> | undefined;
  #frame = 0;
  /** Until the page says that the element is in sight, nothing plays and nothing is told. */
  #hidden = true;

  constructor(options: PlayerOptions) {
    this.#options = options;
    this.#viewing = new Viewing(options.track);
    this.#pool = new PlayerPool((playback) => this.#onPlayback(playback));
    this.#end = endCard(
      options.texts,
      () => void this.restart(null),
      () => this.#goToFirst(),
    );
    this.#column = new Column(options.root, {
      ownsPage: options.ownsPage,
      makeView: (article, slide) => this.#makeView(article, slide),
      broken: (slide, error) => {
        this.#onBroken(slide, error);
        this.#removeSoon(slide.id);
      },
      moved: () => this.#show(true),
      settled: () => this.#dropOldSlides(),
    });
    this.list = new FeedList(
      async (cursor, signal) => {
        const { sessionId, client, query } = options;
        const page = await client.feed({ ...query, limit: pageSize, cursor, sessionId, signal });
        this.#search.countPage();
        this.#viewing.noteFeed(page.feedId);
        return page;
      },
      () => this.#onList(),
      (item, error) => this.#onBroken(item, error),
    );
    this.#drawPosition();
  }

  /** Reads the feed from its beginning; starts at `linkedId` when its first pages hold that item. */
  async restart(linkedId: string | null): Promise<void> {
    this.#search.begin(linkedId);
    await this.list.restart();
  }

  /** Ends everything that runs; the player can't be used again. */
  close(): void {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#skipTimer);
    this.#viewing.pause();
    this.list.stop();
    this.#pool.close();
    this.#column.close();
  }

  step(offset: number): void {
    this.#column.step(offset);
  }

  /** Whether a step leads anywhere. */
  canStep(offset: number): boolean {
    const target = this.#column.index + offset;
    return target >= 0 && target <= this.#column.lastIndex;
  }

  togglePlay(): void {
    this.#pool.togglePlay();
  }

  toggleMute(): void {
    this.#pool.setMuted(!this.#pool.muted);
    this.#showSound();
  }

  toggleLike(): void {
    const slide = this.#column.slideAt(0);
    if (slide === null) return;
    const { likes } = this.#options;
    const liked = likes.toggle(slide.item);
    this.#view?.showLiked(liked, likes.countOf(slide.item));
    this.#viewing.like(slide.item, liked);
  }

  toggleSave(): void {
    const slide = this.#column.slideAt(0);
    if (slide === null) return;
    const { saves } = this.#options;
    const saved = saves.toggle(slide.item);
    this.#view?.showSaved(saved, saves.countOf(slide.item));
    this.#viewing.save(slide.item, saved);
  }

  toggleCaptions(): void {
    this.#captions = !this.#captions;
    this.#showCaptions();
  }

  share(): void {
    const slide = this.#column.slideAt(0);
    if (slide === null) return;
    const { chrome, texts, addressOf } = this.#options;
    void shareItem(addressOf(slide.id), slide.item.title).then((result) => {
      if (result === 'copied') chrome.showToast(texts.linkCopied);
      if (result === 'failed') chrome.showToast(texts.linkFailed);
      if (result === 'copied') this.#viewing.share(slide.id, 'clipboard');
      if (result === 'shared') this.#viewing.share(slide.id, 'device');
    });
  }

  refuse(refusal: Refusal, isSet: boolean): void {
    const slide = this.#column.slideAt(0);
    if (slide === null) return;
    const { chrome, texts } = this.#options;
    if (refusal === 'report') this.#viewing.report(slide.item, texts.reportReason, isSet);
    else this.#viewing.refuse(slide.item, refusal, isSet);
    if (!isSet) chrome.showToast(texts.takenBack);
    else chrome.showToast(refusal === 'report' ? texts.reported : texts.refused);
  }

  seekBy(seconds: number): void {
    this.#pool.seekBy(seconds);
  }

  seekTo(fraction: number): void {
    this.#pool.seekTo(fraction);
  }

  /** Loads the watched clip again after it failed. */
  retry(): void {
    clearTimeout(this.#skipTimer);
    const source = this.#source(0);
    if (source !== null) this.#pool.retry(source);
  }

  skip(): void {
    this.#column.step(1);
  }

  /** The element is out of sight or back: out of sight nobody watches, and nothing plays. */
  setHidden(hidden: boolean): void {
    if (hidden === this.#hidden) return;
    this.#hidden = hidden;
    if (hidden) {
      this.#pool.suspend();
      this.#view?.pictures?.stop();
      this.#viewing.pause();
      return;
    }
    this.#pool.resume();
    this.#show();
  }

  /** The network is back: what failed for want of it is tried again. */
  async reconnect(): Promise<void> {
    if (this.#pool.active?.state === 'failed') this.retry();
    await this.list.retry();
  }

  get #view(): ItemView | null {
    return this.#column.view(this.#column.slideAt(0)?.id);
  }

  #onList(): void {
    const { slides, phase } = this.list;
    this.#options.root.setAttribute('aria-busy', String(phase.name === 'loading'));
    const hasEnd = phase.name === 'ended' && slides.length > 0;
    this.#column.update(slides, hasEnd ? this.#end : null);
    this.#findLinked();
    this.#show();
    this.#options.listChanged(this.list);
  }

  /** Jumps to the item of a shared link, reading on for a few pages until it comes. */
  #findLinked(): void {
    const step = this.#search.step(this.list);
    if (step.name === 'found') this.#column.jump(step.index);
    if (step.name === 'read on') void this.list.need(this.list.slides.length);
    if (step.name === 'missing' && this.list.slides.length > 0) {
      this.#options.chrome.showToast(this.#options.texts.linkedClipMissing);
    }
  }

  /** Puts players, buttons and focus where the column is. */
  #show(isSwipe = false): void {
    clearTimeout(this.#skipTimer);
    for (const view of this.#column.views) view.pictures?.stop();
    const slide = this.#column.slideAt(0);
    // What was playing when the element was hidden stays where it is.
    const waits = this.#hidden && this.#pool.active === null;
    this.#pool.show({
      previous: waits ? null : this.#source(-1),
      active: waits ? null : this.#source(0),
      next: this.#source(waits ? 0 : 1),
    });
    if (!this.#hidden) this.#watch(slide, isSwipe);
    this.#showSound();
    this.#showCaptions();
    this.#showSteps();
    if (this.#pool.active?.state === 'failed') this.#onFailed();
    this.#column.takeFocus();
    void this.list.need(this.#column.index);
  }

  /** A slide is before the viewer's eyes. */
  #watch(slide: Slide | null, isSwipe: boolean): void {
    const { linkedItem, ownsPage } = this.#options;
    const position = this.list.droppedCount + this.#column.index;
    const isLinked = slide !== null && slide.id === linkedItem();
    this.#viewing.show(slide, { position, isLinked, isSwipe });
    if (slide === null) return;
    this.#view?.pictures?.turnEvery(slide.item.autoScrollInterval);
    if (ownsPage) document.title = `${slide.item.title} · ${this.#options.texts.brand}`;
  }

  #showSound(): void {
    for (const view of this.#column.views) view.showMuted(this.#pool.muted);
    this.#options.chrome.showUnmute(this.#pool.muted && this.#pool.active !== null);
  }

  #showCaptions(): void {
    const video = this.#pool.active?.video;
    if (video !== undefined) showCaptions(video, this.#captions);
    this.#view?.showCaptions(this.#captions);
  }

  #showSteps(): void {
    const { index, lastIndex, slideCount } = this.#column;
    const { chrome } = this.#options;
    chrome.showSteps(slideCount === 0 ? null : { previous: index > 0, next: index < lastIndex });
    if (index >= silentSlides) chrome.shrinkUnmute();
  }

  #onPlayback(playback: Playback): void {
    if (playback !== this.#pool.active) {
      if (playback.state === 'failed') this.#dropBroken(playback);
      return;
    }
    if (playback.state === 'failed') this.#onFailed();
    // The browser may have taken the sound back, which only shows when playing begins.
    if (playback.state === 'playing') this.#showSound();
  }

  #onFailed(): void {
    this.#viewing.fail(this.#pool.active?.failure ?? null);
    const { texts } = this.#options;
    const offline = !navigator.onLine;
    const locked = this.#column.slideAt(0)?.item.protected === true;
    const broken = locked ? texts.lockedClip : texts.brokenClip;
    this.#view?.showProblem(offline ? texts.offlineClip : broken);
    clearTimeout(this.#skipTimer);
    if (!offline) this.#skipTimer = setTimeout(() => this.skip(), skipBrokenMs);
  }

  /** A clip that already failed while it was prepared is not shown at all. */
  #dropBroken({ id, failure }: Playback): void {
    const isAhead = id !== null && this.#column.slideAt(1)?.id === id;
    if (!isAhead || !navigator.onLine) return;
    if (failure !== null) this.#viewing.failAhead(id, failure);
    this.#removeSoon(id);
  }

  /** Nothing can be shown of an item. It is told as a clip is that does not play; the others stay. */
  #onBroken({ id }: { readonly id: string }, error: unknown): void {
    if (this.#broken.has(id)) return;
    this.#broken.add(id);
    this.#viewing.failAhead(id, describe(error));
  }

  /** Changing the list at once would run inside the very change that is being reported. */
  #removeSoon(id: string): void {
    setTimeout(() => this.list.remove(id), 0);
  }

  #dropOldSlides(): void {
    if (this.list.slides.length <= keptSlides || this.#column.index < droppedSlides * 2) return;
    this.list.dropFirst(droppedSlides);
    this.#onList();
  }

  #goToFirst(): void {
    this.#column.jump(0);
    this.#show();
  }

  #source(offset: number): PlaybackSource | null {
    const slide = this.#column.slideAt(offset);
    const view = this.#column.view(slide?.id);
    if (slide === null || view === null || slide.media.kind !== 'video') return null;
    const { url } = slide.media;
    const address = async (): Promise<string> => url ?? this.#permittedUrl(slide, view);
    return { id: slide.id, isBroadcast: slide.item.isLive, address, view };
  }

  /** Where a protected clip can be watched now. Throws when that is not permitted. */
  async #permittedUrl({ item }: Slide, view: ItemView): Promise<string> {
    const permission = await this.#options.permissions.of(item);
    const url = webAddress(permission.streamingUrl);
    if (url === null) throw new Error('The permission names no address.');
    view.permit(permission);
    return url;
  }

  #makeView(article: HTMLElement, slide: Slide): ItemView {
    const { likes, saves, texts, slideTemplate: template, permissions } = this.#options;
    const view = new ItemView(article, slide, { actions: this, template, texts });
    view.showLiked(likes.has(slide.id), likes.countOf(slide.item));
    view.showSaved(saves.has(slide.id), saves.countOf(slide.item));
    if (view.pictures !== null && slide.item.protected) {
      permissions.of(slide.item).then(
        (permission) => view.permit(permission),
        () => view.showRefusal(),
      );
    }
    listenToTaps(
      view.surface,
      () => this.togglePlay(),
      () => {
        if (!likes.has(slide.id)) this.toggleLike();
        view.burst();
      },
    );
    return view;
  }

  #drawPosition(): void {
    this.#frame = requestAnimationFrame(() => this.#drawPosition());
    const playback = this.#pool.active;
    if (playback === null || this.#hidden) return;
    this.#viewing.measure(playback);
    const { currentTime, duration } = playback.video;
    const bufferedSeconds = currentTime + playback.bufferedAheadSeconds;
    this.#view?.seekBar.show(currentTime, duration, bufferedSeconds);
  }
}
