/**
 * Engagement events as sent by a large audience: many concurrent sessions, each watching one item
 * after another and sending ten events at a time, the default of players.
 */
import { randomUUID } from 'node:crypto';
import type { LoggedEvent } from '../../server/src/features/events/events.ts';

const devices = ['ios', 'android', 'web'] as const;
const countries = ['DE', 'FR', 'US', 'BR', 'JP', 'IN', 'GB', 'IT', 'ES', 'MX'];
const renditions = ['540p', '720p', '1080p'];
const eventsTogether = 10;

type Session = Pick<LoggedEvent, 'userId' | 'sessionId' | 'country' | 'device'> & {
  now: number;
  unsent: LoggedEvent[];
};

/**
 * Generates blocks of about `blockEvents` events, `total` in all, from interleaved sessions of
 * `viewers` people (200,000 by default). Half of all plays go to a tenth of the items.
 */
export function* eventBlocks(options: {
  total: number;
  blockEvents: number;
  sessions: number;
  contentIds: readonly string[];
  endMs: number;
  viewers?: number;
}): Generator<LoggedEvent[]> {
  const { total, blockEvents, contentIds, endMs, viewers = 200_000 } = options;
  const startMs = endMs - 30 * 60_000;
  const sessions = Array.from({ length: options.sessions }, () => newSession(startMs, viewers));
  let made = 0;
  for (let turn = 0; made < total;) {
    const block: LoggedEvent[] = [];
    while (block.length < blockEvents) {
      const place = turn % sessions.length;
      let session = sessions[place];
      // A session lasts a few minutes; then another viewer takes its place.
      if (session === undefined || Math.random() < 0.05) session = newSession(startMs, viewers);
      sessions[place] = session;
      while (session.unsent.length < eventsTogether) watch(session, pick(contentIds));
      block.push(...session.unsent.splice(0, eventsTogether));
      turn += 1;
    }
    made += block.length;
    yield block;
  }
}

function newSession(startMs: number, viewers: number): Session {
  return {
    userId: `user-${Math.floor(Math.random() * viewers)}`,
    sessionId: randomUUID(),
    country: countries[Math.floor(Math.random() * countries.length)] ?? 'DE',
    device: devices[Math.floor(Math.random() * devices.length)] ?? 'web',
    now: startMs + Math.floor(Math.random() * 60_000),
    unsent: [],
  };
}

function pick(items: readonly string[]): string {
  return items[Math.floor(items.length * Math.random() ** 3.3)] ?? '';
}

/** One view of a clip of fifteen seconds: seven or eight events. */
function watch(session: Session, contentId: string): void {
  const rendition = renditions[Math.floor(Math.random() * renditions.length)] ?? '720p';
  const add = (event: LoggedEvent['event'], data: LoggedEvent['data']) => {
    const { userId, sessionId, country, device, now } = session;
    const ids = { userId, sessionId, country, device } as Pick<LoggedEvent, 'userId'>;
    session.unsent.push({ eventId: randomUUID(), event, contentId, at: now, ...ids, data });
  };
  add('impression', { position: Math.floor(Math.random() * 50), feedId: 'fed_bench' });
  session.now += 100;
  add('playStart', { startupTime: 80 + Math.floor(Math.random() * 400), rendition, codec: 'h264' });
  for (let position = 3; position <= 12; position += 3) {
    session.now += 3_000;
    add('watchProgress', { currentTime: position, duration: 15, rendition });
  }
  session.now += 3_000;
  add('completion', { watchTime: 15, looped: false });
  if (Math.random() < 0.1) add('like', {});
}
