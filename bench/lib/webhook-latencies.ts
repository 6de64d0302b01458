/** From the commit of a delivery to the wire, while nothing else is sent. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Peer } from './webhook-peers.ts';

const warmUp = 30;
const measured = 200;
const pauseMs = 50;

/** @returns pairs of the title of a delivery and the moment when its commit was answered */
export async function commitSlowly(peer: Peer, prefix: string): Promise<[string, number][]> {
  const committed: [string, number][] = [];
  for (let n = -warmUp; n < measured; n += 1) {
    const title = `${prefix} ${n}`;
    await peer.add(title);
    // By the wall clock with fractions, comparable between processes of a machine.
    if (n >= 0) committed.push([title, performance.timeOrigin + performance.now()]);
    // Now and then out of step with whatever the peer does at intervals.
    await delay(pauseMs + Math.random() * pauseMs);
  }
  return committed;
}

/** Milliseconds from each commit to its arrival, in order. */
export function lagsOf(
  committed: readonly [string, number][],
  arrivals: readonly [string, number][],
): number[] {
  const arrivedAt = new Map(arrivals);
  return committed
    .map(([title, at]) => (arrivedAt.get(title) ?? Number.NaN) - at)
    .toSorted((a, b) => a - b);
}
