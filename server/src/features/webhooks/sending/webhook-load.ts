/** What the slots know of one webhook while it has sends, and for a while after. */
import { Bag, type BagMember } from '../../../platform/bag.ts';
import type { RateLimit } from './rate-limit.ts';

/** One send under way. */
export type Slot = BagMember & {
  readonly webhookId: string;
  /** When it began to wait for a connection, and then for its answer. */
  waitingSince: number;
  /** Whose slots it counts among. */
  group: 'healthy' | 'others';
};

export type Load<T> = {
  /** Maximum of sends at a time. */
  window: number;
  hasSucceeded: boolean;
  isFailing: boolean;
  lastTookMs: number;
  readonly underWay: Bag<Slot>;
  waiting: T[];
  /** Whether it waits for a slot. */
  isInLine: boolean;
  idleSince: number;
  rate: RateLimit | null;
};

export const firstWindow = 8;
const slowAfterMs = 2_000;
/** What is known of an idle webhook is forgotten after this time. */
const forgetAfterMs = 60_000;

export function newLoad<T>(now: number): Load<T> {
  return {
    window: 1,
    hasSucceeded: false,
    isFailing: false,
    lastTookMs: 0,
    underWay: new Bag(),
    waiting: [],
    isInLine: false,
    idleSince: now,
    rate: null,
  };
}

/** The room in its window. */
export function openOf({ window, underWay, waiting }: Load<unknown>): number {
  return window - underWay.size - waiting.length;
}

export function hasNext({ waiting, underWay, window }: Load<unknown>): boolean {
  return waiting.length > 0 && underWay.size < window;
}

/** A receiver that has shown itself quick may have some more in hand. */
export function isQuick(load: Load<unknown>): boolean {
  return load.window > firstWindow;
}

export function isSlow(load: Load<unknown>, now: number): boolean {
  if (load.isFailing || load.lastTookMs > slowAfterMs) return true;
  for (const { waitingSince } of load.underWay) if (now - waitingSince > slowAfterMs) return true;
  return false;
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
}

function nextWindow(
  { window, hasSucceeded }: Load<unknown>,
  result: 'success' | 'failure',
  maxWindow: number,
): number {
  if (result === 'success') return Math.min(maxWindow, hasSucceeded ? window + 1 : firstWindow);
  return window > firstWindow ? Math.max(firstWindow, Math.floor(window / 2)) : window;
}
