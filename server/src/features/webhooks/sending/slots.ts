/**
 * Decides which claimed delivery is sent when, and how many more may be claimed. The aim: receivers
 * that hang or fail delay nobody else, and one that answers gets all that it can take.
 *
 * 1. A webhook is unknown, healthy or slow. It is slow while its latest send failed or took over two
 *    seconds, or while a send waits for a connection, or then for its answer, for longer than that.
 * 2. An unknown webhook gets one send. Its first success opens a window of eight sends, each further
 *    success widens it by one, and a failure halves it, down to eight.
 * 3. Healthy webhooks share `total` slots. When these are used up, webhooks take turns.
 * 4. Unknown and slow webhooks have four times as many slots of their own. Slow ones share them
 *    evenly, but for a reserve that only unknown webhooks may use. So a webhook whose first send
 *    hangs never holds a slot of a healthy one. Few of them open a connection at the same time,
 *    because the handshakes of hundreds would keep the process busy for a second.
 * 5. A webhook with a rate limit gets no more claimed than its bucket holds: a tenth of a second's
 *    worth, or one.
 * 6. Deliveries beyond the window of a healthy webhook wait here, a few windows at most, so that a
 *    quick receiver need not wait for the next claim. A claim has a price of its own, so none is
 *    made for a webhook before half of them have gone. Nothing waits here for a slow webhook.
 */
import { RateLimit } from './rate-limit.ts';
import {
  hasNext,
  isForgotten,
  isQuick,
  isSlow,
  learn,
  newLoad,
  openOf,
  type Load,
  type Slot,
} from './webhook-load.ts';

export type SlotLimits = {
  /** Maximum of concurrent sends to healthy webhooks. */
  readonly total: number;
  /** Largest window of one webhook. */
  readonly perWebhook: number;
};

export type SendResult = 'success' | 'failure' | 'not made';

/** What may be claimed now. */
export type Room = {
  readonly total: number;
  /** By webhook, for those that are known. */
  readonly allowances: ReadonlyMap<string, number>;
  /** How many unknown webhooks may have a delivery claimed. */
  readonly unknownWebhooks: number;
};

/** Slots of unknown and slow webhooks, as a factor of `total`. */
const othersFactor = 4;
/** The share of these that slow webhooks leave to unknown ones. */
const reserveShare = 1 / 8;
/** Sends to unknown and slow webhooks that may wait for a connection, */
const maxConnecting = 8;
/** unless they have waited for so long that it is not the handshake that takes the time. */
const handshakeMs = 100;
/** Windows of a healthy webhook that may wait beside the one under way. */
const windowsAhead = 8;
/** What may wait in all, as a factor of `total`: the healthy webhooks share it evenly. */
const aheadFactor = 2;

