/**
 * When an experiment with a planned end is looked at: at the first moments of UTC days, from its
 * minimum runtime on, and at its end. Between two looks results stay as they were at the last one, so
 * reading them a thousand times is one look. Experiments that last long are looked at every second,
 * third, … day, at most 30 times.
 */
import { dayMs } from '../../platform/time.ts';
const maxLooks = 30;

/** The moments of all looks, in milliseconds of the Unix epoch, ascending; the last is the end. */
export function lookMoments(startMs: number, endMs: number, minimumDays: number): number[] {
  const moments: number[] = [];
  const firstMs = Math.ceil((startMs + minimumDays * dayMs) / dayMs) * dayMs;
  for (let moment = firstMs; moment < endMs; moment += dayMs) moments.push(moment);
  const every = Math.ceil((moments.length + 1) / maxLooks);
  return [...moments.filter((_, index) => (index + 1) % every === 0), endMs];
}

/** The looks as fractions of the planned time. */
export function lookTimes(moments: readonly number[], startMs: number, endMs: number): number[] {
  return moments.map((moment) => (moment - startMs) / (endMs - startMs));
}

/** The index of the last look that was due at a moment; −1 before the first. */
export function lookDueAt(moments: readonly number[], nowMs: number): number {
  return moments.findLastIndex((moment) => moment <= nowMs);
}
