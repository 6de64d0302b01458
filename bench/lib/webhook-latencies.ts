/** Latency from the commit of a delivery to the receiver, while nothing else is sent. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Peer } from './webhook-peers.ts';

const warmUp = 30;
const measured = 200;
const pauseMs = 50;

/** @returns pairs of a delivery's title and the time at which its commit was acknowledged */
export async function commitSlowly(peer: Peer, prefix: string): Promise<[string, number][]> {
  const committed: [string, number][] = [];
  for (let n = -warmUp; n < measured; n += 1) {
    const title = `${prefix} ${n}`;
    await peer.add(title);
    // Wall clock with fractions, comparable between processes on one machine.
    if (n >= 0) committed.push([title, performance.timeOrigin + performance.now()]);
    // Random pauses avoid synchronizing with the peer's intervals.
    await delay(pauseMs + Math.random() * pauseMs);
  }
  return committed;
}

/** Milliseconds from each commit to its arrival, ascending. */
export function lagsOf(
  committed: readonly [string, number][],
  arrivals: readonly [string, number][],
): number[] {
  const arrivedAt = new Map(arrivals);
  return committed
    .map(([title, at]) => (arrivedAt.get(title) ?? Number.NaN) - at)
    .toSorted((a, b) => a - b);
}
