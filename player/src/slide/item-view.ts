import { type FeedItem } from '@reelfeed/client';
import { ActionButtons, type ItemActions } from './action-buttons.ts';
import { showArticle } from './article-link.ts';
import { attachCaptions } from './captions.ts';
import { element, find, setName } from '../page/dom.ts';
import { fillsFrame, formatCount, formatStart } from './format.ts';
import { type Permission } from '../playback/permissions.ts';
import { Pictures } from './pictures.ts';
import { type PlaybackState, type PlaybackView } from '../playback/playback.ts';
import { SeekBar } from './seek-bar.ts';
import { Thumbnail } from './thumbnail.ts';
import { type ArticleCard } from '../types.ts';
import { type Slide } from '@reelfeed/client/playing';
import { type Texts } from '../texts.ts';

/** Actions on the active slide. Other slides are inert. */
export type SlideActions = ItemActions & {
  togglePlay(): void;
  retry(): void;
  skip(): void;
  seekTo(fraction: number): void;
  goLive(): void;
};

/** One slide in the column: its texts, its buttons and the area for its media. */
export class ItemView implements PlaybackView {
  readonly slide: Slide;
  readonly surface: HTMLButtonElement;
  readonly seekBar: SeekBar;
  /** Null for a video. */
  readonly pictures: Pictures | null;
  readonly #article: HTMLElement;
  readonly #media: HTMLElement;
  readonly #thumbnail: Thumbnail;
  readonly #buttons: ActionButtons;
  readonly #texts: Texts;
  #video: HTMLVideoElement | null = null;
  #permission: Permission | null = null;
  #mounted = true;
  #isBehind: boolean | null = null;

