/**
 * Which claimed delivery is sent when, and how many more may be claimed. The aim: receivers that
 * hang or fail hold up nobody else, and one that answers gets all that it can take.
 *
 * 1. Each webhook has a window of sends under way. It starts small, grows by one with each success,
 *    and a failure halves it, down to its start. Claimed deliveries beyond the window wait here, some
 *    windows at the most, so that a quick receiver need not wait for the next claim. A claim has a
 *    price of its own, so none is made for a webhook before half of them have gone.
 * 2. A webhook is slow while a send of it has been under way for over two seconds, or when its
 *    latest one took that long or failed. Slow webhooks have slots of their own, as many as all
 *    others, and share them evenly. Nothing waits here for a slow webhook: it is given back.
 * 3. A receiver that hangs holds slots of the others for two seconds at the most, because a send
 *    that is older counts as a slow one. While many are slow, an unknown webhook starts with one.
 * 4. Where the slots of all are used up, webhooks take turns.
 * 5. Whatever happens, no more than four times `total` deliveries are claimed.
 */
import { Bag, type BagMember } from '../../platform/bag.ts';

export type SlotLimits = {
  /** Sends at the same time, those of slow webhooks apart. */
  readonly total: number;
  /** Largest window of one webhook. */
  readonly perWebhook: number;
};

export type SendResult = 'success' | 'failure' | 'not made';

/** One send under way. */
export type Slot = BagMember & { readonly webhookId: string; readonly startedAt: number };

/** What may be claimed now. */
export type Room = {
  readonly total: number;
  /** By webhook, for those that are known. */
  readonly allowances: ReadonlyMap<string, number>;
  readonly defaultAllowance: number;
};

type Lane<T> = {
  window: number;
  isFailing: boolean;
  lastTookMs: number;
  readonly underWay: Bag<Slot>;
  waiting: T[];
  /** Whether it stands in line for a slot of all. */
  isInLine: boolean;
  idleSince: number;
};

const firstWindow = 8;
const slowAfterMs = 2_000;
/** What is known of an idle webhook is forgotten after this time. */
const forgetAfterMs = 60_000;
const mostClaimedFactor = 4;
/** Windows of a quick webhook that may wait beside the one under way. */
const windowsAhead = 8;
/** What may wait in all, as a factor of `total`: the quick webhooks share it evenly. */
const mostAheadFactor = 2;

export class Slots<T> {
  readonly #limits: SlotLimits;
  readonly #start: (item: T, slot: Slot) => void;
  readonly #now: () => number;
  readonly #lanes = new Map<string, Lane<T>>();
  /** Webhooks that have something waiting and room in their window, but found no slot. */
  readonly #line: string[] = [];
  #underWay = 0;
  #slowUnderWay = 0;

  /**
   * @param start called for each delivery whose turn it is, also from within `enter` and `end`
   * @param now a monotonic clock in milliseconds
   */
  constructor(
    limits: SlotLimits,
    start: (item: T, slot: Slot) => void,
    now: () => number = () => performance.now(),
  ) {
    this.#limits = limits;
    this.#start = start;
    this.#now = now;
  }

  get underWay(): number {
    return this.#underWay;
  }

