/**
 * Realistic traffic for tests, reproducible by seed. People watch in sessions, swipe through a feed
 * with a few popular items, leave early or watch in loops, and their players stall and fail. Some
 * are users, some only devices or sessions, some anonymous.
 */
import type { EventDevice, EventKind, LoggedEvent } from '../../src/features/events/events.ts';

/** Entry points; not every app reports one. */
const entryPoints = [{ entryPoint: 'feed' }, { entryPoint: 'search' }, {}, { feedId: 'fed_1' }];
const appVersions = ['2.0.0', '2.1.0', '3.0.0-beta'];

export type TrafficOptions = {
  seed: number;
  contentIds: readonly string[];
  startMs: number;
  endMs: number;
  viewers: number;
  sessions: number;
};

type Random = () => number;

/** Mulberry32: small, and good enough for simulated viewers. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function shuffled<T>(items: readonly T[], seed: number): T[] {
  const random = createRandom(seed);
  const result = [...items];
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [result[last], result[other]] = [result[other] as T, result[last] as T];
  }
  return result;
}

type Person = {
  userId?: string;
  deviceId?: string;
  country?: string;
  device?: EventDevice;
  appVersion?: string;
  /** Whether the app sends session ids and view ids. */
  hasSessions: boolean;
  hasViews: boolean;
};

const devices = ['ios', 'android', 'web'] as const;
const countries = ['DE', 'FR', 'US', 'BR', 'JP'];
const renditions = ['360p', '540p', '720p', '1080p'];
const codecs = ['h264', 'hevc', 'av1'];
const platforms = ['copy_link', 'messages', 'social'];
const failures = ['MEDIA_DECODE', 'NETWORK', 'MANIFEST_PARSE'];

