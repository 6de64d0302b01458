/**
 * How many sends a webhook may have under way. The aim: receivers that hang or fail hold up nobody
 * else, and one that answers gets all that it can take.
 *
 * 1. Each webhook has a window. It starts small, grows by one with each success, and a failure
 *    halves it, down to its start.
 * 2. A webhook is slow while a send of it has been under way for over two seconds, or when its
 *    latest one took that long or failed. Slow webhooks have slots of their own, as many as all
 *    others, and share them evenly.
 * 3. A receiver that hangs holds slots of the others for two seconds at the most, because a send
 *    that is older counts as a slow one. While many are slow, an unknown webhook starts with one.
 * 4. Whatever happens, no more than four times `total` sends are under way.
 */

export type SlotLimits = {
  /** Sends at the same time, those of slow webhooks apart. */
  readonly total: number;
  /** Largest window of one webhook. */
  readonly perWebhook: number;
};

export type SendResult = 'success' | 'failure' | 'not made';

/** One send under way. */
export type Slot = { readonly webhookId: string; readonly startedAt: number };

/** What may be started now. */
export type Room = {
  readonly total: number;
  /** By webhook, for those that are known. */
  readonly allowances: ReadonlyMap<string, number>;
  readonly defaultAllowance: number;
};

type Lane = {
  window: number;
  isFailing: boolean;
  lastTookMs: number;
  /** In the order of their starts. */
  readonly underWay: Set<Slot>;
  idleSince: number;
};

const firstWindow = 8;
const slowAfterMs = 2_000;
/** What is known of an idle webhook is forgotten after this time. */
const forgetAfterMs = 60_000;
const hardLimitFactor = 4;

export class Slots {
  readonly #limits: SlotLimits;
  readonly #now: () => number;
  readonly #lanes = new Map<string, Lane>();
  #underWay = 0;

  /** @param now a monotonic clock in milliseconds */
  constructor(limits: SlotLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  get underWay(): number {
    return this.#underWay;
  }

  room(): Room {
    const now = this.#now();
    const { total, perWebhook } = this.#limits;
    const slow = new Set<string>();
    let slowUnderWay = 0;
    for (const [webhookId, lane] of this.#lanes) {
      if (lane.underWay.size === 0 && now - lane.idleSince > forgetAfterMs) {
        this.#lanes.delete(webhookId);
      } else if (isSlow(lane, now)) {
        slow.add(webhookId);
        slowUnderWay += lane.underWay.size;
      }
    }
    const slowShare = Math.ceil(Math.max(0, total - slowUnderWay) / Math.max(1, slow.size));
    const allowances = new Map<string, number>();
    for (const [webhookId, lane] of this.#lanes) {
      const room = Math.max(0, lane.window - lane.underWay.size);
      allowances.set(webhookId, slow.has(webhookId) ? Math.min(room, slowShare) : room);
    }
    const quickUnderWay = this.#underWay - slowUnderWay;
    const hardRoom = total * hardLimitFactor - this.#underWay;
    return {
      total: Math.max(0, Math.min(total - quickUnderWay, hardRoom)),
      allowances,
      defaultAllowance: slowUnderWay > total / 2 ? 1 : Math.min(firstWindow, perWebhook),
    };
  }

  begin(webhookId: string): Slot {
    const slot = { webhookId, startedAt: this.#now() };
    this.#lane(webhookId).underWay.add(slot);
    this.#underWay += 1;
    return slot;
  }

  /** @param tookMs from the start of the send to the end of the answer */
  end(slot: Slot, result: SendResult, tookMs: number): void {
    const lane = this.#lane(slot.webhookId);
    if (!lane.underWay.delete(slot)) return;
    this.#underWay -= 1;
    lane.idleSince = this.#now();
    if (result === 'not made') return;
    const { perWebhook } = this.#limits;
    lane.lastTookMs = tookMs;
    lane.isFailing = result === 'failure';
    lane.window =
      result === 'success'
        ? Math.min(perWebhook, lane.window + 1)
        : Math.min(perWebhook, Math.max(firstWindow, Math.floor(lane.window / 2)));
  }

  #lane(webhookId: string): Lane {
    const known = this.#lanes.get(webhookId);
    if (known !== undefined) return known;
    const lane: Lane = {
      window: Math.min(firstWindow, this.#limits.perWebhook),
      isFailing: false,
      lastTookMs: 0,
      underWay: new Set(),
      idleSince: this.#now(),
    };
    this.#lanes.set(webhookId, lane);
    return lane;
  }
}

function isSlow(lane: Lane, now: number): boolean {
  const [oldest] = lane.underWay;
  if (oldest !== undefined && now - oldest.startedAt > slowAfterMs) return true;
  return lane.isFailing || lane.lastTookMs > slowAfterMs;
}
