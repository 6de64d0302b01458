import { hash } from 'node:crypto';

/** Returns a number in [0, 1). */
export type Random = () => number;

/** Random numbers seeded by the text, so that the demo is reproducible. */
export function randomFrom(text: string): Random {
  let drawn = 0;
  return () => {
    drawn += 1;
    return Number.parseInt(hash('sha256', `${text} ${drawn}`).slice(0, 12), 16) / 2 ** 48;
  };
}

export function between(random: Random, low: number, high: number): number {
  return low + random() * (high - low);
}

/** A number near `middle`, at most `factor` times larger or smaller. */
export function around(random: Random, middle: number, factor: number): number {
  return middle * factor ** (random() + random() - 1);
}

/**
 * Picks one of the choices with a probability proportional to its weight. There must be at least
 * one.
 */
export function pickWeighted<T>(random: Random, choices: readonly (readonly [T, number])[]): T {
  const total = choices.reduce((sum, [, weight]) => sum + weight, 0);
  let left = random() * total;
  for (const [choice, weight] of choices) {
    left -= weight;
    if (left < 0) return choice;
  }
  const last = choices.at(-1);
  if (last === undefined) throw new RangeError('Cannot pick from an empty list.');
  return last[0];
}
