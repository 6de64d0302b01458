import { type EngagementEvent } from '../events.ts';
import { type FeedItem } from '../types.ts';
import { newUuid7 } from '../uuid7.ts';
import { type Slide } from './slides.ts';
import { ViewMeter, type Sample } from './view-meter.ts';

/** Why a clip can't be played. */
export type PlaybackFailure = { readonly code: string; readonly message: string };

/** How the viewer reached a slide. */
export type Arrival = {
  /** Place in the feed, starting at 0. */
  readonly position: number;
  /** Through the feed, through a link to the item, or on a page that shows only this item. */
  readonly entryPoint: 'feed' | 'share' | 'direct';
  /** By moving the column, not because the list has changed. */
  readonly isSwipe: boolean;
};

/** Pictures count as seen once they were visible for more than a second. */
const seenMs = 1_100;

/**
 * Reports what the viewer does as engagement events. Each time a slide comes into view is a
 * separate view, even if it was seen before.
 */
export class Viewing {
  readonly #track: (event: EngagementEvent) => void;
  #meter: ViewMeter | null = null;
  #position = 0;
  #feedId: string | null = null;
  #toldFailure: PlaybackFailure | null = null;
  /** Reports the impression of pictures, delayed to include their viewing time. */
  #tellPictures: (() => void) | null = null;
  #picturesTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(track: (event: EngagementEvent) => void) {
    this.#track = track;
  }

  /** Must be called when a page has been read. Impressions name the feed that they belong to. */
  noteFeed(feedId: string | null): void {
    this.#feedId = feedId;
  }

  /** Starts viewing a slide, or null at the end of the column. */
  show(slide: Slide | null, { position, entryPoint, isSwipe }: Arrival): void {
    const left = this.#meter;
    if (left?.contentId === slide?.id) return;
    const direction = position < this.#position ? 'down' : 'up';
    this.pause();
    this.#position = position;
    this.#meter = slide === null ? null : new ViewMeter(slide.id, newUuid7(), this.#track);
    if (this.#meter === null) return;
    const { contentId, viewId } = this.#meter;
    if (left !== null && isSwipe) {
      const from = { fromContentId: left.contentId, watchTimeOnFrom: left.watchTime };
      this.#track({ event: 'swipe', contentId, data: { ...from, direction, viewId: left.viewId } });
    }
    const feed = this.#feedId === null ? {} : { feedId: this.#feedId };
    const data = { position, entryPoint, viewId, ...feed } as const;
    if (slide?.media.kind !== 'pictures') {
      this.#track({ event: 'impression', contentId, data });
      return;
    }
    const shownAtMs = performance.now();
    this.#tellPictures = () => {
      const visibleSeconds = Math.round(performance.now() - shownAtMs) / 1_000;
      this.#track({ event: 'impression', contentId, data: { ...data, visibleSeconds } });
    };
    this.#picturesTimer = setTimeout(() => this.#endPictures(), seenMs);
  }

  #endPictures(): void {
    clearTimeout(this.#picturesTimer);
    this.#tellPictures?.();
    this.#tellPictures = null;
  }

  /** Called many times per second with a sample of the active player. */
  measure(sample: Sample): void {
    this.#meter?.take(sample);
  }

  /** Viewing has paused or ended: reports everything outstanding. */
  pause(): void {
    this.#endPictures();
    this.#meter?.pause(performance.now());
  }

  /** Reports that the active clip could not be played. The same failure is reported only once. */
  fail(failure: PlaybackFailure | null): void {
    if (failure === null || failure === this.#toldFailure) return;
    this.#toldFailure = failure;
    this.#meter?.fail(failure.code, failure.message);
  }

  /** Reports a clip that could not be prepared and is never shown. */
  failAhead(contentId: string, { code, message }: PlaybackFailure): void {
    new ViewMeter(contentId, newUuid7(), this.#track).fail(code, message);
  }

  /** Reports that the viewer likes an item, or no longer does. */
  like({ id }: FeedItem, isLiked: boolean): void {
    const event = isLiked ? 'like' : 'unlike';
    this.#track({ event, contentId: id, data: this.#view(id) });
  }

  save({ id }: FeedItem, isSaved: boolean): void {
    const event = isSaved ? 'save' : 'unsave';
    this.#track({ event, contentId: id, data: this.#view(id) });
  }

  /** Reports that the viewer does not want the item, its author or its tags, or reverses this. */
  refuse({ id }: FeedItem, scope: 'item' | 'author' | 'tag', isSet: boolean): void {
    const data = { scope, undo: !isSet, ...this.#view(id) };
    this.#track({ event: 'notInterested', contentId: id, data });
  }

  report({ id }: FeedItem, reason: string, isSet: boolean): void {
    const data = { reason, undo: !isSet, ...this.#view(id) };
    this.#track({ event: 'report', contentId: id, data });
  }

  share(contentId: string, platform: 'device' | 'clipboard'): void {
    this.#track({ event: 'share', contentId, data: { platform, ...this.#view(contentId) } });
  }

  #view(contentId: string): { viewId?: string } {
    return this.#meter?.contentId === contentId ? { viewId: this.#meter.viewId } : {};
  }
}
