import { ActiveBroadcast } from './active-broadcast.ts';
import { showCaptions } from '../slide/captions.ts';
import { Column } from './column.ts';
import { Conditions } from '../playback/conditions.ts';
import { FeedList, type Slide, Viewing } from '@reelfeed/client/playing';
import { FeedPages } from './feed-pages.ts';
import { type ItemView, type SlideActions } from '../slide/item-view.ts';
import { type KeyActions } from './keyboard.ts';
import { menuActions } from '../menu/menu-actions.ts';
import { type MenuActions } from '../menu/menu-loader.ts';
import { type Playback, type PlaybackSource } from '../playback/playback.ts';
import { PlayerPool } from '../playback/player-pool.ts';
import { type PlayerOptions } from './player-options.ts';
import { Reactions } from './reactions.ts';
import { endCard } from './screens.ts';
import { fill } from '../menu/screens-of-device.ts';
import { makeSlideView, sourceOf } from './slide-views.ts';
import { Unplayable } from './unplayable.ts';

/** Number of slides after which the unmute button shrinks. */
const silentSlides = 2;
/** Beyond this many slides, the oldest are dropped once the viewer is far past them. */
const keptSlides = 300;
const droppedSlides = 100;

/**
 * Connects the list, the column and the players: what plays, what is loaded next, and what the
 * viewer does.
 */
export class Player implements SlideActions, KeyActions {
  readonly list: FeedList;
  readonly #options: PlayerOptions;
  readonly #column: Column;
  readonly #pool: PlayerPool;
  readonly #end: HTMLElement;
  readonly #viewing: Viewing;
  readonly #reactions: Reactions;
  readonly #conditions: Conditions;
  readonly #pages: FeedPages;
  #shownId: string | null = null;
  #waitsForStart = false;
  #frame = 0;
  readonly #broadcast: ActiveBroadcast;
  readonly #unplayable: Unplayable;
  /** Nothing plays and nothing is reported until the page says that the element is visible. */
  #hidden = true;

