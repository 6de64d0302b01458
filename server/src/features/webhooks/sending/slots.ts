/**
 * Decides when each claimed delivery is sent and how many more may be claimed. Receivers that hang,
 * fail or are slow must not delay others, and a responsive receiver gets as much as it can handle.
 *
 * 1. A webhook is slow if its latest send failed or took over two seconds, or while a send has been
 *    waiting longer than that for a connection, or then for its response. Otherwise, it is unknown
 *    before its first success, leisurely if its latest send took over a quarter of a second, and
 *    quick in all other cases.
 * 2. An unknown webhook gets one send. Its first success opens a window of eight sends, each
 *    further success widens it by one, and a failure halves it, down to eight. A webhook that was
 *    healthy when it was forgotten starts with its window.
 * 3. Quick webhooks share `total` slots, leisurely ones twice as many, each pool divided by
 *    organization and webhook (`slot-pool.ts`). A send that turns out to be leisurely or slow gives
 *    up its quick slot.
 * 4. Sends to unknown and slow webhooks are limited by what may be claimed for them: four times
 *    `total`, of which slow ones leave a reserve to unknown ones. A webhook whose first send hangs
 *    therefore never holds a slot of a healthy one. All but quick webhooks open few connections at
 *    a time (`connecting.ts`); each kind has separate places for that, so that none waits for
 *    another.
 * 5. For a webhook with a rate limit, no more is claimed than may be sent now (`rate-limit.ts`).
 * 6. Deliveries beyond a quick webhook's window wait here, a few windows at most, so that a quick
 *    receiver need not wait for the next claim. Claims have a fixed cost, so the next claim for a
 *    webhook is made only when half of them have been sent, and claims for webhooks that are not
 *    quick are made only now and then (`claim-turns.ts`).
 */
import { ClaimTurns } from './claim-turns.ts';
import { Connecting, connectingPlaces } from './connecting.ts';
import { KnownWebhooks, type KnownWebhook } from './known-webhooks.ts';
import { roomFor, type Room } from './room.ts';
import { SlotPool } from './slot-pool.ts';
import {
  hasNext,
  learn,
  leisurelyAfterMs,
  openOf,
  poolNames,
  loadPoolOf,
  type Load,
  type PoolName,
  type Slot,
} from './webhook-load.ts';

export type SlotLimits = {
  /** Maximum concurrent sends to quick webhooks. */
  readonly total: number;
  /** Maximum window of one webhook. */
  readonly perWebhook: number;
};

export type SendResult = 'success' | 'failure' | 'not made';

/** Interval between checks for sends that have lasted so long that they must give up their slot. */
const lookAgainMs = 25;
/**
 * Starting a send takes a tenth of a millisecond. After this many starts, other work gets a turn.
 */
const maxStartsAtOnce = 32;

