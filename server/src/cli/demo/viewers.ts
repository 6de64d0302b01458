/** The viewers of the demo. They are the same in every installation. */
import { connections, type DemoConnection } from './connection.ts';
import type { ViewerIdentity } from './feed-clips.ts';
import { around, between, pickWeighted, randomFrom } from './random.ts';

export type DemoViewer = {
  name: string;
  identity: ViewerIdentity;
  utcOffsetHours: number;
  connection: DemoConnection;
  /** Longest time spent on one clip. */
  patienceSeconds: number;
  /** Longest wait for the first frame. */
  waitsMs: number;
  /** Readiness to like an appealing clip, from 0 to 1. */
  enthusiasm: number;
  /** Probability of continuing to the next clip. */
  staying: number;
  visitsPerDay: number;
};

type Home = { country: string; utcOffsetHours: number };

const viewerCount = 60;

const devices = [
  ['ios', 45],
  ['android', 35],
  ['web', 20],
] as const;

/** Countries with their offset from UTC in hours, without daylight saving time. */
const homes: readonly (readonly [Home, number])[] = [
  [{ country: 'DE', utcOffsetHours: 1 }, 28],
  [{ country: 'US', utcOffsetHours: -5 }, 24],
  [{ country: 'GB', utcOffsetHours: 0 }, 14],
  [{ country: 'FR', utcOffsetHours: 1 }, 12],
  [{ country: 'BR', utcOffsetHours: -3 }, 10],
  [{ country: 'IN', utcOffsetHours: 5.5 }, 8],
  [{ country: 'JP', utcOffsetHours: 9 }, 4],
];

export const demoViewers: readonly DemoViewer[] = Array.from({ length: viewerCount }, (_, index) =>
  makeViewer(`viewer-${String(index + 1).padStart(2, '0')}`),
);

/** A viewer whose habits are derived from the name alone. */
export function makeViewer(name: string): DemoViewer {
  const random = randomFrom(name);
  const { country, utcOffsetHours } = pickWeighted(random, homes);
  return {
    name,
    identity: {
      ...(random() < 0.7 && { userId: name }),
      deviceId: `${name}-device`,
      device: pickWeighted(random, devices),
      country,
    },
    utcOffsetHours,
    connection: pickWeighted(random, connections),
    patienceSeconds: between(random, 20, 60),
    waitsMs: between(random, 1_500, 6_000),
    enthusiasm: between(random, 0.1, 0.8),
    staying: between(random, 0.8, 0.93),
    // A few viewers visit all the time, but most of them only now and then.
    visitsPerDay: around(random, 20, 2),
  };
}
