import { attachCaptions } from './captions.ts';
import { element, find, setIcon, setName } from './dom.ts';
import { fillsFrame, formatCount } from './format.ts';
import { picturesOf } from './pictures.ts';
import { type PlaybackState, type PlaybackView } from './playback.ts';
import { SeekBar } from './seek-bar.ts';
import { webAddress, type Slide } from './slides.ts';
import { strings } from './strings.ts';

/** What a viewer can do with the slide before them; other slides cannot be reached. */
export interface SlideActions {
  togglePlay(): void;
  toggleLike(): void;
  toggleMute(): void;
  toggleCaptions(): void;
  share(): void;
  retry(): void;
  skip(): void;
  seekTo(fraction: number): void;
}

/** One slide in the column: the words, the buttons and the place for the picture. */
export class ItemView implements PlaybackView {
  readonly slide: Slide;
  readonly surface: HTMLButtonElement;
  readonly seekBar: SeekBar;
  readonly #article: HTMLElement;
  readonly #media: HTMLElement;
  #mounted = true;

  constructor(article: HTMLElement, slide: Slide, actions: SlideActions) {
    this.slide = slide;
    this.#article = article;
    const template = find(document, '#slide-template', HTMLTemplateElement);
    article.replaceChildren(template.content.cloneNode(true));
    this.#media = this.#part('.media', HTMLElement);
    this.surface = this.#part('.surface', HTMLButtonElement);
    this.seekBar = new SeekBar(this.#part('.seek', HTMLElement), actions);
    this.#writeWords();
    this.#writePictures();
    this.#connect(actions);
    this.showState('empty');
  }

  /** Empties the slide; the article stays as its place in the column. */
  unmount(): void {
    this.#mounted = false;
    this.#article.replaceChildren();
    this.#article.classList.remove('started', 'paused', 'fills', 'sound-only');
  }

  mount(video: HTMLVideoElement): void {
    video.setAttribute('aria-label', this.slide.item.title);
    attachCaptions(video, this.slide.item.captionTracks);
    this.#media.prepend(video);
    this.#article.classList.remove('started');
  }

  showState(state: PlaybackState): void {
    // A far jump empties the slide before its player hears of it.
    if (!this.#mounted) return;
    const isVideo = this.slide.media.kind === 'video';
    const stopped = state === 'paused' || state === 'blocked';
    if (state === 'playing') this.#article.classList.add('started');
    if (state === 'empty') this.#article.classList.remove('started');
    this.#article.classList.toggle('paused', isVideo && stopped);
    this.#part('.spinner', HTMLElement).hidden = state !== 'loading' && state !== 'buffering';
    this.#part('.problem', HTMLElement).hidden = state !== 'failed';
    setName(this.surface, stopped ? strings.play : strings.pause);
    // A tooltip over the whole picture would only be in the way.
    this.surface.title = '';
  }

  /** The strip of pictures; null for a video. */
  get pictures(): HTMLElement | null {
    return this.#media.querySelector('.pictures');
  }

  showProblem(message: string): void {
    this.#part('.problem p', HTMLElement).textContent = message;
  }

  showMuted(muted: boolean): void {
    const button = this.#part('.mute', HTMLButtonElement);
    setIcon(button, muted ? 'muted' : 'sound');
    setName(button, strings.mute);
    button.setAttribute('aria-pressed', String(muted));
    this.#label(button, muted ? strings.muted : strings.sound);
  }

  showLiked(liked: boolean, count: number): void {
    const button = this.#part('.like', HTMLButtonElement);
    setName(button, strings.like);
    button.setAttribute('aria-pressed', String(liked));
    this.#label(button, formatCount(count) || strings.like);
  }

  showCaptions(shown: boolean): void {
    this.#part('.captions', HTMLButtonElement).setAttribute('aria-pressed', String(shown));
  }

  /** A heart that rises from the middle, for a like by double tap. */
  burst(): void {
    const heart = this.#part('.burst', SVGSVGElement);
    heart.classList.remove('shown');
    // Reading the size makes the browser notice that the animation was taken away.
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
    const live = formatCount(item.currentViewers);
    if (item.isLive) badges.append(element('span', { className: 'live' }, strings.live));
    if (item.isLive && live !== '') badges.append(element('span', {}, strings.watching(live)));
    if (item.section !== null) badges.append(element('span', {}, item.section));
    if (member !== null) {
      badges.append(element('span', {}, strings.member(member.position, member.count)));
    }
    const tags = this.#part('.tags', HTMLElement);
    tags.hidden = item.tags.length === 0;
    tags.append(...item.tags.slice(0, 8).map((tag) => element('li', {}, `#${tag}`)));
    const link = webAddress(item.articleUrl);
    const article = this.#part('.article', HTMLAnchorElement);
    if (link === null) return;
    article.hidden = false;
    article.href = link;
    setName(article, strings.openArticle);
    this.#label(article, strings.article);
  }

  #writePictures(): void {
    const { item, media } = this.slide;
    const thumbnail = webAddress(item.thumbnailUrl);
    for (const image of [
      this.#part('.ambient', HTMLImageElement),
      this.#part('.backdrop', HTMLImageElement),
      this.#part('.poster', HTMLImageElement),
    ]) {
      if (thumbnail === null) continue;
      image.hidden = false;
      image.addEventListener('error', () => (image.hidden = true), { once: true });
      image.src = thumbnail;
    }
    this.#article.classList.toggle('sound-only', item.resolutionTier === 'audio-only');
    this.seekBar.root.hidden = media.kind !== 'video' || item.isLive;
    this.#part('.mute', HTMLElement).hidden = media.kind !== 'video';
    if (media.kind === 'video') return;
    this.surface.hidden = true;
    this.#part('.poster', HTMLImageElement).hidden = true;
    this.#media.append(picturesOf(item.title, media.pictures));
  }

  #connect(actions: SlideActions): void {
    const { slide } = this;
    this.#on('.like', () => actions.toggleLike());
    this.#on('.share', () => actions.share());
    this.#on('.mute', () => actions.toggleMute());
    this.#on('.captions', () => actions.toggleCaptions());
    this.#on('.retry', () => actions.retry());
    this.#on('.skip', () => actions.skip());
    const share = this.#part('.share', HTMLButtonElement);
    setName(share, strings.share);
    this.#label(share, formatCount(slide.item.engagement.shares) || strings.share);
    const captions = this.#part('.captions', HTMLButtonElement);
    captions.hidden = !slide.item.captionTracks.some((track) => track.status === 'ready');
    setName(captions, strings.captions);
    this.#label(captions, strings.captionsShort);
    this.#part('.retry', HTMLButtonElement).textContent = strings.retry;
    this.#part('.skip', HTMLButtonElement).textContent = strings.skip;
    this.#part('.spinner', HTMLElement).setAttribute('aria-label', strings.loading);
    this.#on('.more', () => this.#toggleDescription());
    this.showProblem(strings.brokenClip);
  }

  /** Offers to open the description when it does not fit. Call when the slide has its size. */
  measureDescription(): void {
    const text = this.#part('.description p', HTMLElement);
    const more = this.#part('.more', HTMLButtonElement);
    if (this.#part('.description', HTMLElement).classList.contains('open')) return;
    more.hidden = text.scrollHeight <= text.clientHeight + 1;
    more.textContent = strings.more;
  }

  #toggleDescription(): void {
    const open = this.#part('.description', HTMLElement).classList.toggle('open');
    const more = this.#part('.more', HTMLButtonElement);
    more.setAttribute('aria-expanded', String(open));
    more.textContent = open ? strings.less : strings.more;
  }

  #fill(selector: string, text: string | null): void {
    if (text === null || text.trim() === '') return;
    const part = this.#part(selector, HTMLElement);
    part.hidden = false;
    (part.querySelector('p') ?? part).textContent = text;
  }

  #label(button: Element, text: string): void {
    find(button, 'span', HTMLElement).textContent = text;
  }

  #on(selector: string, action: () => void): void {
    this.#part(selector, HTMLElement).addEventListener('click', action);
  }

  #part<T extends Element>(selector: string, type: new () => T): T {
    return find(this.#article, selector, type);
  }
}
