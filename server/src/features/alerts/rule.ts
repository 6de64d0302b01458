/**
 * When an alert opens and resolves, as a function of windows of whole hours.
 *
 *   unknown, ok ── breached, and the cool-down is over ──▶ firing   (opened)
 *   firing ── fine for `resolveAfter` windows in a row ──▶ ok       (resolved)
 *
 * 1. Each hour is evaluated once, in order, by the window that ends with it.
 * 2. A window with too little data has no effect: it neither opens nor resolves.
 *
 * A band is computed from the same hours of the previous weeks: median ± max(width × 1.4826 × MAD,
 * minChange × median), where MAD is the median absolute deviation. 1.4826 makes MAD an estimate of
 * the standard deviation of normal data, and a width of 3.5 is what Iglewicz and Hoaglin recommend
 * for outliers ("How to Detect and Handle Outliers", ASQC, 1993). One bad week in four moves
 * neither the median nor MAD by much, unlike mean and standard deviation. `minChange` prevents a
 * band of zero width after very similar weeks.
 */
import { hourMs } from '../../platform/values/time.ts';
import type { WatchedMetric, WindowValue } from '../analytics/analytics.ts';

export type AlertCondition =
  | { readonly type: 'above' | 'below'; readonly threshold: number }
  | {
      readonly type: 'band';
      readonly direction: 'above' | 'below' | 'both';
      readonly width: number;
      readonly weeks: number;
      readonly minChange: number;
    };

export type AlertRule = WatchedMetric & {
  readonly windowHours: number;
  readonly condition: AlertCondition;
  readonly minData: number;
  readonly cooldownHours: number;
  readonly resolveAfter: number;
};

export type Judgement = {
  readonly verdict: 'unknown' | 'fine' | 'breached';
  readonly value: number | null;
  /** The bounds of the normal range; null if unbounded. */
  readonly low: number | null;
  readonly high: number | null;
};

/** Number of weeks with data that a band needs. */
export const minWeeks = 3;
const weekMs = 7 * 24 * hourMs;
const normalScale = 1.4826;

export function windowsOf({ windowHours, condition }: AlertRule, endMs: number) {
  const weeks = condition.type === 'band' ? condition.weeks : 0;
  return Array.from({ length: weeks + 1 }, (_, week) => ({
    startMs: endMs - week * weekMs - windowHours * hourMs,
    endMs: endMs - week * weekMs,
  }));
}

/**
 * @param values of the windows of `windowsOf`
 * @param isCount whether the metric is a count
 */
export function judgeRule(
  { condition, minData }: AlertRule,
  [now = nothing, ...earlier]: readonly WindowValue[],
  isCount: boolean,
): Judgement {
  const hasData = ({ value, base }: WindowValue) => value !== null && (base ?? minData) >= minData;
  const { value } = now;
  if (condition.type !== 'band') {
    const { type, threshold } = condition;
    const bounds =
      type === 'above' ? { low: null, high: threshold } : { low: threshold, high: null };
    return verdictOf(hasData(now) ? value : null, value, bounds);
  }
  const known = earlier.flatMap((window) => (hasData(window) ? [window.value ?? 0] : []));
  const center = median(known);
  // An alert should catch a count that drops to zero, so the previous weeks must have enough data.
  const isEnough = known.length >= minWeeks && (!isCount || center >= minData);
  if (!isEnough) return { verdict: 'unknown', value, low: null, high: null };
  const { direction, width, minChange } = condition;
  const deviation = normalScale * median(known.map((each) => Math.abs(each - center)));
  const half = Math.max(width * deviation, minChange * center);
  return verdictOf(hasData(now) ? value : null, value, {
    low: direction === 'above' ? null : Math.max(0, center - half),
    high: direction === 'below' ? null : center + half,
  });
}

const nothing: WindowValue = { value: null, base: null };

function verdictOf(
  judged: number | null,
  value: number | null,
  { low, high }: { low: number | null; high: number | null },
): Judgement {
  if (judged === null) return { verdict: 'unknown', value, low, high };
  const isOut = (low !== null && judged < low) || (high !== null && judged > high);
  return { verdict: isOut ? 'breached' : 'fine', value, low, high };
}

/** NaN without values. */
function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? NaN) + upper) / 2 : upper;
}

export type AlertState = {
  readonly state: 'unknown' | 'ok' | 'firing';
  readonly calmWindows: number;
  /** Window ends in the organization's local time. */
  readonly openedAtMs: number | null;
  readonly resolvedAtMs: number | null;
};

export const newState: AlertState = {
  state: 'unknown',
  calmWindows: 0,
  openedAtMs: null,
  resolvedAtMs: null,
};

export type Step = { readonly next: AlertState; readonly change: 'opened' | 'resolved' | null };

/** The state after a judgement. @param atMs the end of the window */
export function nextState(
  { resolveAfter, cooldownHours }: AlertRule,
  state: AlertState,
  { verdict }: Judgement,
  atMs: number,
): Step {
  if (state.state === 'firing') {
    if (verdict === 'unknown') return { next: state, change: null };
    const calmWindows = verdict === 'fine' ? state.calmWindows + 1 : 0;
    if (calmWindows < resolveAfter) return { next: { ...state, calmWindows }, change: null };
    const next = { ...state, state: 'ok', calmWindows: 0, resolvedAtMs: atMs } as const;
    return { next, change: 'resolved' };
  }
  const isCool = state.resolvedAtMs === null || atMs - state.resolvedAtMs >= cooldownHours * hourMs;
  if (verdict === 'breached' && isCool) {
    const next = { ...state, state: 'firing', calmWindows: 0, openedAtMs: atMs } as const;
    return { next, change: 'opened' };
  }
  return { next: { ...state, state: verdict === 'unknown' ? 'unknown' : 'ok' }, change: null };
}
