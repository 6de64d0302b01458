/**
 * Keeps requests from beginning under a state of a webhook that has been changed since: a disabled
 * or deleted webhook, an old URL, an old secret.
 *
 * 1. A state may be used for `maxStateAgeMs` from the start of the query that read it. That bounds
 *    what any process does after a change, whichever process made the change and whether or not
 *    anything tells the others: a query that begins after the commit sees it.
 * 2. In the process that makes a change, `note` is called after the commit and before the answer.
 *    A state that was read before that moment is no longer used from then on.
 * 3. Where other processes send as well, the answer waits until no state is usable any more that was
 *    read before the commit. So no process begins a request under the old state after the answer.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from '../../../platform/database/database.ts';
import { hasOtherSenders } from './endpoint-queries.ts';

/** Half of it is left for the queries that renew states; see `Sender`. */
export const maxStateAgeMs = 700;

/** States older than this are unusable anyway, so older changes need not be remembered. */
const rememberedMs = 10_000;

export class WebhookChanges {
  readonly #changedAt = new Map<string, number>();
  readonly #listeners = new Set<(webhookId: string) => void>();

  #senderId: string | null = null;

  /** The sender of this process; null before it sends. */
  sendsAs(senderId: string | null): void {
    this.#senderId = senderId;
  }

  /** Call it between the commit of a change and its answer. Resolves when the answer may be sent. */
  async take(db: Db, webhookId: string): Promise<void> {
    this.note(webhookId);
    // Where it can't be told, the answer waits.
    if (await hasOtherSenders(db, this.#senderId).catch(() => true)) await delay(maxStateAgeMs);
  }

  /** Tells the sender of this process. */
  note(webhookId: string): void {
    const now = performance.now();
    this.#changedAt.delete(webhookId);
    this.#changedAt.set(webhookId, now);
    for (const [id, changedAt] of this.#changedAt) {
      if (now - changedAt < rememberedMs) break;
      this.#changedAt.delete(id);
    }
    for (const listener of this.#listeners) listener(webhookId);
  }

  /** Returns what ends the subscription. */
  listen(listener: (webhookId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @param readAt when the query that read the state began, by the process's monotonic clock */
  isCurrent(webhookId: string, readAt: number): boolean {
    const changedAt = this.#changedAt.get(webhookId);
    if (changedAt !== undefined && changedAt >= readAt) return false;
    return performance.now() - readAt < maxStateAgeMs;
  }
}

/** The webhook has changed since its state was read, so nothing was sent. */
export class OutdatedStateError extends Error {
  override readonly name = 'OutdatedStateError';
}