  constructor(
    article: HTMLElement,
    slide: Slide,
    parts: {
      actions: SlideActions;
      template: HTMLTemplateElement;
      texts: Texts;
      articleCard: ((item: FeedItem) => ArticleCard | null) | null;
      /** Whether to prefer small pictures, because the connection is slow. */
      savesBytes: boolean;
    },
  ) {
    const { actions, template, texts, articleCard, savesBytes } = parts;
    this.slide = slide;
    this.#article = article;
    this.#texts = texts;
    article.replaceChildren(document.importNode(template.content, true));
    this.#media = this.#part('.media', HTMLElement);
    this.surface = this.#part('.surface', HTMLButtonElement);
    this.seekBar = new SeekBar(this.#part('.seek', HTMLElement), actions, texts);
    this.pictures = slide.media.kind === 'pictures' ? new Pictures(slide.item.title, texts) : null;
    const isPoster = this.pictures === null;
    this.#thumbnail = new Thumbnail(article, { item: slide.item, isPoster, savesBytes });
    this.#buttons = new ActionButtons(article, texts);
    this.#writeWords();
    showArticle(article, { slide, card: articleCard, texts });
    this.#writePictures();
    this.#connect(actions);
    this.showState('empty');
  }

  /** Empties the slide; the article remains as a placeholder in the column. */
  unmount(): void {
    this.#mounted = false;
    this.pictures?.stop();
    this.#article.replaceChildren();
    this.#article.classList.remove('started', 'paused', 'fills', 'sound-only', 'seeking');
  }

  mount(video: HTMLVideoElement): void {
    video.setAttribute('aria-label', this.slide.item.title);
    this.#video = video;
    attachCaptions(video, this.#permission?.captionTracks ?? this.slide.item.captionTracks);
    this.#media.prepend(video);
    this.#article.classList.remove('started');
  }

  /** Uses the addresses of a protected item's pictures and captions. */
  permit(permission: Permission): void {
    this.#permission = permission;
    if (!this.#mounted) return;
    this.#thumbnail.show(permission);
    this.seekBar.storyboard.use(permission.storyboardUrl ?? null);
    this.pictures?.show(permission.images ?? []);
    const { captionTracks } = permission;
    if (captionTracks === undefined || this.#video?.parentNode !== this.#media) return;
    attachCaptions(this.#video, captionTracks);
  }

  showState(state: PlaybackState): void {
    // A long jump empties the slide before its player is notified.
    if (!this.#mounted) return;
    const isVideo = this.slide.media.kind === 'video';
    const stopped = state === 'paused' || state === 'blocked';
    if (state === 'playing') this.#article.classList.add('started');
    if (state === 'blocked') {
      this.#thumbnail.animate(this.#permission?.previewUrl ?? this.slide.item.previewUrl);
    }
    if (state === 'empty') this.#article.classList.remove('started');
    this.#article.classList.toggle('paused', isVideo && stopped);
    this.#part('.spinner', HTMLElement).hidden = state !== 'loading' && state !== 'buffering';
    this.#part('.problem', HTMLElement).hidden = state !== 'failed';
    setName(this.surface, stopped ? this.#texts.play : this.#texts.pause);
    // A tooltip over the whole picture would only be in the way.
    this.surface.title = '';
  }

  showTrouble(isTrying: boolean): void {
    if (!this.#mounted) return;
    const trouble = this.#part('.trouble', HTMLElement);
    trouble.hidden = !isTrying;
    trouble.textContent = isTrying ? this.#texts.slowClip : '';
  }

  /** Shows when the stream will start. */
  showAnnouncement({ publishAt }: FeedItem): void {
    if (!this.#mounted) return;
    const { startsSoon, startsAt } = this.#texts;
    const time = publishAt === null ? null : formatStart(new Date(publishAt), new Date());
    const notice = this.#part('.trouble', HTMLElement);
    const text = time === null ? startsSoon : startsAt(time);
    // Writing the same text again would make a screen reader repeat it.
    if (notice.textContent !== text) notice.textContent = text;
    notice.hidden = false;
  }

  showEnded(): void {
    if (!this.#mounted) return;
    this.#part('.spinner', HTMLElement).hidden = true;
    this.#part('.badges', HTMLElement).replaceChildren(element('span', {}, this.#texts.liveEnded));
  }

  /** Shows a button that jumps to the live edge if the viewer of a broadcast is behind it. */
  showBehind(isBehind: boolean): void {
    if (!this.#mounted || isBehind === this.#isBehind) return;
    this.#isBehind = isBehind;
    const button = this.#article.querySelector<HTMLButtonElement>('button.live');
    if (button === null) return;
    button.classList.toggle('behind', isBehind);
    button.disabled = !isBehind;
    if (isBehind) setName(button, this.#texts.goLive);
    else setName(button, this.#texts.live);
  }

  showWatching(viewers: number): void {
    const badge = this.#mounted ? this.#article.querySelector<HTMLElement>('.watching') : null;
    if (badge === null) return;
    badge.hidden = viewers === 0;
    badge.textContent = this.#texts.watching(formatCount(viewers));
  }

  /** Shows that access to a protected item was denied. */
  showRefusal(): void {
    if (!this.#mounted) return;
    this.showProblem(this.#texts.lockedClip);
    this.#part('.problem', HTMLElement).hidden = false;
  }

  showProblem(message: string): void {
    this.#part('.problem p', HTMLElement).textContent = message;
  }

  showMuted(muted: boolean): void {
    this.#buttons.showMuted(muted);
  }

  showLiked(liked: boolean, count: number): void {
    this.#buttons.showLiked(liked, count);
  }

  showSaved(saved: boolean, count: number): void {
    this.#buttons.showSaved(saved, count);
  }

  showCaptions(shown: boolean): void {
    this.#buttons.showCaptions(shown);
  }

  /** Animates a heart in the middle, for a like by double tap. */
  burst(): void {
    const heart = this.#part('.burst', SVGSVGElement);
    heart.classList.remove('shown');
    // Reading the size forces a layout, so that the animation restarts.
    heart.getBoundingClientRect();
    heart.classList.add('shown');
  }

  /** Fits the picture to the frame, whose shape changes with the window. */
  fit(): void {
    const { width, height } = this.slide.item;
    const frame = this.#part('.frame', HTMLElement);
    const fills = fillsFrame(width, height, frame.clientWidth, frame.clientHeight);
    this.#article.classList.toggle('fills', fills && this.slide.media.kind === 'video');
  }

  #writeWords(): void {
    const { item, member } = this.slide;
    this.#part('.title', HTMLElement).textContent = item.title;
    this.#fill('.author', item.author);
    this.#fill('.description', item.description);
    const badges = this.#part('.badges', HTMLElement);
    if (item.isLive) {
      const live = element('button', { className: 'live', type: 'button' }, this.#texts.live);
      badges.append(live, element('span', { className: 'watching' }));
      this.showWatching(item.currentViewers);
    }
    if (item.section !== null) badges.append(element('span', {}, item.section));
    if (member !== null) {
      badges.append(element('span', {}, this.#texts.member(member.position, member.count)));
    }
    const tags = this.#part('.tags', HTMLElement);
    tags.hidden = item.tags.length === 0;
    tags.append(...item.tags.slice(0, 8).map((tag) => element('li', { dir: 'auto' }, `#${tag}`)));
  }

  #writePictures(): void {
    const { item, media } = this.slide;
    this.#thumbnail.show(item);
    this.seekBar.storyboard.use(item.storyboardUrl);
    this.#article.classList.toggle('sound-only', item.resolutionTier === 'audio-only');
    this.seekBar.root.hidden = media.kind !== 'video' || item.isLive;
    this.#part('.mute', HTMLElement).hidden = media.kind !== 'video';
    if (media.kind === 'announcement') {
      this.surface.hidden = true;
      this.showAnnouncement(item);
    }
    if (media.kind !== 'pictures' || this.pictures === null) return;
    this.surface.hidden = true;
    this.pictures.show(media.pictures);
    this.#media.append(this.pictures.root);
  }

  /**
   * Loads the thumbnail. Should be called once this takes no bandwidth away from the clip that the
   * viewer is waiting for.
   */
  loadPictures(): void {
    if (!this.#mounted) return;
    this.pictures?.load();
    this.#thumbnail.load();
  }

  #connect(actions: SlideActions): void {
    const { slide } = this;
    if (slide.item.isLive) this.#on('.live', () => actions.goLive());
    this.#on('.retry', () => actions.retry());
    this.#on('.skip', () => actions.skip());
    this.#buttons.connect(slide.item, actions);
    this.#part('.retry', HTMLButtonElement).textContent = this.#texts.retry;
    this.#part('.skip', HTMLButtonElement).textContent = this.#texts.skip;
    this.#part('.spinner', HTMLElement).setAttribute('aria-label', this.#texts.loading);
    this.#on('.more', () => this.#toggleDescription());
    this.showProblem(this.#texts.brokenClip);
  }

  /**
   * Offers to expand the description if it does not fit. Must be called once the slide has its
   * final size.
   */
  measureDescription(): void {
    const text = this.#part('.description p', HTMLElement);
    const more = this.#part('.more', HTMLButtonElement);
    if (this.#part('.description', HTMLElement).classList.contains('open')) return;
    more.hidden = text.scrollHeight <= text.clientHeight + 1;
    more.textContent = this.#texts.more;
  }

  #toggleDescription(): void {
    const open = this.#part('.description', HTMLElement).classList.toggle('open');
    const more = this.#part('.more', HTMLButtonElement);
    more.setAttribute('aria-expanded', String(open));
    more.textContent = open ? this.#texts.less : this.#texts.more;
  }

  #fill(selector: string, text: string | null): void {
    if (text === null || text.trim() === '') return;
    const part = this.#part(selector, HTMLElement);
    part.hidden = false;
    (part.querySelector('p') ?? part).textContent = text;
  }

  #on(selector: string, action: () => void): void {
    this.#part(selector, HTMLElement).addEventListener('click', action);
  }

  #part<T extends Element>(selector: string, type: new () => T): T {
    return find(this.#article, selector, type);
  }
}
