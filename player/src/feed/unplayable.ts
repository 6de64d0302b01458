import { type FeedList, type Viewing } from '@reelfeed/client/playing';
import { describe } from '../playback/failure.ts';
import { type Playback } from '../playback/playback.ts';
import { type Texts } from '../texts.ts';
import { type Column } from './column.ts';

/** Time until a clip that cannot be played is skipped, unless the viewer acts first. */
const skipBrokenMs = 4000;

type UnplayableParts = {
  readonly texts: Texts;
  readonly column: Column;
  readonly list: FeedList;
  readonly viewing: Viewing;
};

/** Decides what happens to items that cannot be shown or played. */
export class Unplayable {
  readonly #parts: UnplayableParts;
  /** Ids of items that could not be shown; each is reported once. */
  readonly #broken = new Set<string>();
  #skipTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: UnplayableParts) {
    this.#parts = parts;
  }

  /** Must be called when the active clip changes or is loaded again. */
  stay(): void {
    clearTimeout(this.#skipTimer);
  }

  /** The active clip has failed: shows why, and skips it soon unless the network is the cause. */
  showFailed({ failure }: Playback): void {
    const { texts, column, viewing } = this.#parts;
    viewing.fail(failure);
    const offline = !navigator.onLine;
    const slide = column.slideAt(0);
    const broken = slide?.item.protected === true ? texts.lockedClip : texts.brokenClip;
    column.view(slide?.id)?.showProblem(offline ? texts.offlineClip : broken);
    this.stay();
    if (!offline) this.#skipTimer = setTimeout(() => column.step(1), skipBrokenMs);
  }

  /** Removes the next clip if it failed while it was prepared, so that it is never shown. */
  dropAhead({ id, failure }: Playback): void {
    const { column, viewing } = this.#parts;
    const isAhead = id !== null && column.slideAt(1)?.id === id;
    if (!isAhead || !navigator.onLine) return;
    if (failure !== null) viewing.failAhead(id, failure);
    this.#removeSoon(id);
  }

  /**
   * Reports an item that cannot be shown, like a clip that does not play. Other items are
   * unaffected.
   */
  report({ id }: { readonly id: string }, error: unknown): void {
    if (this.#broken.has(id)) return;
    this.#broken.add(id);
    this.#parts.viewing.failAhead(id, describe(error));
  }

  /** Reports and removes an item whose slide could not be built. */
  remove(item: { readonly id: string }, error: unknown): void {
    this.report(item, error);
    this.#removeSoon(item.id);
  }

  /** Deferred, because another change to the list is being reported right now. */
  #removeSoon(id: string): void {
    setTimeout(() => this.#parts.list.remove(id), 0);
  }
}
