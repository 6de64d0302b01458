/**
 * Determines how much may be claimed per webhook: as much as the webhook can handle, and an even
 * share of scarce resources.
 */
import { hasShownItself, openOf, type Load, type PoolName } from './webhook-load.ts';

/** The number of deliveries that may be claimed now. */
export type Room = {
  readonly total: number;
  /** For known webhooks, by id. */
  readonly allowances: ReadonlyMap<string, number>;
  /** Number of unknown webhooks that may each have one delivery claimed. */
  readonly unknownWebhooks: number;
};

/** Claim limits per kind of webhook, as factors of `total`. */
const quickFactor = 6;
const leisurelyFactor = 2;
/** Factor for unknown and slow webhooks together. */
const othersFactor = 4;
/** The share of that which slow webhooks leave to unknown ones. */
const reserveShare = 1 / 8;
/**
 * Maximum deliveries waiting here for connections to slow webhooks; the rest wait in the database.
 */
const maxSlowWaiting = 32;
/** Windows of a quick webhook that may wait in addition to the one in flight. */
const windowsAhead = 8;
/**
 * Maximum number of waiting deliveries, as a factor of `total`, shared evenly by the quick
 * webhooks.
 */
const aheadFactor = 2;

export type RoomFor = {
  /** The slots of quick webhooks. */
  readonly total: number;
  /** Claimed deliveries that are not recorded yet, waiting or not. */
  readonly claimed: number;
  /** A number that increases with each call. */
  readonly turn: number;
  /** Whether webhooks that are not quick may get deliveries. */
  readonly isForAll: boolean;
  readonly now: number;
};

export function roomFor(
  loads: ReadonlyMap<string, Load<unknown>>,
  { total, claimed, turn, now, isForAll }: RoomFor,
): Room {
  const webhooks: Record<PoolName, number> = { quick: 0, leisurely: 0, unknown: 0, slow: 0 };
  const taken: Record<PoolName, number> = { quick: 0, leisurely: 0, unknown: 0, slow: 0 };
  let slowWaiting = 0;
  for (const load of loads.values()) {
    webhooks[load.pool] += 1;
    taken[load.pool] += heldOf(load);
    if (load.pool === 'slow') slowWaiting += load.waiting.length;
  }
  const othersFree = Math.max(0, total * othersFactor - taken.unknown - taken.slow);
  const free: Record<PoolName, number> = {
    quick: total * quickFactor - taken.quick,
    leisurely: total * leisurelyFactor - taken.leisurely,
    unknown: othersFree,
    slow: othersFree - Math.ceil(total * othersFactor * reserveShare),
  };
  const ahead = Math.ceil((total * aheadFactor) / Math.max(1, webhooks.quick));
  const allowances = new Map<string, number>();
  const slowMayWait = Math.max(0, maxSlowWaiting - slowWaiting);
  const slowShare = Math.ceil(slowMayWait / Math.max(1, webhooks.slow));
  let slowPlace = turn;
  for (const [webhookId, load] of loads) {
    let allowance = wantedBy(load, ahead, now);
    allowance = Math.min(allowance, shareOf(free[load.pool], webhooks[load.pool], heldOf(load)));
    if (load.pool === 'slow') {
      slowPlace += 1;
      // If there are more slow webhooks than may wait, they take turns.
      const isTurn = slowPlace % webhooks.slow < slowMayWait;
      allowance = isTurn ? Math.min(allowance, slowShare) : 0;
    }
    const isIncluded = isForAll || load.pool === 'quick';
    allowances.set(webhookId, isIncluded ? Math.max(0, allowance) : 0);
  }
  const most = total * (quickFactor + leisurelyFactor + othersFactor);
  return { total: Math.max(0, most - claimed), allowances, unknownWebhooks: othersFree };
}

function heldOf({ underWay, waiting }: Load<unknown>): number {
  return underWay.size + waiting.length;
}

function wantedBy(load: Load<unknown>, ahead: number, now: number): number {
  const open = openOf(load);
  if (load.rate !== null) return Math.min(open, load.rate.offer(now));
  if (load.pool !== 'quick' || !hasShownItself(load)) return open;
  const mayWait = Math.min(ahead, load.window * windowsAhead);
  return open + mayWait < mayWait / 2 ? 0 : open + mayWait;
}

/** A webhook that holds nothing gets at least one while any is free. */
function shareOf(free: number, webhooks: number, held: number): number {
  const share = Math.floor((free - held) / (webhooks + 1));
  return held === 0 && free > 0 ? Math.max(1, share) : share;
}
