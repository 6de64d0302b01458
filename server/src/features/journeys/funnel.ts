/**
 * Funnels: how many units get from step to step.
 *
 * A step is reached by an event at or after the one that reached the previous step. A repeated step
 * replaces the earlier one, so the time between two steps is measured from the latest repeat; other
 * events in between do not matter. One event may match several steps, but advances an attempt by
 * one. The result of a unit (a session, or a viewer within a window after the first step) is its
 * farthest step. This is the rule of ClickHouse's `windowFunnel`, with times.
 */
import { hourMs } from '../../platform/values/time.ts';
import { groupReader, type JourneyDimension } from './dimensions.ts';
import { matcherOf, propertiesNeeded, type Matcher } from './matcher.ts';
import { compareNames, Names, rateOf } from './names.ts';
import type { Days } from './queries.ts';
import type { Question } from './scan.ts';
import { forEachSession, type ViewerEvents } from './viewer-rows.ts';

export type FunnelQuestion = {
  readonly moments: Days;
  readonly steps: readonly Matcher[];
  /** Null means within one session. */
  readonly windowHours: number | null;
  readonly breakdown: JourneyDimension | null;
  readonly limit: number;
  readonly sessionTimeoutMs: number;
};

const stepBits = 8;
const stepMask = 2 ** stepBits - 1;

type Tally = {
  readonly viewers: number[];
  readonly units: number[];
  /** Milliseconds since the previous step. */
  readonly times: number[][];
};

/** The result of one unit: the number of steps, the time of each, and the start of its attempt. */
type Reached = {
  readonly steps: number;
  readonly times: readonly number[];
  readonly group: number;
};

export class Funnel {
  readonly #asked: FunnelQuestion;
  readonly #groups = new Names(100_000);
  readonly #total: Tally;
  readonly #tallies = new Map<number, Tally>();

  constructor(asked: FunnelQuestion) {
    this.#asked = asked;
    this.#total = newTally(asked.steps.length);
  }

  get question(): Question {
    const { moments, steps, breakdown } = this.#asked;
    return {
      moments,
      properties: propertiesNeeded(steps),
      coder: (chunk, properties) => {
        const matches = steps.map((step) => matcherOf(step, chunk, properties));
        const groupOf = groupReader(chunk, breakdown, this.#groups);
        // Events that are not a step still extend a session.
        const least = this.#asked.windowHours === null ? 0 : -1;
        return (row) => {
          let mask = 0;
          for (let step = 0; step < matches.length; step += 1) {
            if (matches[step]?.(row) === true) mask |= 1 << step;
          }
          return mask === 0 ? least : (groupOf(row) << stepBits) | mask;
        };
      },
      compare: (a, b) =>
        (a & stepMask) - (b & stepMask) || this.#groups.compare(a >> stepBits, b >> stepBits),
      visit: (events) => this.#visit(events),
    };
  }

  #visit(events: ViewerEvents): void {
    const { windowHours, sessionTimeoutMs, breakdown } = this.#asked;
    const farthest = new Map<number, number>();
    let farthestOfAll = 0;
    const add = (from: number, to: number) => {
      const reached = this.#follow(events, from, to);
      if (reached.steps === 0) return;
      farthestOfAll = Math.max(farthestOfAll, reached.steps);
      addUnit(this.#total, reached);
      if (breakdown === null) return;
      addUnit(this.#tallyOf(reached.group), reached);
      farthest.set(reached.group, Math.max(farthest.get(reached.group) ?? 0, reached.steps));
    };
    if (windowHours === null) forEachSession(events, sessionTimeoutMs, add);
    else add(events.from, events.to);
    addViewer(this.#total, farthestOfAll);
    for (const [group, steps] of farthest) addViewer(this.#tallyOf(group), steps);
  }

  /** Tracks, for each step, the latest attempt that has reached it. */
  #follow({ at, codes }: ViewerEvents, from: number, to: number): Reached {
    const { steps, windowHours } = this.#asked;
    const windowMs = windowHours === null ? Infinity : windowHours * hourMs;
    const attempts: ({ start: number; last: number; group: number } | undefined)[] = [];
    const times: number[] = [];
    let reached = 0;
    let group = 0;
    for (let row = from; row < to; row += 1) {
      const code = codes[row] ?? 0;
      if ((code & stepMask) === 0) continue;
      const moment = at[row] ?? 0;
      // From the last step down, so that one event does not advance twice.
      for (let step = steps.length - 1; step >= 0; step -= 1) {
        if ((code & (1 << step)) === 0) continue;
        const before = attempts[step - 1];
        if (step === 0) attempts[0] = { start: moment, last: moment, group: code >> stepBits };
        else if (before !== undefined && moment - before.start <= windowMs) {
          attempts[step] = { ...before, last: moment };
        } else continue;
        if (step < reached) continue;
        times[step] = moment - (before?.last ?? moment);
        reached = step + 1;
        group = attempts[step]?.group ?? 0;
      }
    }
    return { steps: reached, times, group };
  }

  #tallyOf(group: number): Tally {
    let tally = this.#tallies.get(group);
    if (tally === undefined) {
      tally = newTally(this.#asked.steps.length);
      this.#tallies.set(group, tally);
    }
    return tally;
  }

  answer() {
    const { breakdown, limit } = this.#asked;
    const groups = [...this.#tallies]
      .map(([group, tally]) => ({ value: this.#groups.nameOf(group), tally }))
      .toSorted(
        (a, b) =>
          (b.tally.units[0] ?? 0) - (a.tally.units[0] ?? 0) || compareNames(a.value, b.value),
      );
    return {
      steps: this.#present(this.#total),
      breakdown:
        breakdown === null
          ? null
          : groups.slice(0, limit).map(({ value, tally }) => ({
              value: value || null,
              steps: this.#present(tally),
            })),
      otherValues: Math.max(0, groups.length - limit),
    };
  }

  #present({ viewers, units, times }: Tally) {
    const isBySession = this.#asked.windowHours === null;
    return this.#asked.steps.map(({ event }, step) => ({
      event: event ?? '',
      viewers: viewers[step] ?? 0,
      sessions: isBySession ? (units[step] ?? 0) : null,
      fromPrevious: step === 0 ? null : rateOf(units[step] ?? 0, units[step - 1] ?? 0),
      fromFirst: rateOf(units[step] ?? 0, units[0] ?? 0),
      dropOff: step === 0 ? 0 : (units[step - 1] ?? 0) - (units[step] ?? 0),
      medianSeconds: step === 0 ? null : medianSeconds(times[step] ?? []),
    }));
  }
}

function newTally(steps: number): Tally {
  const zeros = () => Array.from({ length: steps }, () => 0);
  return { viewers: zeros(), units: zeros(), times: zeros().map(() => []) };
}

function addUnit({ units, times }: Tally, reached: Reached): void {
  for (let step = 0; step < reached.steps; step += 1) {
    units[step] = (units[step] ?? 0) + 1;
    if (step > 0) times[step]?.push(reached.times[step] ?? 0);
  }
}

function addViewer({ viewers }: Tally, steps: number): void {
  for (let step = 0; step < steps; step += 1) viewers[step] = (viewers[step] ?? 0) + 1;
}

function medianSeconds(times: readonly number[]): number | null {
  const sorted = Float64Array.from(times).sort();
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  if (upper === undefined) return null;
  const lower = sorted.length % 2 === 1 ? upper : (sorted[middle - 1] ?? upper);
  return (lower + upper) / 2 / 1_000;
}
