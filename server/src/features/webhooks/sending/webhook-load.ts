/** The state of a webhook in the slots, kept while it has sends and for a while afterwards. */
import { Bag, type BagMember } from '../../../platform/memory/bag.ts';
import type { RateLimit } from './rate-limit.ts';

/**
 * The limits on a send: `quick` and `leisurely` until the response, `unknown` and `slow` only until
 * there is a connection. See `slots.ts`.
 */
export const poolNames = ['quick', 'leisurely', 'unknown', 'slow'] as const;
export type PoolName = (typeof poolNames)[number];

/** One send in flight. */
export type Slot = BagMember & {
  readonly webhookId: string;
  readonly startedAt: number;
  /** When it began to wait for a connection, and then for its response. */
  waitingSince: number;
  hasBegun: boolean;
  /** The pool in which it holds a slot, or null once only the claim limit applies. */
  pool: PoolName | null;
};

export type Load<T> = {
  readonly organizationId: string;
  pool: PoolName;
  /** Maximum concurrent sends. */
  window: number;
  hasSucceeded: boolean;
  isFailing: boolean;
  lastTookMs: number;
  readonly underWay: Bag<Slot>;
  readonly held: Record<PoolName, number>;
  waiting: T[];
  /** Whether it waits for a slot. */
  isInLine: boolean;
  idleSince: number;
  rate: RateLimit | null;
};

export const firstWindow = 8;
export const leisurelyAfterMs = 250;
const slowAfterMs = 2_000;
/** An idle webhook is forgotten after this time, except for whether it was healthy. */
const forgetAfterMs = 60_000;

/** @param isFailing whether its latest attempt is known to have failed */
export function newLoad<T>(organizationId: string, isFailing: boolean, now: number): Load<T> {
  return {
    organizationId,
    pool: isFailing ? 'slow' : 'unknown',
    window: 1,
    hasSucceeded: false,
    isFailing,
    lastTookMs: 0,
    underWay: new Bag(),
    held: { quick: 0, leisurely: 0, unknown: 0, slow: 0 },
    waiting: [],
    isInLine: false,
    idleSince: now,
    rate: null,
  };
}

/** The load of a webhook that was healthy when it was forgotten and need not prove itself again. */
export function rememberedLoad<T>(organizationId: string, tookMs: number, now: number): Load<T> {
  const load = newLoad<T>(organizationId, false, now);
  load.window = firstWindow;
  load.hasSucceeded = true;
  load.lastTookMs = tookMs;
  load.pool = latestPoolOf(load);
  return load;
}

/** The remaining room in its window. */
export function openOf({ window, underWay, waiting }: Load<unknown>): number {
  return window - underWay.size - waiting.length;
}

export function hasNext({ waiting, underWay, window }: Load<unknown>): boolean {
  return waiting.length > 0 && underWay.size < window;
}

/** A receiver that has proven quick may have more deliveries claimed in advance. */
export function hasShownItself(load: Load<unknown>): boolean {
  return load.window > firstWindow;
}

/** Its pool, from its latest send and the waiting time of those under way. */
export function loadPoolOf(load: Load<unknown>, now: number): PoolName {
  let longestMs = load.lastTookMs;
  for (const { waitingSince } of load.underWay) {
    if (now - waitingSince > longestMs) longestMs = now - waitingSince;
  }
  return poolAfter(load, longestMs);
}

function latestPoolOf(load: Load<unknown>): PoolName {
  return poolAfter(load, load.lastTookMs);
}

function poolAfter({ isFailing, hasSucceeded }: Load<unknown>, tookMs: number): PoolName {
  if (isFailing || tookMs > slowAfterMs) return 'slow';
  if (!hasSucceeded) return 'unknown';
  return tookMs > leisurelyAfterMs ? 'leisurely' : 'quick';
}

export function isForgotten({ underWay, waiting, idleSince }: Load<unknown>, now: number): boolean {
  return underWay.size === 0 && waiting.length === 0 && now - idleSince > forgetAfterMs;
}

/** Updates the load after a send has ended. */
export function learn(
  load: Load<unknown>,
  result: 'success' | 'failure',
  { tookMs, maxWindow }: { tookMs: number; maxWindow: number },
): void {
  load.lastTookMs = tookMs;
  load.isFailing = result === 'failure';
  load.window = nextWindow(load, result, maxWindow);
  load.hasSucceeded ||= result === 'success';
  load.pool = latestPoolOf(load);
}

function nextWindow(
  { window, hasSucceeded }: Load<unknown>,
  result: 'success' | 'failure',
  maxWindow: number,
): number {
  if (result === 'success') return Math.min(maxWindow, hasSucceeded ? window + 1 : firstWindow);
  return window > firstWindow ? Math.max(firstWindow, Math.floor(window / 2)) : window;
}
