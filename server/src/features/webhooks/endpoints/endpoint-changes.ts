/**
 * Prevents requests from starting under a stale state of a webhook: disabled or deleted, an old
 * URL, an old secret.
 *
 * 1. A state is valid for `maxStateAgeMs` from the start of the query that read it. This limits
 *    what any process can do after a change, no matter which process made it and whether the others
 *    were notified: a query that starts after the commit sees the change.
 * 2. In the process that makes a change, `note` is called after the commit and before the response.
 *    From then on, states read before then are no longer used.
 * 3. If other processes send as well, the response waits until every state read before the commit
 *    has expired. After the response, no process therefore starts a request under the old state.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from '../../../platform/database/database.ts';
import { hasOtherSenders } from './endpoint-queries.ts';

/** Half of this is reserved for the queries that renew states; see `Sender`. */
export const maxStateAgeMs = 700;

/** States older than this have expired, so older changes can be forgotten. */
const rememberedMs = 10_000;

export class WebhookChanges {
  readonly #changedAt = new Map<string, number>();
  readonly #listeners = new Set<(webhookId: string) => void>();

  #senderId: string | null = null;

  /** Sets this process's sender, or null before it sends. */
  sendsAs(senderId: string | null): void {
    this.#senderId = senderId;
  }

  /**
   * Must be called between the commit of a change and its response. Resolves when the response may
   * be sent.
   */
  async take(db: Db, webhookId: string): Promise<void> {
    this.note(webhookId);
    // If unknown, assume that there are other senders.
    if (await hasOtherSenders(db, this.#senderId).catch(() => true)) await delay(maxStateAgeMs);
  }

  /** Notifies this process's sender. */
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

  /** Returns a function that unsubscribes. */
  listen(listener: (webhookId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @param readAt start of the query that read the state, by the process's monotonic clock */
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
