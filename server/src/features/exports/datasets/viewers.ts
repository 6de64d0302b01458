/**
 * Viewers and what they did in the range, one row each.
 *
 * A range may have more viewers than fit into memory, so the log is read in passes. Each pass
 * handles the viewers whose hash is in an interval and halves the interval whenever there are too
 * many; the next pass starts where it ended. Up to `maxAtOnce` viewers take a single pass.
 */
import { crc32 } from 'node:zlib';
import type { EventKind, LoggedEvent } from '../../events/events.ts';
import { rowOf, type Column, type DatasetReader } from './dataset.ts';
import { readEvents } from './events.ts';

const counted = {
  impressions: 'impression',
  plays: 'playStart',
  completions: 'completion',
  likes: 'like',
  saves: 'save',
  shares: 'share',
  errors: 'error',
} as const satisfies Record<string, EventKind>;
const countNames = Object.keys(counted) as (keyof typeof counted)[];
const countOf = new Map<string, number>(countNames.map((name, index) => [counted[name], index]));

const columns: readonly Column[] = [
  {
    name: 'viewerId',
    type: 'string',
    about: 'The user id, or the device id of a viewer without one.',
  },
  { name: 'kind', type: 'string', about: '`user` or `device`: what `viewerId` is.' },
  { name: 'firstSeenAt', type: 'timestamp', about: 'The first event in the range.' },
  { name: 'lastSeenAt', type: 'timestamp', about: 'The last event in the range.' },
  { name: 'events', type: 'integer', about: 'Events of any kind.' },
  ...countNames.map((name) => ({
    name,
    type: 'integer' as const,
    about: `Number of \`${counted[name]}\` events.`,
  })),
  { name: 'country', type: 'string', about: 'The value of the last event that reported one.' },
  { name: 'device', type: 'string', about: 'The value of the last event that reported one.' },
  { name: 'appVersion', type: 'string', about: 'The value of the last event that reported one.' },
  { name: 'bot', type: 'boolean', about: 'Whether a known bot sent any of the events.' },
];

type Last = { at: number; value: string | undefined };

type Seen = {
  viewerId: string;
  kind: 'user' | 'device';
  hash: number;
  firstAt: number;
  lastAt: number;
  events: number;
  counts: number[];
  country: Last;
  device: Last;
  appVersion: Last;
  bot: boolean;
};

const maxAtOnce = 50_000;
const hashEnd = 2 ** 32;

export const viewers: DatasetReader = {
  about:
    'Viewers with any activity in the range, with their counts. A device that logs in is one viewer ' +
    'before the login and another one afterwards.',
  columns,
  filters: [
    'device',
    'country',
    'entryPoint',
    'appVersion',
    'contentId',
    'tag',
    'author',
    'section',
  ],
  namesViewers: true,
  async *read(parts, range, from, signal) {
    const until = from?.['until'] ?? (await parts.eventLog.end());
    for (let low = Number(from?.['low'] ?? 0); low < hashEnd;) {
      const pass = new Pass(low, maxAtOnce);
      for await (const batch of readEvents(parts, range, { until }, signal)) {
        for (const { event } of batch.events) pass.add(event);
      }
      low = pass.high;
      yield { rows: pass.rows(), next: { until, low }, share: low / hashEnd };
    }
  },
};

/**
 * The viewers whose hash is at least `low` and below an upper bound that keeps their number
 * limited.
 */
export class Pass {
  readonly #low: number;
  readonly #max: number;
  readonly #seen = new Map<string, Seen>();
  #high = hashEnd;

  constructor(low: number, max: number) {
    this.#low = low;
    this.#max = max;
  }

  get high(): number {
    return this.#high;
  }

  add(event: LoggedEvent): void {
    const viewerId = event.userId ?? event.deviceId;
    if (viewerId === undefined) return;
    const kind = event.userId === undefined ? 'device' : 'user';
    const key = `${kind} ${viewerId}`;
    const seen = this.#seen.get(key) ?? this.#admit(key, { viewerId, kind, event });
    if (seen !== null) count(seen, event);
  }

  rows() {
    return [...this.#seen.values()].map(({ counts, ...seen }) =>
      rowOf(columns, {
        ...seen,
        ...Object.fromEntries(countNames.map((name, index) => [name, counts[index]])),
        firstSeenAt: seen.firstAt,
        lastSeenAt: seen.lastAt,
        country: seen.country.value,
        device: seen.device.value,
        appVersion: seen.appVersion.value,
      }),
    );
  }

  #admit(
    key: string,
    { viewerId, kind, event }: Pick<Seen, 'viewerId' | 'kind'> & { event: LoggedEvent },
  ): Seen | null {
    const hash = crc32(key);
    if (hash < this.#low || hash >= this.#high) return null;
    const seen: Seen = {
      viewerId,
      kind,
      hash,
      firstAt: event.at,
      lastAt: event.at,
      events: 0,
      counts: countNames.map(() => 0),
      country: { at: -Infinity, value: undefined },
      device: { at: -Infinity, value: undefined },
      appVersion: { at: -Infinity, value: undefined },
      bot: false,
    };
    this.#seen.set(key, seen);
    while (this.#seen.size > this.#max && this.#high - this.#low > 1) this.#halve();
    return hash < this.#high ? seen : null;
  }

  #halve(): void {
    this.#high = this.#low + Math.ceil((this.#high - this.#low) / 2);
    for (const [key, { hash }] of this.#seen) {
      if (hash >= this.#high) this.#seen.delete(key);
    }
  }
}

function count(seen: Seen, event: LoggedEvent): void {
  seen.events += 1;
  seen.firstAt = Math.min(seen.firstAt, event.at);
  seen.lastAt = Math.max(seen.lastAt, event.at);
  seen.bot ||= event.bot === true;
  const index = countOf.get(event.event);
  if (index !== undefined) seen.counts[index] = (seen.counts[index] ?? 0) + 1;
  keepLast(seen.country, event.country, event.at);
  keepLast(seen.device, event.device, event.at);
  keepLast(seen.appVersion, event.appVersion, event.at);
}

/**
 * If two values have the same time, the larger one wins, so that the result does not depend on the
 * log order.
 */
function keepLast(last: Last, value: string | undefined, at: number): void {
  if (value === undefined || at < last.at) return;
  if (at === last.at && last.value !== undefined && value <= last.value) return;
  last.at = at;
  last.value = value;
}
