/** Samples for the search for unheld promises. A comment marks the expected findings. */
import { awaitedLater } from '../src/platform/async/awaited-later.ts';

type Work = () => Promise<number>;

export async function variable(start: Work, other: Work): Promise<number> {
  const started = start(); // finding
  const second = await other();
  return second + (await started);
}

export async function array(start: Work, other: Work): Promise<number> {
  const started = [1, 2].map(() => start()); // finding
  const second = await other();
  return second + (await Promise.all(started)).length;
}

export async function loop(start: Work, other: Work): Promise<void> {
  const started: Promise<number>[] = [];
  for (const _ of [1, 2]) {
    await other();
    started.push(start()); // finding
  }
  await Promise.all(started);
}

const add = async (first: Promise<number>, second: number) => second + (await first);

export async function neighbours(start: Work, other: Work): Promise<number> {
  return add(start(), await other()); // finding
}

export async function properties(start: Work, other: Work): Promise<number> {
  const both = { first: start(), second: await other() }; // finding
  return both.second + (await both.first);
}

export async function thrown(start: Work, isWrong: boolean): Promise<number> {
  const started = start(); // finding
  if (isWrong) throw new Error('wrong');
  return started;
}

export async function oneByOne(start: Work): Promise<number> {
  const started = [start(), start()]; // finding
  let sum = 0;
  for (const one of started) sum += await one;
  return sum;
}

export async function assigned(start: Work, other: Work): Promise<number> {
  let started: Promise<number> | null = null;
  const isWanted = (await other()) > 0;
  if (isWanted) started = start(); // finding
  await other();
  return (await started) ?? 0;
}

export async function resolvers(other: Work): Promise<void> {
  const { promise, reject } = Promise.withResolvers<void>(); // finding
  setTimeout(() => reject(new Error('too late')), 1);
  await other();
  await promise;
}

export class Holder {
  #started: Promise<number> | null = null;

  async property(start: Work, other: Work): Promise<number> {
    this.#started = start(); // finding
    await other();
    return this.#started;
  }

  shared(start: Work): Promise<number> {
    this.#started ??= start();
    return this.#started;
  }
}

export async function sideBySide(start: Work, other: Work): Promise<number> {
  const [first, second] = await Promise.all([start(), other()]);
  return first + second;
}

export async function inTurn(start: Work, other: Work): Promise<number> {
  const first = await start();
  return first + (await other());
}

export async function marked(start: Work, other: Work): Promise<number> {
  const first = awaitedLater(start());
  const second = start().catch(() => 0);
  const third = start();
  third.catch(() => undefined);
  return (await other()) + (await first) + (await second) + (await third);
}

export async function raced(start: Work, other: Work): Promise<number> {
  const started = start();
  const first = await Promise.race([started, other()]);
  return first + (await started);
}

export async function onlyResolves(other: Work): Promise<void> {
  const later = new Promise<void>((resolve) => setTimeout(resolve, 1));
  await other();
  await later;
}
