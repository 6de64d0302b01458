/** When viewers visit, and what their apps send. */
import { randomUUID } from 'node:crypto';
import { randomFrom } from '../../server/src/cli/demo/random.ts';
import { decisionOf, type Clip, type Watcher, type World } from './quality-world.ts';

export const pageSize = 10;

export type Visit = { readonly viewer: Watcher; readonly number: number; readonly startMs: number };

const hourMs = 3_600_000;

/** Viewers come in random order; the previous day is twenty hours ago. */
export function planVisits(world: World): Visit[] {
  const random = randomFrom(`${world.seed} order`);
  const round = (number: number) =>
    world.viewers
      .map((viewer) => ({ viewer, key: random() }))
      .toSorted((a, b) => a.key - b.key)
      .map(({ viewer }) => {
        const isBefore = number < world.visitsBefore;
        return { viewer, number, startMs: Date.now() - (isBefore ? 20 * hourMs : 0) };
      });
  const count = world.visitsBefore + world.visitsRated;
  return Array.from({ length: count }, (_, number) => round(number)).flat();
}

/** The events that a viewer's app sends about a page, in order. */
export function eventsOf(world: World, visit: Visit, page: readonly Clip[], feedId: string) {
  const { viewer, number } = visit;
  let atMs = visit.startMs;
  const common = { userId: viewer.name, country: viewer.country, device: 'web' };
  const events: Record<string, unknown>[] = [];
  const tell = (event: string, contentId: string, data: object) => {
    const timestamp = new Date(Math.min(Date.now(), atMs)).toISOString();
    const sessionId = `${viewer.name}-${number}`;
    events.push({ ...common, eventId: randomUUID(), sessionId, event, contentId, timestamp, data });
  };
  for (const [position, clip] of page.entries()) {
    const { watchSeconds, likes, saves, shares } = decisionOf(world, viewer, clip, number);
    tell('impression', clip.id, { position, feedId, visibleSeconds: watchSeconds });
    tell('playStart', clip.id, { startupTime: 100 });
    atMs += watchSeconds * 1_000;
    const currentTime = Math.min(watchSeconds, clip.duration);
    tell('watchProgress', clip.id, {
      currentTime,
      duration: clip.duration,
      watchTime: watchSeconds,
    });
    if (watchSeconds >= clip.duration) {
      tell('completion', clip.id, { watchTime: watchSeconds, looped: false });
    }
    if (likes) tell('like', clip.id, {});
    if (saves) tell('save', clip.id, {});
    if (shares) tell('share', clip.id, { platform: 'copy_link' });
    const next = page[position + 1];
    if (next === undefined) continue;
    tell('swipe', next.id, { fromContentId: clip.id, watchTimeOnFrom: watchSeconds });
  }
  return events;
}
