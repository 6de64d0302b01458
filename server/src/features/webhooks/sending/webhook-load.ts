/** What the slots know of one webhook while it has sends, and for a while after. */
import { Bag, type BagMember } from '../../../platform/bag.ts';
import type { RateLimit } from './rate-limit.ts';

/**
 * What a send is limited by: `quick` and `leisurely` by the time until the answer, `unknown` and
 * `slow` only until there is a connection. See `slots.ts`.
 */
export const poolNames = ['quick', 'leisurely', 'unknown', 'slow'] as const;
export type PoolName = (typeof poolNames)[number];

/** One send under way. */
export type Slot = BagMember & {
  readonly webhookId: string;
  readonly startedAt: number;
  /** When it began to wait for a connection, and then for its answer. */
  waitingSince: number;
  hasBegun: boolean;
  /** Where it holds a slot; null once nothing limits it but what may be claimed. */
  pool: PoolName | null;
};

export type Load<T> = {
  readonly organizationId: string;
  /** Which slots its next send is among, as of the latest look. */
  pool: PoolName;
  /** Maximum of sends at a time. */
  window: number;
  hasSucceeded: boolean;
  isFailing: boolean;
  lastTookMs: number;
  readonly underWay: Bag<Slot>;
  /** Of those under way, the slots that they hold. */
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
/** What is known of an idle webhook is forgotten after this time, but for whether it was good. */
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

/** The load of a webhook that was good when it was forgotten: nobody waits until it proves itself. */
export function rememberedLoad<T>(organizationId: string, tookMs: number, now: number): Load<T> {
  const load = newLoad<T>(organizationId, false, now);
  load.window = firstWindow;
  load.hasSucceeded = true;
  load.lastTookMs = tookMs;
  load.pool = latestPoolOf(load);
  return load;
}

/** The room in its window. */
export function openOf({ window, underWay, waiting }: Load<unknown>): number {
  return window - underWay.size - waiting.length;
}

export function hasNext({ waiting, underWay, window }: Load<unknown>): boolean {
  return waiting.length > 0 && underWay.size < window;
}

/** A receiver that has shown itself quick may have some more in hand. */
export function hasShownItself(load: Load<unknown>): boolean {
  return load.window > firstWindow;
}

/** Its pool by its latest send, and by how long those have waited that are under way. */
export function poolOf(load: Load<unknown>, now: number): PoolName {
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

/** A send has ended: what that says about the receiver. */
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
