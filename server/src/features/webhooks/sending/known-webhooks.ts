import { LRUCache } from 'lru-cache';
import { RateLimit } from './rate-limit.ts';
import { isForgotten, newLoad, rememberedLoad, type Load } from './webhook-load.ts';

/** A claim's information about a webhook. */
export type KnownWebhook = {
  readonly organizationId: string;
  readonly webhookId: string;
  /** The first failed attempt since its last success, or null if there is none. */
  readonly failingSinceS: number | null;
  /** Maximum sends per second, or null for no limit. */
  readonly rateLimit: number | null;
};

/** Maximum number of remembered healthy webhooks that are idle. */
const maxRemembered = 10_000;

/** The loads of webhooks with recent sends, and which idle ones were healthy. */
export class KnownWebhooks<T> {
  readonly #loads = new Map<string, Load<T>>();
  /** Latest response times of healthy webhooks that have been forgotten. */
  readonly #remembered = new LRUCache<string, number>({ max: maxRemembered });

  /** By webhook. */
  get loads(): ReadonlyMap<string, Load<T>> {
    return this.#loads;
  }

  know({ organizationId, webhookId, failingSinceS, rateLimit }: KnownWebhook, now: number): void {
    let load = this.#loads.get(webhookId);
    if (load === undefined) {
      const tookMs = failingSinceS === null ? this.#remembered.get(webhookId) : undefined;
      load =
        tookMs === undefined
          ? newLoad(organizationId, failingSinceS !== null, now)
          : rememberedLoad(organizationId, tookMs, now);
      this.#remembered.delete(webhookId);
      this.#loads.set(webhookId, load);
    }
    if (rateLimit === null) load.rate = null;
    else if (load.rate === null) load.rate = new RateLimit(rateLimit, now);
    else load.rate.change(rateLimit, now);
  }

  /**
   * Forgets a webhook that has been idle, except for whether it was healthy.
   *
   * @returns whether it was forgotten
   */
  forgetIdle(webhookId: string, load: Load<T>, now: number): boolean {
    if (!isForgotten(load, now)) return false;
    const { hasSucceeded, isFailing, lastTookMs } = load;
    this.#loads.delete(webhookId);
    if (hasSucceeded && !isFailing) this.#remembered.set(webhookId, lastTookMs);
    return true;
  }
}
