/**
 * Makes deliveries due and claims them, either across all webhooks or from known positions of long
 * lines.
 */
import type { Db } from '../../../platform/database/database.ts';
import {
  claimDeliveries,
  promoteDueDeliveries,
  releaseHeldDeliveries,
  renewStatistics,
  vacuumDeliveries,
  type ClaimedDelivery,
  type Claims,
} from './claim-queries.ts';
import { Lines } from './lines.ts';
import type { Room } from './room.ts';

const promotedAtOnce = 1_000;
/** A slower look at all lines may indicate a plan made for a smaller table. */
const slowLookMs = 20;
const renewStatisticsEveryMs = 60_000;
/** Claims between two vacuums: under load, and when there is nothing to claim. */
const vacuumAfter = { busy: 25_000, idle: 1_000 } as const;
const noClaims: Claims = { deliveries: [], webhooks: new Map() };

export type Claimed = {
  readonly claims: Claims;
  /** Start of the query. */
  readonly readAt: number;
  /** The round stopped at its limit before reaching all webhooks. */
  readonly goesOn: boolean;
};

export class Claimer {
  readonly #db: Db;
  readonly #promoteEveryMs: number;
  readonly #lines = new Lines();
  #afterWebhookId = '';
  #promotedAt = Number.NEGATIVE_INFINITY;
  #renewedStatisticsAt = Number.NEGATIVE_INFINITY;
  #claimedSinceVacuum = 0;
  #isVacuuming = false;

  constructor(db: Db, promoteEveryMs: number) {
    this.#db = db;
    this.#promoteEveryMs = promoteEveryMs;
  }

  /** Maximum time to wait for the next claim. */
  untilDueMs(): number {
    return this.#lines.untilLookMs(performance.now());
  }

  /**
   * scheduled → ready for due deliveries. Runs equally often under load, so that retries are never
   * late.
   * @returns whether there may be more
   */
  async promote(): Promise<boolean> {
    const now = performance.now();
    if (now - this.#promotedAt < this.#promoteEveryMs) return false;
    const promoted = await promoteDueDeliveries(this.#db, promotedAtOnce);
    const released = await releaseHeldDeliveries(this.#db, promotedAtOnce);
    if (promoted === promotedAtOnce || released === promotedAtOnce) return true;
    this.#promotedAt = now;
    return false;
  }

  /** @param room must not be empty */
  async claim(senderId: string, room: Room): Promise<Claimed> {
    const claimed = await this.#claim(senderId, room);
    const { length } = claimed.claims.deliveries;
    this.#claimedSinceVacuum += length;
    if (this.#claimedSinceVacuum >= vacuumAfter[length === 0 ? 'idle' : 'busy']) this.#vacuum();
    return claimed;
  }

  async #claim(senderId: string, room: Room): Promise<Claimed> {
    const { total: limit, allowances, unknownWebhooks } = room;
    const startedAt = performance.now();
    const positions = this.#lines.next(startedAt, allowances);
    if (positions === null) {
      const afterWebhookId = this.#afterWebhookId;
      const lines = { afterWebhookId, unknownWebhooks };
      const claims = await claimDeliveries(this.#db, { senderId, limit, allowances, lines });
      const endedAt = performance.now();
      this.#lines.looked(startedAt, endedAt, claims.deliveries);
      if (endedAt - startedAt > slowLookMs) this.#renewStatistics(endedAt);
      const isFull = claims.deliveries.length === limit;
      this.#afterWebhookId = isFull ? latest(claims.deliveries) : '';
      return { claims, readAt: startedAt, goesOn: !isFull && afterWebhookId !== '' };
    }
    if (positions.size === 0) return { claims: noClaims, readAt: startedAt, goesOn: false };
    const lines = { positions };
    const claims = await claimDeliveries(this.#db, { senderId, limit, allowances, lines });
    this.#lines.readOn(positions, allowances, claims.deliveries);
    return { claims, readAt: startedAt, goesOn: false };
  }

  /** Claims do not wait for this. If it fails, the next one or autovacuum catches up. */
  #vacuum(): void {
    if (this.#isVacuuming) return;
    this.#isVacuuming = true;
    this.#claimedSinceVacuum = 0;
    vacuumDeliveries(this.#db)
      .catch(() => undefined)
      .finally(() => (this.#isVacuuming = false));
  }

  /** Claims do not wait for this. A failure shows up as the next slow look. */
  #renewStatistics(now: number): void {
    // Both need the same lock.
    if (this.#isVacuuming || now - this.#renewedStatisticsAt < renewStatisticsEveryMs) return;
    this.#renewedStatisticsAt = now;
    renewStatistics(this.#db).catch(() => undefined);
  }
}

function latest(claims: readonly ClaimedDelivery[]): string {
  return claims.reduce((found, { webhookId }) => (webhookId > found ? webhookId : found), '');
}