export class SendSlots<T> {
  readonly #limits: SlotLimits;
  readonly #start: (item: T, slot: Slot) => void;
  readonly #now: () => number;
  readonly #webhooks = new KnownWebhooks<T>();
  readonly #turns = new ClaimTurns();
  readonly #pools: Record<PoolName, SlotPool>;
  readonly #connecting = new Connecting();
  #underWay = 0;
  #immediate: NodeJS.Immediate | null = null;
  #timer: NodeJS.Timeout | null = null;

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
    this.#pools = {
      quick: new SlotPool({ size: limits.total, share: 3 }),
      leisurely: new SlotPool({ size: limits.total * 2, share: 3 }),
      unknown: new SlotPool({ size: connectingPlaces('unknown'), share: 1 }),
      slow: new SlotPool({ size: connectingPlaces('slow'), share: 1 }),
    };
  }

  get underWay(): number {
    return this.#underWay;
  }

  /**
   * @param claimed claimed deliveries that are not recorded yet, waiting or not
   * @returns what may be claimed now
   */
  room(claimed: number): Room {
    this.#lookAround();
    const { total } = this.#limits;
    const now = this.#now();
    const { turn, isForAll } = this.#turns.next(now);
    return roomFor(this.#webhooks.loads, { total, claimed, turn, isForAll, now });
  }

  /** Must be called before the first `enter` for a claimed webhook. */
  know(webhook: KnownWebhook): void {
    this.#webhooks.know(webhook, this.#now());
  }

  /**
   * Time until something may be claimed for a rate-limited webhook, or for those that are not quick
   * if the latest claim left them out; Infinity without such a webhook.
   */
  untilRoomMs(): number {
    const now = this.#now();
    const untilForAllMs = this.#turns.untilForAllMs(now);
    let untilMs = Infinity;
    for (const load of this.#webhooks.loads.values()) {
      if (load.pool !== 'quick') untilMs = Math.min(untilMs, untilForAllMs);
      if (load.rate === null || openOf(load) <= 0) continue;
      untilMs = Math.min(untilMs, load.rate.untilRoomMs(now));
    }
    return untilMs;
  }

  /** Adds a claimed delivery, which starts now or waits for its turn. */
  enter(webhookId: string, item: T): void {
    const load = this.#webhooks.loads.get(webhookId);
    if (load === undefined) throw new Error(`unknown webhook: ${webhookId}`);
    load.rate?.take();
    load.waiting.push(item);
    this.#standInLine(webhookId, load);
    this.serve();
  }

  /** The send has a connection. */
  begin(slot: Slot): void {
    const now = this.#now();
    slot.waitingSince = now;
    if (!slot.hasBegun) this.#webhooks.loads.get(slot.webhookId)?.rate?.begin(now);
    slot.hasBegun = true;
    if (this.#connecting.leave(slot, now)) {
      this.#connected(slot);
      this.serve();
    }
  }

  end(slot: Slot, result: SendResult): void {
    const load = this.#webhooks.loads.get(slot.webhookId);
    if (!load?.underWay.delete(slot)) return;
    this.#underWay -= 1;
    const now = this.#now();
    this.#connecting.leave(slot, now);
    this.#leavePool(slot);
    load.idleSince = now;
    if (!slot.hasBegun && result === 'not made') load.rate?.giveBack();
    else if (!slot.hasBegun) load.rate?.begin(now);
    if (result !== 'not made') {
      const tookMs = now - slot.waitingSince;
      learn(load, result, { tookMs, maxWindow: this.#limits.perWebhook });
    }
    this.#standInLine(slot.webhookId, load);
    this.serve();
  }

  /**
   * Starts whatever there is room for. Must be called periodically, because room also appears as
   * time passes.
   */
  serve(): void {
    const now = this.#now();
    for (const slot of this.#connecting.takeOverdue(now)) this.#connected(slot);
    for (const name of poolNames) this.#serve(name);
  }

  /**
   * Removes and returns what waits beyond the window of slow webhooks, for one webhook, or
   * everything.
   */
  takeWaiting(which: 'slow' | 'all' | { webhookId: string }): T[] {
    const taken: T[] = [];
    for (const [webhookId, load] of this.#webhooks.loads) {
      if (which === 'slow' && loadPoolOf(load, this.#now()) !== 'slow') continue;
      if (typeof which === 'object' && which.webhookId !== webhookId) continue;
      const kept = which === 'slow' ? Math.max(0, load.window - load.underWay.size) : 0;
      for (const item of load.waiting.splice(kept)) {
        load.rate?.giveBack();
        taken.push(item);
      }
    }
    return taken;
  }

  /** Reclassifies webhooks, forgets idle ones, and starts whatever there is room for. */
  #lookAround(): void {
    const now = this.#now();
    for (const [webhookId, load] of this.#webhooks.loads) {
      if (!this.#webhooks.forgetIdle(webhookId, load, now)) this.#reclassify(load, now);
    }
    this.serve();
  }

  #reclassify(load: Load<T>, now: number): void {
    load.pool = loadPoolOf(load, now);
    for (const slot of load.underWay) this.#moveOn(slot, load, now);
  }

  /** A long send gives up its slot. */
  #moveOn(slot: Slot, load: Load<T>, now: number): void {
    const { pool } = slot;
    if (pool !== 'quick' && pool !== 'leisurely') return;
    if (load.pool === 'slow') this.#leavePool(slot);
    else if (pool === 'quick' && now - slot.waitingSince > leisurelyAfterMs) {
      this.#leavePool(slot);
      this.#enterPool(slot, load, 'leisurely');
    }
  }

  #standInLine(webhookId: string, load: Load<T>): void {
    if (load.isInLine || !hasNext(load)) return;
    load.isInLine = true;
    this.#pools[load.pool].wait(load.organizationId, webhookId);
  }

  #serve(name: PoolName): void {
    const pool = this.#pools[name];
    const sendsOf = (webhookId: string) => this.#webhooks.loads.get(webhookId)?.held[name] ?? 0;
    for (let starts = 0; pool.isWaitedFor; starts += 1) {
      if (starts === maxStartsAtOnce) return this.#serveNext();
      const untilMs = this.#connecting.untilRoomMs(name, this.#now());
      if (untilMs > 0) return this.#serveSoon(untilMs);
      const webhookId = pool.next(sendsOf);
      if (webhookId === null) return this.#serveSoon(lookAgainMs);
      const load = this.#webhooks.loads.get(webhookId);
      if (load === undefined) continue;
      load.isInLine = false;
      const isMoved = load.pool !== name;
      if (hasNext(load) && !isMoved) this.#startNext(webhookId, load, name);
      this.#standInLine(webhookId, load);
      if (isMoved) this.#serve(load.pool);
    }
  }

  #serveNext(): void {
    if (this.#immediate !== null) return;
    this.#immediate = setImmediate(() => {
      this.#immediate = null;
      this.serve();
    });
  }

  /**
   * Schedules a `serve`, because room appears as time passes while connections and responses are
   * slow.
   */
  #serveSoon(ms: number): void {
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#lookAround();
    }, ms).unref();
  }

  #startNext(webhookId: string, load: Load<T>, pool: PoolName): void {
    const item = load.waiting.shift();
    if (item === undefined) return;
    const now = this.#now();
    const slot: Slot = {
      webhookId,
      startedAt: now,
      waitingSince: now,
      hasBegun: false,
      pool: null,
      place: 0,
    };
    load.underWay.add(slot);
    this.#underWay += 1;
    this.#enterPool(slot, load, pool);
    this.#connecting.add(slot, pool);
    this.#start(item, slot);
  }

  /** Sends to unknown and slow webhooks are limited only until they have a connection. */
  #connected(slot: Slot): void {
    if (slot.pool === 'unknown' || slot.pool === 'slow') this.#leavePool(slot);
  }

  #enterPool(slot: Slot, load: Load<T>, pool: PoolName): void {
    slot.pool = pool;
    load.held[pool] += 1;
    this.#pools[pool].take(load.organizationId);
  }

  #leavePool(slot: Slot): void {
    const load = this.#webhooks.loads.get(slot.webhookId);
    if (slot.pool === null || load === undefined) return;
    load.held[slot.pool] -= 1;
    this.#pools[slot.pool].giveBack(load.organizationId);
    slot.pool = null;
  }
}
