/** Recounts a funnel from the events of each person. */
import type { LoggedEvent } from '../../src/features/events/events.ts';
import { compare, groupsOf, sessionsOf, type Is, type SplitBy } from './recount-groups.ts';
import { rate } from './recount-numbers.ts';

const hour = 3_600_000;

/** @param people the events of each person in the range */
export function recountFunnel(
  people: readonly LoggedEvent[][],
  kinds: readonly string[],
  steps: readonly Is[],
  { windowHours, split }: { windowHours?: number; split: SplitBy },
  limit: number,
) {
  const maskOf = (event: LoggedEvent) =>
    steps.reduce((mask, is, step) => mask + (is(event) ? 2 ** step : 0), 0);
  const units = people.flatMap((events, person) => {
    const sorted = events.toSorted(
      (a, b) => a.at - b.at || maskOf(a) - maskOf(b) || compare(split(a), split(b)),
    );
    const parts = windowHours === undefined ? sessionsOf(sorted) : [sorted];
    return parts.map((part) => ({
      person,
      ...follow(
        part.filter(maskOf),
        steps,
        windowHours === undefined ? Infinity : windowHours * hour,
      ),
    }));
  });
  const reachedAny = units.filter(({ times }) => times.length > 0);
  const present = (of: typeof units) =>
    kinds.map((event, step) => {
      const at = (index: number) => of.filter(({ times }) => times.length > index);
      const here = at(step);
      const before = step === 0 ? here : at(step - 1);
      const waits = here.map(({ times }) => times[step] ?? 0).toSorted((a, b) => a - b);
      return {
        event,
        viewers: new Set(here.map(({ person }) => person)).size,
        sessions: windowHours === undefined ? here.length : null,
        fromPrevious: step === 0 ? null : rate(here.length, before.length),
        fromFirst: rate(here.length, at(0).length),
        dropOff: before.length - here.length,
        medianSeconds: step === 0 || waits.length === 0 ? null : middle(waits) / 1_000,
      };
    });
  const values = groupsOf(reachedAny, ({ start }) => (start === undefined ? '' : split(start)));
  return {
    steps: present(reachedAny),
    breakdown: values.slice(0, limit).map(({ value, of }) => ({ value, steps: present(of) })),
    otherValues: Math.max(0, values.length - limit),
  };
}

/** Recursive from the end: uses the latest earlier event that reached the previous step. */
function follow(events: readonly LoggedEvent[], steps: readonly Is[], windowMs: number) {
  const known = new Map<string, LoggedEvent[] | null>();
  const latest = (step: number, end: number): LoggedEvent[] | null => {
    for (let index = end - 1; index >= 0; index -= 1) {
      const chain = chainOf(step, index);
      if (chain !== null) return chain;
    }
    return null;
  };
  const chainOf = (step: number, index: number): LoggedEvent[] | null => {
    const key = `${step} ${index}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const event = events[index];
    let chain: LoggedEvent[] | null = null;
    if (event !== undefined && steps[step]?.(event) === true) {
      if (step === 0) chain = [event];
      else {
        const before = latest(step - 1, index);
        const start = before?.[0];
        if (before !== null && start !== undefined && event.at - start.at <= windowMs) {
          chain = [...before, event];
        }
      }
    }
    known.set(key, chain);
    return chain;
  };
  const times: number[] = [];
  let start: LoggedEvent | undefined;
  for (let step = 0; step < steps.length; step += 1) {
    const first = events.findIndex((_, index) => chainOf(step, index) !== null);
    if (first < 0) break;
    const chain = chainOf(step, first) ?? [];
    times.push((chain.at(-1)?.at ?? 0) - (chain.at(-2)?.at ?? chain.at(-1)?.at ?? 0));
    start = chain[0];
  }
  return { times, start };
}

function middle(sorted: readonly number[]): number {
  const half = sorted.length / 2;
  const [low = 0, high = 0] = [sorted[Math.ceil(half) - 1], sorted[Math.floor(half)]];
  return (low + high) / 2;
}
