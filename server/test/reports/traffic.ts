/**
 * Generates a log for recounting reports: everything that an app may send, caused by viewers of
 * every kind. People watch with and without an account, log in during a visit, use two devices,
 * travel and update the app. Deterministic for a seed.
 */
import type { EventKind, LoggedEvent } from '../../src/features/events/events.ts';
import { seededRandom } from '../process-tree.ts';

export type TrafficItem = {
  readonly id: string;
  readonly contentType: 'video' | 'carousel' | 'video_carousel';
  readonly tags: readonly string[];
  readonly author?: string;
  readonly section?: string;
  readonly language?: string;
};

export type Person = { readonly userId?: string; readonly devices: readonly string[] };

type Writable = { -readonly [Field in keyof LoggedEvent]: LoggedEvent[Field] };
type Random = () => number;

const minute = 60_000;
const hour = 60 * minute;
const platforms = ['ios', 'android', 'web'] as const;
const countries = ['DE', 'FR', 'US', 'BR', 'JP', 'IN'];
const versions = ['2.0.0', '2.1.0', '3.0.0-beta', 'ios-3.1', 'the build of ada'];
const entries = [
  { entryPoint: 'feed' },
  { entryPoint: 'search' },
  { entryPoint: 'share', feedId: 'fed_7' },
  { entryPoint: "bob's page" },
  { feedId: 'fed_1' },
  { feedId: 'a page of eve' },
  {},
];
const renditions = ['360p', '720p', '1080p', 'the one for ada'];
const codecs = ['avc1', 'av1', 'a codec of bob'];
const failures = ['NETWORK', '404', 'manifestLoadError', 'ada lost her phone'];
const shares = ['messages', 'copy_link', 'to bob'];

export function makePeople(count: number): Person[] {
  return Array.from({ length: count }, (_, index) => {
    const kind = index % 10;
    const devices = [`device-${index}`, ...(kind === 1 ? [`tablet-${index}`] : [])];
    if (kind <= 5) return { userId: `user-${index}`, devices };
    if (kind <= 7) return { devices };
    return { devices: [] };
  });
}

export type TrafficOptions = {
  readonly seed: number;
  readonly items: readonly TrafficItem[];
  readonly people: readonly Person[];
  /** Minimum number of events. */
  readonly eventCount: number;
  readonly startMs: number;
  readonly endMs: number;
};

/** In chronological order, with distinct times. */
export function makeTraffic(options: TrafficOptions): LoggedEvent[] {
  const random = seededRandom(options.seed);
  const visits = new Visits(options, random);
  while (visits.events.length < options.eventCount) visits.visit();
  return visits.events.toSorted((a, b) => a.at - b.at);
}

class Visits {
  readonly events: LoggedEvent[] = [];
  readonly #options: TrafficOptions;
  readonly #random: Random;
  readonly #moments = new Set<number>();
  #visits = 0;
  #now = 0;
  #told: Partial<Writable> = {};
  #viewId: string | undefined;

  constructor(options: TrafficOptions, random: Random) {
    this.#options = options;
    this.#random = random;
  }

