import { type FeedItem, type Reelfeed } from '@reelfeed/client';
import { type FeedList } from '@reelfeed/client/playing';
import { Broadcast } from '../playback/broadcast.ts';
import { type PlayerPool } from '../playback/player-pool.ts';
import { type Column } from './column.ts';

type BroadcastParts = {
  readonly client: Reelfeed;
  readonly column: Column;
  readonly pool: PlayerPool;
  readonly list: FeedList;
  /** Loads the active clip again. */
  readonly retry: () => void;
};

/** Keeps the active slide up to date if its item is a broadcast, announced or under way. */
export class ActiveBroadcast {
  readonly #parts: BroadcastParts;
  readonly #broadcast: Broadcast;

  constructor(parts: BroadcastParts) {
    this.#parts = parts;
    this.#broadcast = new Broadcast({
      read: (id, signal) => parts.client.item(id, { signal }),
      changed: (item) => this.#onChanged(item),
      gone: (id) => this.#onGone(id),
    });
  }

  /** Follows the column's current slide if it is a broadcast. */
  follow(): void {
    const slide = this.#parts.column.slideAt(0);
    const isAwaited = slide?.media.kind === 'announcement';
    const isFollowed = isAwaited || slide?.item.isLive === true;
    this.#broadcast.follow(isFollowed ? slide.id : null, isAwaited);
  }

  /** Stops following until the next call of `follow`. */
  pause(): void {
    this.#broadcast.follow(null, false);
  }

  /** Must be called when the broadcast being watched has ended. */
  awaitRecording(): void {
    this.#broadcast.awaitRecording();
  }

  /**
   * An announced broadcast has begun once its item can be played. A broadcast being watched has
   * ended once its item is a video; playback then continues with the recording.
   */
  #onChanged(item: FeedItem): void {
    const { column, pool, list, retry } = this.#parts;
    const slide = column.slideAt(0);
    if (slide?.id === item.id && slide.media.kind === 'announcement') {
      if (item.liveStreamStatus === 'idle') column.view(slide.id)?.showAnnouncement(item);
      else list.replace(item);
      return;
    }
    if (item.isLive) {
      column.view(item.id)?.showWatching(item.currentViewers);
      return;
    }
    const isWatched = item.id === slide?.id;
    // The item has no duration until its recording has been processed.
    if (!isWatched || item.duration === null || pool.active?.video.ended !== true) return;
    if (list.replace(item)) retry();
  }

  /**
   * Removes an announced stream that was ended or withdrawn. A broadcast stays: it is only
   * unavailable until its recording exists.
   */
  #onGone(id: string): void {
    const { column, list } = this.#parts;
    const slide = column.slideAt(0);
    if (slide?.id === id && slide.media.kind === 'announcement') list.remove(id);
  }
}