export class Slots<T> {
  readonly #limits: SlotLimits;
  readonly #start: (item: T, slot: Slot) => void;
  readonly #now: () => number;
  readonly #loads = new Map<string, Load<T>>();
  /** Healthy webhooks that have something waiting and room in their window, but found no slot. */
  readonly #healthyLine: string[] = [];
  /** The same for unknown and slow webhooks. */
  readonly #othersLine: string[] = [];
  /** Sends to unknown and slow webhooks that have no connection yet, oldest first. */
  readonly #connecting = new Set<Slot>();
  readonly #underWay = { healthy: 0, others: 0 };

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
    return this.#underWay.healthy + this.#underWay.others;
  }

  /**
   * @param claimed deliveries that are claimed and not recorded, waiting or not
   * @returns what may be claimed now
   */
  room(claimed: number): Room {
    const { total } = this.#limits;
    const { healthy, slow, othersClaimed } = this.#lookAround();
    const othersRoom = Math.max(0, total * othersFactor - othersClaimed);
    const reserve = Math.ceil(total * othersFactor * reserveShare);
    const slowShare = Math.ceil(Math.max(0, othersRoom - reserve) / Math.max(1, slow.size));
    const aheadShare = Math.ceil((total * aheadFactor) / Math.max(1, healthy.size));
    const allowances = new Map<string, number>();
    const now = this.#now();
    for (const [webhookId, load] of this.#loads) {
      const open = openOf(load);
      if (!healthy.has(webhookId) || load.rate !== null) {
        const share = healthy.has(webhookId) ? open : Math.min(open, slowShare);
        allowances.set(webhookId, Math.max(0, Math.min(share, load.rate?.offer(now) ?? Infinity)));
        continue;
      }
      const ahead = isQuick(load) ? Math.min(aheadShare, load.window * windowsAhead) : 0;
      allowances.set(webhookId, open + ahead < ahead / 2 ? 0 : Math.max(0, open + ahead));
    }
    const maxClaimed = total * (1 + aheadFactor + othersFactor);
    return {
      total: Math.max(0, maxClaimed - claimed),
      allowances,
      unknownWebhooks: othersRoom,
    };
  }

  /** @param perSecond maximum of sends a second; null for no limit */
  limitRate(webhookId: string, perSecond: number | null): void {
    const load = this.#load(webhookId);
    if (perSecond === null) load.rate = null;
    else if (load.rate === null) load.rate = new RateLimit(perSecond, this.#now());
    else load.rate.change(perSecond, this.#now());
  }

  /**
   * How long until a webhook that its rate limit holds back may have something claimed; Infinity
   * without such a webhook.
   */
  untilTokenMs(): number {
    const now = this.#now();
    let untilMs = Infinity;
    for (const load of this.#loads.values()) {
      if (load.rate === null || openOf(load) <= 0) continue;
      untilMs = Math.min(untilMs, load.rate.untilTokenMs(now));
    }
    return untilMs;
  }

  /** Takes a claimed delivery: it starts now or waits for its turn. */
  enter(webhookId: string, item: T): void {
    const load = this.#load(webhookId);
    load.rate?.take();
    load.waiting.push(item);
    this.#standInLine(webhookId, load);
    this.serve();
  }

  /** The send has its connection. */
  begin(slot: Slot): void {
    slot.waitingSince = this.#now();
    if (this.#connecting.delete(slot)) this.#serveOthers();
  }

  end(slot: Slot, result: SendResult): void {
    const load = this.#load(slot.webhookId);
    if (!load.underWay.delete(slot)) return;
    this.#underWay[slot.group] -= 1;
    this.#connecting.delete(slot);
    const now = this.#now();
    load.idleSince = now;
    if (result !== 'not made') {
      const tookMs = now - slot.waitingSince;
      learn(load, result, { tookMs, maxWindow: this.#limits.perWebhook });
    }
    this.#standInLine(slot.webhookId, load);
    this.serve();
  }

  /** Starts what there is room for. Call it now and then: time makes room as well. */
  serve(): void {
    this.#serveOthers();
    this.#serveHealthy();
  }

  /** Gives back what waits for slow webhooks, for one webhook, or everything that waits. */
  takeWaiting(which: 'slow' | 'all' | { webhookId: string }): T[] {
    const now = this.#now();
    const taken: T[] = [];
    for (const [webhookId, load] of this.#loads) {
      if (load.waiting.length === 0) continue;
      if (which === 'slow' && !isSlow(load, now)) continue;
      if (typeof which === 'object' && which.webhookId !== webhookId) continue;
      taken.push(...load.waiting);
      load.waiting = [];
    }
    return taken;
  }

  /** Tells the healthy from the slow, forgets the idle, and starts what there is room for by now. */
  #lookAround(): { healthy: Set<string>; slow: Set<string>; othersClaimed: number } {
    const now = this.#now();
    const healthy = new Set<string>();
    const slow = new Set<string>();
    let othersClaimed = 0;
    for (const [webhookId, load] of this.#loads) {
      if (isForgotten(load, now)) {
        this.#loads.delete(webhookId);
        continue;
      }
      const isSlowNow = isSlow(load, now);
      if (load.hasSucceeded && !isSlowNow) {
        healthy.add(webhookId);
        continue;
      }
      if (isSlowNow) {
        slow.add(webhookId);
        for (const slot of load.underWay) this.#countAmongOthers(slot);
      }
      othersClaimed += load.underWay.size + load.waiting.length;
    }
    this.serve();
    return { healthy, slow, othersClaimed };
  }

  #countAmongOthers(slot: Slot): void {
    if (slot.group === 'others') return;
    slot.group = 'others';
    this.#underWay.healthy -= 1;
    this.#underWay.others += 1;
  }

  #standInLine(webhookId: string, load: Load<T>): void {
    if (load.isInLine || !hasNext(load)) return;
    load.isInLine = true;
    const isHealthy = load.hasSucceeded && !load.isFailing;
    (isHealthy ? this.#healthyLine : this.#othersLine).push(webhookId);
  }

  #serveHealthy(): void {
    while (this.#healthyLine.length > 0 && this.#underWay.healthy < this.#limits.total) {
      this.#startFirst(this.#healthyLine, 'healthy');
    }
  }

  /** What is claimed for them is limited, so only connections are a reason to wait here. */
  #serveOthers(): void {
    const now = this.#now();
    for (const slot of this.#connecting) {
      if (now - slot.waitingSince < handshakeMs) break;
      this.#connecting.delete(slot);
    }
    while (this.#othersLine.length > 0 && this.#connecting.size < maxConnecting) {
      this.#startFirst(this.#othersLine, 'others');
    }
  }

  #startFirst(line: string[], group: Slot['group']): void {
    const webhookId = line.shift() ?? '';
    const load = this.#loads.get(webhookId);
    if (load === undefined) return;
    load.isInLine = false;
    if (hasNext(load)) this.#startNext(webhookId, load, group);
    this.#standInLine(webhookId, load);
  }

  #startNext(webhookId: string, load: Load<T>, group: Slot['group']): void {
    const item = load.waiting.shift();
    if (item === undefined) return;
    const slot: Slot = { webhookId, waitingSince: this.#now(), group, place: 0 };
    load.underWay.add(slot);
    this.#underWay[group] += 1;
    if (group === 'others') this.#connecting.add(slot);
    this.#start(item, slot);
  }

  #load(webhookId: string): Load<T> {
    const known = this.#loads.get(webhookId);
    if (known !== undefined) return known;
    const load = newLoad<T>(this.#now());
    this.#loads.set(webhookId, load);
    return load;
  }
}