  visit(): void {
    const { people, startMs, endMs } = this.#options;
    const number = (this.#visits += 1);
    // Squared, so that some people come every day and others once.
    const index = Math.floor(this.#random() ** 2 * people.length);
    const person = people[index] ?? { devices: [] };
    this.#now = Math.floor(startMs + this.#random() * (endMs - startMs));
    // A third of all visits start right before the end of an hour.
    if (this.#random() < 0.33) {
      this.#now += hour - (this.#now % hour) - Math.floor(this.#random() * minute);
    }
    const deviceId = this.#oneOf(person.devices);
    const isNobody = person.devices.length === 0 && index % 10 === 9;
    const namesSession = !isNobody && (deviceId === undefined || index % 7 > 0);
    this.#told = {
      ...(deviceId !== undefined && { deviceId }),
      ...(namesSession && { sessionId: `session-${number}` }),
      ...(index % 5 > 0 && { device: platforms[index % 3] ?? 'web' }),
      ...(index % 6 > 0 && { country: countries[index % countries.length] ?? 'DE' }),
      ...(index % 4 > 0 && { appVersion: versions[index % versions.length] ?? '2.0.0' }),
    };
    const length = 1 + Math.floor(this.#random() * 12);
    // Some use the app before they log in.
    const loginAt = this.#random() < 0.3 ? Math.floor(this.#random() * length) : 0;
    for (let position = 0; position < length; position += 1) {
      if (position === loginAt && person.userId !== undefined) this.#told.userId = person.userId;
      if (this.#random() < 0.01) this.#told.country = this.#oneOf(countries) ?? 'DE';
      if (this.#random() < 0.01) this.#told.appVersion = this.#oneOf(versions) ?? '2.0.0';
      this.#viewId = index % 3 === 0 ? `view-${position}` : undefined;
      const item = this.#popularItem();
      const watched = this.#watch(item, position);
      if (position + 1 < length && this.#random() < 0.8) {
        const data = { fromContentId: item.id, watchTimeOnFrom: watched, direction: 'up' };
        this.#add('swipe', this.#popularItem().id, data);
      }
    }
  }

  #watch({ id, contentType }: TrafficItem, position: number): number {
    if (this.#random() < 0.95) {
      const place = this.#random() < 0.9 ? { position } : { position: 40 + position };
      this.#add('impression', id, { ...place, ...this.#oneOf(entries) });
    }
    this.#pass(400);
    if (this.#random() < 0.06) return 0;
    if (this.#random() < 0.04) this.#fail(id);
    this.#add('playStart', id, {
      startupTime: Math.round(40 * Math.exp(this.#random() * 5)),
      ...(this.#random() < 0.9 && { rendition: this.#oneOf(renditions) }),
      ...(this.#random() < 0.8 && { codec: this.#oneOf(codecs) }),
    });
    const duration = 4 + Math.round(this.#random() * 400) / 10;
    const wanted = duration * this.#random() * (this.#random() < 0.3 ? 3 : 1.1);
    if (contentType === 'video') this.#play(id, duration, wanted);
    const watched = Math.round(wanted * 1_000) / 1_000;
    if (wanted >= duration) {
      const loopCount = Math.floor(wanted / duration) - 1;
      this.#add('completion', id, { watchTime: watched, looped: loopCount > 0, loopCount });
    }
    this.#react(id);
    return watched;
  }

  #play(id: string, duration: number, wanted: number): void {
    for (let time = 3; time < wanted; time += 3) {
      this.#pass(3_000);
      const currentTime = Math.min(time, duration);
      this.#add('watchProgress', id, { currentTime, duration });
      if (this.#random() < 0.04) {
        const stall = Math.round(30 * Math.exp(this.#random() * 5));
        this.#add('rebuffer', id, { duration: stall, currentTime, rendition: '720p' });
      }
      if (this.#random() < 0.02) {
        const toQuality = this.#oneOf(renditions);
        this.#add('qualityChange', id, { fromQuality: '720p', toQuality });
      }
    }
  }

  #react(id: string): void {
    const { devices } = this.#told.deviceId === undefined ? { devices: 0 } : { devices: 1 };
    const often = devices === 0 ? 0.05 : 0.12;
    if (this.#random() < often) this.#add('like', id, {});
    if (this.#random() < 0.04) this.#add('unlike', id, {});
    if (this.#random() < 0.05) this.#add('share', id, { platform: this.#oneOf(shares) });
    if (this.#random() < 0.04) this.#add('save', id, {});
    if (this.#random() < 0.02) this.#add('unsave', id, {});
    if (this.#random() < 0.01) this.#add('notInterested', id, { scope: 'author' });
    if (this.#random() < 0.01) this.#add('report', id, { reason: 'spam' });
    if (this.#random() < 0.02) this.#fail(id);
  }

  #fail(id: string): void {
    this.#add('error', id, { errorCode: this.#oneOf(failures), errorMessage: 'It did not play.' });
  }

  #add(event: EventKind, contentId: string, data: Record<string, unknown>): void {
    this.#pass(50);
    while (this.#moments.has(this.#now)) this.#now += 1;
    this.#moments.add(this.#now);
    // The visit ends at the end of the period.
    if (this.#now >= this.#options.endMs) return;
    this.events.push({
      ...this.#told,
      eventId: this.#newId(),
      event,
      contentId,
      at: this.#now,
      data: this.#viewId === undefined ? data : { ...data, viewId: this.#viewId },
    });
  }

  /**
   * Advances time by up to twice `ms`, and sometimes by a pause that may end a view and a visit.
   */
  #pass(ms: number): void {
    this.#now += Math.round(ms * 2 * this.#random());
    if (this.#random() < 0.002) this.#now += Math.round(this.#random() * hour);
  }

  #popularItem(): TrafficItem {
    const { items } = this.#options;
    const item = items[Math.floor(this.#random() ** 2 * items.length)];
    if (item === undefined) throw new Error('There are no items.');
    return item;
  }

  #oneOf<Value>(values: readonly Value[]): Value | undefined {
    return values[Math.floor(this.#random() * values.length)];
  }

  #newId(): string {
    const part = () =>
      Math.floor(this.#random() * 2 ** 32)
        .toString(16)
        .padStart(8, '0');
    return `${part()}-${part()}-${part()}`;
  }
}

/** The order of arrival: one event in twenty is up to `lateMs` late. */
export function inArrivalOrder(
  events: readonly LoggedEvent[],
  { seed, lateMs }: { readonly seed: number; readonly lateMs: number },
): LoggedEvent[] {
  const random = seededRandom(seed);
  return events
    .map((event) => ({ event, at: event.at + (random() < 0.05 ? random() * lateMs : 0) }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ event }) => event);
}