  constructor(options: PlayerOptions) {
    this.#options = options;
    this.#viewing = new Viewing(options.track);
    this.#reactions = new Reactions(options, this.#viewing);
    this.#pages = new FeedPages(options, {
      noteFeed: (feedId) => this.#viewing.noteFeed(feedId),
      recall: (ids) => void this.#reactions.recall(ids, () => this.#column.views),
    });
    this.#conditions = new Conditions(options.device, options.preferences);
    this.#pool = new PlayerPool(this.#conditions, (playback) => this.#onPlayback(playback));
    this.#end = endCard(
      options.texts,
      () => void this.restart(null),
      () => {
        this.#column.jump(0);
        this.#show();
      },
    );
    this.#column = new Column(options.root, {
      axis: options.axis,
      ownsPage: options.ownsPage,
      makeView: (article, slide) =>
        makeSlideView(article, slide, {
          options,
          actions: this,
          reactions: this.#reactions,
          conditions: this.#conditions,
        }),
      broken: (slide, error) => this.#unplayable.remove(slide, error),
      moved: () => this.#show(true),
      settled: () => this.#dropOldSlides(),
    });
    this.list = new FeedList(
      (cursor, signal) => this.#pages.read(cursor, signal),
      () => this.#onList(),
      (item, error) => this.#unplayable.report(item, error),
      true,
    );
    const parts = { column: this.#column, list: this.list };
    this.#unplayable = new Unplayable({ ...parts, texts: options.texts, viewing: this.#viewing });
    this.#broadcast = new ActiveBroadcast({
      ...parts,
      client: options.client,
      pool: this.#pool,
      retry: () => this.retry(),
    });
    this.#drawPosition();
  }

  /** Reads the feed from the start, with the item `linkedId` first. */
  async restart(linkedId: string | null): Promise<void> {
    await this.list.restart(this.#pages.readLinked(linkedId));
  }

  /** Stops everything. The player can't be used afterwards. */
  close(): void {
    cancelAnimationFrame(this.#frame);
    this.#unplayable.stay();
    this.#broadcast.pause();
    this.#viewing.pause();
    this.list.stop();
    this.#pool.close();
    this.#column.close();
  }

  step(offset: number): void {
    this.#column.step(offset);
  }

  canStep(offset: number): boolean {
    return this.#column.canStep(offset);
  }

  togglePlay(): void {
    this.#pool.togglePlay();
  }

  toggleMute(): void {
    this.#pool.setMuted(!this.#pool.muted);
    this.#options.preferences.hasSound = !this.#pool.muted;
    this.#showSound();
  }

  toggleLike(): void {
    if (this.#view !== null) this.#reactions.toggleLike(this.#view);
  }

  toggleSave(): void {
    if (this.#view !== null) this.#reactions.toggleSave(this.#view);
  }

  toggleCaptions(): void {
    const { preferences } = this.#options;
    preferences.hasCaptions = !preferences.hasCaptions;
    this.#showCaptions();
  }

  share(): void {
    const slide = this.#column.slideAt(0);
    if (slide !== null) void this.#reactions.share(slide);
  }

  toggleFullScreen(): void {
    const video = this.#pool.active?.video;
    if (video !== undefined) fill(this.#options.host, video);
  }

  seekBy(seconds: number): void {
    this.#pool.seekBy(seconds);
  }

  seekTo(fraction: number): void {
    this.#pool.seekTo(fraction);
  }

  /** Loads the watched clip again after it failed. */
  retry(): void {
    this.#unplayable.stay();
    const source = this.#source(0);
    if (source !== null) this.#pool.retry(source);
  }

  goLive(): void {
    this.#pool.active?.goToLatest();
    this.#pool.active?.play();
  }

  skip(): void {
    this.#column.step(1);
  }

  /**
   * Must be called when the element becomes hidden or visible. While it is hidden, nothing plays.
   */
  setHidden(hidden: boolean): void {
    if (hidden === this.#hidden) return;
    this.#hidden = hidden;
    if (hidden) {
      this.#pool.suspend();
      this.#view?.pictures?.stop();
      this.#viewing.pause();
      this.#broadcast.pause();
      return;
    }
    this.#pool.resume();
    this.#show();
  }

  /** Must be called when the network is back. Retries what failed without it. */
  async reconnect(): Promise<void> {
    if (this.#pool.active?.state === 'failed') this.retry();
    await this.list.retry();
  }

  /** The menu actions of the active slide. */
  get menu(): MenuActions {
    return menuActions(this.#options, this.#pool, this.#reactions, () => this.#column.slideAt(0));
  }

  get #view(): ItemView | null {
    return this.#column.view(this.#column.slideAt(0)?.id);
  }

  #onList(): void {
    const { slides, phase } = this.list;
    this.#options.root.setAttribute('aria-busy', String(phase.name === 'loading'));
    const isFeed = this.#options.contentId === null;
    const hasEnd = isFeed && phase.name === 'ended' && slides.length > 0;
    this.#column.update(slides, hasEnd ? this.#end : null);
    this.#show();
    this.#options.listChanged(this.list);
  }

  /** Updates players, buttons and focus for the column's current slide. */
  #show(isSwipe = false): void {
    this.#unplayable.stay();
    for (const view of this.#column.views) view.pictures?.stop();
    const slide = this.#column.slideAt(0);
    // A clip that was playing when the element was hidden keeps its position.
    const waits = this.#hidden && this.#pool.active === null;
    this.#pool.show({
      previous: waits ? null : this.#source(-1),
      active: waits ? null : this.#source(0),
      next: this.#source(waits ? 0 : 1),
    });
    if (!this.#hidden) this.#watch(slide, isSwipe);
    if (this.#hidden) this.#broadcast.pause();
    else this.#broadcast.follow();
    this.#prepareNeighbours();
    this.#showSound();
    this.#showCaptions();
    this.#showSteps();
    const { active } = this.#pool;
    if (active?.state === 'failed') this.#unplayable.showFailed(active);
    this.#column.takeFocus();
    void this.list.need(this.#column.index);
  }

  /** Records which slide the viewer sees now, or null for none. */
  #watch(slide: Slide | null, isSwipe: boolean): void {
    const { ownsPage } = this.#options;
    const position = this.list.droppedCount + this.#column.index;
    const entryPoint = this.#pages.entryPointOf(slide);
    this.#viewing.show(slide, { position, entryPoint, isSwipe });
    if (slide !== null && slide.id !== this.#shownId) this.#options.slideShown(slide.item);
    this.#shownId = slide?.id ?? null;
    if (slide === null) return;
    this.#view?.pictures?.turnEvery(slide.item.autoScrollInterval);
    if (ownsPage) document.title = `${slide.item.title} · ${this.#options.texts.brand}`;
  }

  /** Other slides load nothing until the watched clip plays. */
  #prepareNeighbours(): void {
    this.#view?.loadPictures();
    this.#waitsForStart = !this.#pool.mayPrepare;
    if (this.#waitsForStart) return;
    this.#pool.prepare();
    for (const view of this.#column.views) view.loadPictures();
  }

  #showSound(): void {
    for (const view of this.#column.views) view.showMuted(this.#pool.muted);
    this.#options.chrome.showUnmute(this.#pool.muted && this.#pool.active !== null);
  }

  #showCaptions(): void {
    const { hasCaptions } = this.#options.preferences;
    const video = this.#pool.active?.video;
    if (video !== undefined) showCaptions(video, hasCaptions);
    this.#view?.showCaptions(hasCaptions);
  }

  #showSteps(): void {
    const { chrome } = this.#options;
    chrome.showSteps(this.#column.steps);
    if (this.#column.index >= silentSlides) chrome.shrinkUnmute();
  }

  #onPlayback(playback: Playback): void {
    if (playback !== this.#pool.active) {
      if (playback.state === 'failed') this.#unplayable.dropAhead(playback);
      return;
    }
    if (playback.state === 'failed') this.#unplayable.showFailed(playback);
    if (playback.isBroadcast && playback.video.ended) this.#broadcast.awaitRecording();
    // The browser may have muted the clip, which is known only once playback starts.
    if (playback.state === 'playing') this.#showSound();
  }

  #dropOldSlides(): void {
    if (this.list.slides.length <= keptSlides || this.#column.index < droppedSlides * 2) return;
    this.list.dropFirst(droppedSlides);
    this.#onList();
  }

  #source(offset: number): PlaybackSource | null {
    const slide = this.#column.slideAt(offset);
    return sourceOf(this.#column.view(slide?.id), this.#options.permissions);
  }

  #drawPosition(): void {
    this.#frame = requestAnimationFrame(() => this.#drawPosition());
    const playback = this.#pool.active;
    if (this.#waitsForStart) this.#prepareNeighbours();
    if (playback === null || this.#hidden) return;
    this.#viewing.measure(playback.sample(performance.now()));
    const { currentTime, duration } = playback.video;
    const bufferedSeconds = currentTime + playback.bufferedAheadSeconds;
    this.#view?.showBehind(playback.isBehind);
    this.#view?.seekBar.show(currentTime, duration, bufferedSeconds);
  }
}
