import { hash } from 'node:crypto';

/** The next number, from 0 to below 1. */
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

/** Around `middle`, at most `factor` times as large or as small, and mostly near it. */
export function around(random: Random, middle: number, factor: number): number {
  return middle * factor ** (random() + random() - 1);
}

/** One of the choices, each as often as its weight says; there must be one. */
export function pickWeighted<T>(random: Random, choices: readonly (readonly [T, number])[]): T {
  const total = choices.reduce((sum, [, weight]) => sum + weight, 0);
  let left = random() * total;
  for (const [choice, weight] of choices) {
    left -= weight;
    if (left < 0) return choice;
  }
  const last = choices.at(-1);
  if (last === undefined) throw new RangeError('There is nothing to pick from.');
  return last[0];
}