export function makeTraffic(options: TrafficOptions): LoggedEvent[] {
  const random = createRandom(options.seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const people = Array.from({ length: options.viewers }, (_, index) => makePerson(index, random));
  const events: LoggedEvent[] = [];
  for (let number = 0; number < options.sessions; number += 1) {
    const session = new Session(options, random, pick(people), number);
    events.push(...session.run());
  }
  return events.filter(({ at }) => at >= options.startMs && at < options.endMs);
}

function makePerson(index: number, random: Random): Person {
  const kind = random();
  const device = devices[Math.floor(random() * 4)];
  const country = countries[Math.floor(random() * 6)];
  const appVersion = appVersions[Math.floor(random() * 4)];
  return {
    ...(kind < 0.6 && { userId: `user-${index}` }),
    ...(kind < 0.8 && { deviceId: `device-${index}` }),
    ...(device !== undefined && { device }),
    ...(country !== undefined && { country }),
    ...(appVersion !== undefined && { appVersion }),
    // Without user and device, the viewer is the session or unknown.
    hasSessions: random() < 0.85,
    hasViews: random() < 0.2,
  };
}

class Session {
  readonly #options: TrafficOptions;
  readonly #random: Random;
  readonly #person: Person;
  readonly #sessionId: string | undefined;
  readonly #events: LoggedEvent[] = [];
  #now: number;
  #position = 0;

  constructor(options: TrafficOptions, random: Random, person: Person, number: number) {
    this.#options = options;
    this.#random = random;
    this.#person = person;
    this.#sessionId = person.hasSessions ? `session-${number}` : undefined;
    const { startMs, endMs } = options;
    this.#now = Math.floor(startMs + random() * (endMs - startMs));
    // A third of all sessions begin just before the end of an hour, to cross hours and days.
    const hourMs = 3_600_000;
    if (random() < 0.33) this.#now += hourMs - (this.#now % hourMs) - Math.floor(random() * 60_000);
  }

  run(): LoggedEvent[] {
    const items = 1 + Math.floor(this.#random() * 12);
    let contentId = this.#popularItem();
    for (let position = 0; position < items; position += 1) {
      this.#position = position;
      const watched = this.#watch(contentId);
      const next = this.#popularItem();
      if (position + 1 < items) this.#swipe(contentId, next, watched);
      contentId = next;
    }
    return this.#events;
  }

  /** Squaring the random number makes the first items many times as popular as the last. */
  #popularItem(): string {
    const { contentIds } = this.#options;
    return contentIds[Math.floor(this.#random() ** 2 * contentIds.length)] as string;
  }

  /** Plays one item from impression to end, and returns the seconds watched. */
  #watch(contentId: string): number {
    this.#add('impression', contentId, {
      position: this.#position,
      ...entryPoints[this.#position % entryPoints.length],
    });
    this.#pass(300);
    if (this.#random() < 0.05) return 0;
    if (this.#random() < 0.03) {
      this.#fail(contentId);
      return 0;
    }
    const startupTime = Math.round(60 * Math.exp(this.#random() * 4));
    const rendition = this.#oneOf(renditions);
    this.#add('playStart', contentId, {
      startupTime,
      rendition,
      ...(this.#random() < 0.9 && { codec: this.#oneOf(codecs) }),
    });
    const duration = 5 + Math.round(this.#random() * 550) / 10;
    const watched = this.#play(contentId, duration, rendition);
    this.#react(contentId);
    return watched;
  }

  #play(contentId: string, duration: number, rendition: string): number {
    const wanted = duration * (this.#random() < 0.35 ? 1 + this.#random() : this.#random());
    let current = 0;
    while (current + 3 < wanted) {
      current += 3;
      this.#pass(3_000);
      const currentTime = Math.min(current, duration);
      this.#add('watchProgress', contentId, { currentTime, duration, rendition });
      if (this.#random() < 0.04) this.#stall(contentId, currentTime, rendition);
      if (this.#random() < 0.02) this.#changeQuality(contentId, rendition);
    }
    if (this.#random() < 0.01) this.#fail(contentId);
    const watched = Math.round(wanted * 1_000) / 1_000;
    if (wanted >= duration) {
      const loopCount = Math.floor(wanted / duration) - 1;
      this.#add('completion', contentId, { watchTime: watched, looped: loopCount > 0, loopCount });
    }
    return watched;
  }

  #stall(contentId: string, currentTime: number, rendition: string): void {
    const duration = Math.round(50 * Math.exp(this.#random() * 4));
    this.#pass(duration);
    this.#add('rebuffer', contentId, { duration, currentTime, rendition });
  }

  #changeQuality(contentId: string, fromQuality: string): void {
    this.#add('qualityChange', contentId, { fromQuality, toQuality: this.#oneOf(renditions) });
  }

  #fail(contentId: string): void {
    this.#add('error', contentId, {
      errorCode: this.#oneOf(failures),
      errorMessage: 'It did not play.',
    });
  }

  #react(contentId: string): void {
    if (this.#random() < 0.15) this.#add('like', contentId, {});
    if (this.#random() < 0.05) this.#add('unlike', contentId, {});
    if (this.#random() < 0.05) {
      this.#add('share', contentId, { platform: this.#oneOf(platforms) });
    }
    if (this.#random() < 0.04) this.#add('save', contentId, {});
    if (this.#random() < 0.02) this.#add('unsave', contentId, {});
    if (this.#random() < 0.01) this.#add('notInterested', contentId, { scope: 'tag' });
    if (this.#random() < 0.01) this.#add('report', contentId, { reason: 'spam' });
  }

  #swipe(fromContentId: string, toContentId: string, watchTimeOnFrom: number): void {
    this.#pass(200);
    this.#add('swipe', toContentId, { fromContentId, watchTimeOnFrom, direction: 'up' });
  }

  #add(event: EventKind, contentId: string, data: Record<string, unknown>): void {
    const { userId, deviceId, country, device, appVersion, hasViews } = this.#person;
    this.#events.push({
      eventId: this.#newEventId(),
      event,
      contentId,
      at: this.#now,
      ...(userId !== undefined && { userId }),
      ...(deviceId !== undefined && { deviceId }),
      ...(this.#sessionId !== undefined && { sessionId: this.#sessionId }),
      ...(country !== undefined && { country }),
      ...(device !== undefined && { device }),
      ...(appVersion !== undefined && { appVersion }),
      data: hasViews ? { ...data, viewId: `view-${this.#position}` } : data,
    });
  }

  /** A random UUID, determined by the seed. */
  #newEventId(): string {
    const hex = (digits: number) =>
      Math.floor(this.#random() * 16 ** digits)
        .toString(16)
        .padStart(digits, '0');
    return `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(8)}${hex(4)}`;
  }

  /** Advances by up to twice `ms`, and one time in fifty by a break of a few minutes. */
  #pass(ms: number): void {
    this.#now += Math.round(ms * 2 * this.#random());
    if (this.#random() < 0.02) this.#now += Math.round(this.#random() * 900_000);
  }

  #oneOf(items: readonly string[]): string {
    return items[Math.floor(this.#random() * items.length)] as string;
  }
}
