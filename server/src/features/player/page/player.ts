import { type EngagementEvent, type Reelfeed } from '@reelfeed/client';
import { showCaptions } from './captions.ts';
import { showSteps, showToast, showUnmute, shrinkUnmute } from './chrome.ts';
import { Column } from './column.ts';
import { FeedList } from './feed-list.ts';
import { listenToTaps } from './gestures.ts';
import { ItemView, type SlideActions } from './item-view.ts';
import { type KeyActions } from './keyboard.ts';
import { type Likes } from './likes.ts';
import { LinkedSearch } from './linked-search.ts';
import { turnPictures } from './pictures.ts';
import { type Playback, type PlaybackSource } from './playback.ts';
import { PlayerPool } from './player-pool.ts';
import { endCard } from './screens.ts';
import { linkedItem, shareItem } from './share.ts';
import { type Slide } from './slides.ts';
import { strings } from './strings.ts';
import { Viewing } from './viewing.ts';

const pageSize = 10;
/** A clip that cannot be played is left after this time, unless the viewer acts before. */
const skipBrokenMs = 4000;
/** Slides watched before the offer of sound makes itself small. */
const silentSlides = 2;
/** Beyond this many slides the oldest are let go of, all of them far behind the viewer. */
const keptSlides = 300;
const droppedSlides = 100;

export interface PlayerOptions {
  readonly root: HTMLElement;
  readonly likes: Likes;
  /** The client to read pages with; asked for each page, because the key can change. */
  readonly client: () => Reelfeed;
  readonly sessionId: string;
  /** Takes what the viewer does, for the service. */
  readonly track: (event: EngagementEvent) => void;
  /** Called after each change of the list, when the column shows it. */
  readonly listChanged: (list: FeedList) => void;
}

/** Brings list, column and players together: what is watched, what comes next, what the viewer does. */
export class Player implements SlideActions, KeyActions {
  readonly list: FeedList;
  readonly #options: PlayerOptions;
  readonly #column: Column;
  readonly #pool: PlayerPool;
  readonly #end: HTMLElement;
  readonly #viewing: Viewing;
  readonly #search = new LinkedSearch();
  #captions = false;
  #skipTimer: ReturnType<typeof setTimeout> | undefined;
  #stopTurning = (): void => {};

  constructor(options: PlayerOptions) {
    this.#options = options;
    this.#viewing = new Viewing(options.track);
    this.#pool = new PlayerPool((playback) => this.#onPlayback(playback));
    this.#end = endCard(
      () => void this.restart(null),
      () => this.#goToFirst(),
    );
    this.#column = new Column(options.root, {
      makeView: (article, slide) => this.#makeView(article, slide),
      moved: () => this.#show(true),
      settled: () => this.#dropOldSlides(),
    });
    this.list = new FeedList(
      async (cursor, signal) => {
        const { sessionId, client } = options;
        const page = await client().feed({ limit: pageSize, cursor, sessionId, signal });
        this.#search.countPage();
        this.#viewing.noteFeed(page.feedId);
        return page;
      },
      () => this.#onList(),
    );
    this.#drawPosition();
  }

  /** Reads the feed from its beginning; starts at `linkedId` when its first pages hold that item. */
  async restart(linkedId: string | null): Promise<void> {
    this.#search.begin(linkedId);
    await this.list.restart();
  }

  step(offset: number): void {
    this.#column.step(offset);
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

  toggleCaptions(): void {
    this.#captions = !this.#captions;
    this.#showCaptions();
  }

  share(): void {
    const slide = this.#column.slideAt(0);
    if (slide === null) return;
    void shareItem(slide.id, slide.item.title).then((result) => {
      if (result === 'copied') showToast(strings.linkCopied);
      if (result === 'failed') showToast(strings.linkFailed);
      if (result === 'copied') this.#viewing.share(slide.id, 'clipboard');
      if (result === 'shared') this.#viewing.share(slide.id, 'device');
    });
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

  /** The window is hidden or shown again: nobody watches, nothing plays. */
  setHidden(hidden: boolean): void {
    if (!hidden) {
      this.#pool.resume();
      return;
    }
    this.#pool.suspend();
    this.#viewing.pause();
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
      showToast(strings.linkedClipMissing);
    }
  }

  /** Puts players, buttons and focus where the column is. */
  #show(isSwipe = false): void {
    clearTimeout(this.#skipTimer);
    this.#stopTurning();
    const slide = this.#column.slideAt(0);
    const position = this.list.droppedCount + this.#column.index;
    this.#viewing.show(slide, { position, isLinked: slide?.id === linkedItem(), isSwipe });
    this.#pool.show({
      previous: this.#source(-1),
      active: this.#source(0),
      next: this.#source(1),
    });
    this.#showSound();
    this.#showCaptions();
    this.#showSteps();
    this.#stopTurning = turnPictures(slide, this.#view?.pictures ?? null);
    if (this.#pool.active?.state === 'failed') this.#onFailed();
    if (slide !== null) document.title = `${slide.item.title} · Reelfeed`;
    this.#column.takeFocus();
    void this.list.need(this.#column.index);
  }

  #showSound(): void {
    for (const view of this.#column.views) view.showMuted(this.#pool.muted);
    showUnmute(this.#pool.muted && this.#pool.active !== null);
  }

  #showCaptions(): void {
    const video = this.#pool.active?.video;
    if (video !== undefined) showCaptions(video, this.#captions);
    this.#view?.showCaptions(this.#captions);
  }

  #showSteps(): void {
    const { index, lastIndex, slideCount } = this.#column;
    showSteps(slideCount === 0 ? null : { previous: index > 0, next: index < lastIndex });
    if (index >= silentSlides) shrinkUnmute();
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
    const offline = !navigator.onLine;
    this.#view?.showProblem(offline ? strings.offlineClip : strings.brokenClip);
    clearTimeout(this.#skipTimer);
    if (!offline) this.#skipTimer = setTimeout(() => this.skip(), skipBrokenMs);
  }

  /** A clip that already failed while it was prepared is not shown at all. */
  #dropBroken({ id, failure }: Playback): void {
    const isAhead = id !== null && this.#column.slideAt(1)?.id === id;
    if (!isAhead || !navigator.onLine) return;
    if (failure !== null) this.#viewing.failAhead(id, failure);
    // Changing the list here would run inside the very change that is being reported.
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
    return { id: slide.id, streamingUrl: slide.media.streamingUrl, view };
  }

  #makeView(article: HTMLElement, slide: Slide): ItemView {
    const view = new ItemView(article, slide, this);
    const { likes } = this.#options;
    view.showLiked(likes.has(slide.id), likes.countOf(slide.item));
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
    requestAnimationFrame(() => this.#drawPosition());
    const playback = this.#pool.active;
    if (playback === null) return;
    this.#viewing.measure(playback);
    const { currentTime, duration } = playback.video;
    const bufferedSeconds = currentTime + playback.bufferedAheadSeconds;
    this.#view?.seekBar.show(currentTime, duration, bufferedSeconds);
  }
}