  /**
   * @param claimed deliveries that are claimed and not written down, waiting or not
   * @returns what may be claimed now
   */
  room(claimed: number): Room {
    const { total, perWebhook } = this.#limits;
    const slow = this.#lookAround();
    const slowShare = Math.ceil(Math.max(0, total - this.#slowUnderWay) / Math.max(1, slow.size));
    const allowances = new Map<string, number>();
    const aheadShare = Math.ceil((total * mostAheadFactor) / Math.max(1, this.#countQuick()));
    for (const [webhookId, lane] of this.#lanes) {
      const open = lane.window - lane.underWay.size - lane.waiting.length;
      const ahead = isQuick(lane) ? Math.min(aheadShare, lane.window * windowsAhead) : 0;
      const most = slow.has(webhookId) ? Math.min(open, slowShare) : open + ahead;
      allowances.set(webhookId, most < ahead / 2 ? 0 : Math.max(0, most));
    }
    return {
      total: Math.max(0, total * mostClaimedFactor - claimed),
      allowances,
      defaultAllowance: this.#slowUnderWay > total / 2 ? 1 : Math.min(firstWindow, perWebhook),
    };
  }

  /** Takes a claimed delivery: it starts now or waits for its turn. */
  enter(webhookId: string, item: T): void {
    const lane = this.#lane(webhookId);
    lane.waiting.push(item);
    this.#standInLine(webhookId, lane);
    this.#serveLine();
  }

  /** @param tookMs from the start of the send to the end of the answer */
  end(slot: Slot, result: SendResult, tookMs: number): void {
    const lane = this.#lane(slot.webhookId);
    if (!lane.underWay.delete(slot)) return;
    this.#underWay -= 1;
    lane.idleSince = this.#now();
    if (result !== 'not made') {
      const { perWebhook } = this.#limits;
      lane.lastTookMs = tookMs;
      lane.isFailing = result === 'failure';
      lane.window =
        result === 'success'
          ? Math.min(perWebhook, lane.window + 1)
          : Math.min(perWebhook, Math.max(firstWindow, Math.floor(lane.window / 2)));
    }
    this.#standInLine(slot.webhookId, lane);
    this.#serveLine();
  }

  /** Gives back what waits for slow webhooks, or everything that waits. */
  takeWaiting(which: 'slow' | 'all'): T[] {
    const now = this.#now();
    const taken: T[] = [];
    for (const lane of this.#lanes.values()) {
      if (lane.waiting.length === 0 || (which === 'slow' && !isSlow(lane, now))) continue;
      taken.push(...lane.waiting);
      lane.waiting = [];
    }
    return taken;
  }

  /** Counts the slow, forgets the idle, and starts what there is room for by now. */
  #lookAround(): Set<string> {
    const now = this.#now();
    const slow = new Set<string>();
    this.#slowUnderWay = 0;
    for (const [webhookId, lane] of this.#lanes) {
      const isIdle = lane.underWay.size === 0 && lane.waiting.length === 0;
      if (isIdle && now - lane.idleSince > forgetAfterMs) this.#lanes.delete(webhookId);
      else if (isSlow(lane, now)) {
        slow.add(webhookId);
        this.#slowUnderWay += lane.underWay.size;
      }
    }
    this.#serveLine();
    return slow;
  }

  #countQuick(): number {
    let count = 0;
    for (const lane of this.#lanes.values()) if (isQuick(lane)) count += 1;
    return count;
  }

  #standInLine(webhookId: string, lane: Lane<T>): void {
    if (lane.isInLine || lane.waiting.length === 0 || lane.underWay.size >= lane.window) return;
    lane.isInLine = true;
    this.#line.push(webhookId);
  }

  #serveLine(): void {
    // Slow webhooks were let in by their own measure, so they are counted out of the slots of all.
    while (this.#line.length > 0 && this.#underWay - this.#slowUnderWay < this.#limits.total) {
      const webhookId = this.#line.shift() ?? '';
      const lane = this.#lanes.get(webhookId);
      if (lane === undefined) continue;
      lane.isInLine = false;
      const item = lane.waiting.shift();
      if (item === undefined) continue;
      const slot = { webhookId, startedAt: this.#now(), place: 0 };
      lane.underWay.add(slot);
      this.#underWay += 1;
      this.#standInLine(webhookId, lane);
      this.#start(item, slot);
    }
  }

  #lane(webhookId: string): Lane<T> {
    const known = this.#lanes.get(webhookId);
    if (known !== undefined) return known;
    const lane: Lane<T> = {
      window: Math.min(firstWindow, this.#limits.perWebhook),
      isFailing: false,
      lastTookMs: 0,
      underWay: new Bag(),
      waiting: [],
      isInLine: false,
      idleSince: this.#now(),
    };
    this.#lanes.set(webhookId, lane);
    return lane;
  }
}

/** A receiver that has shown itself quick may have some more in hand. */
function isQuick(lane: Lane<unknown>): boolean {
  return lane.window > firstWindow;
}

function isSlow(lane: Lane<unknown>, now: number): boolean {
  if (lane.isFailing || lane.lastTookMs > slowAfterMs) return true;
  for (const { startedAt } of lane.underWay) if (now - startedAt > slowAfterMs) return true;
  return false;
}
