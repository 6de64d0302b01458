/** Engagement events as accepted, optionally filtered. */
import { awaitedLater } from '../../../platform/async/awaited-later.ts';
import type { LogPosition } from '../../../platform/event-log/event-log.ts';
import { hourMs } from '../../../platform/values/time.ts';
import { findFilteredItems } from '../../analytics/analytics.ts';
import { labelOf, type LoggedEvent } from '../../events/events.ts';
import type {
  Batch,
  Column,
  DatasetParts,
  DatasetReader,
  ExportRange,
  ReadPosition,
  Row,
} from './dataset.ts';

export const eventColumns: readonly Column[] = [
  { name: 'eventId', type: 'string', about: 'The id of the event, unique in the organization.' },
  { name: 'event', type: 'string', about: 'The kind, such as `playStart`.' },
  { name: 'contentId', type: 'string', about: 'The item.' },
  { name: 'timestamp', type: 'timestamp', about: 'When it happened.' },
  { name: 'receivedAt', type: 'timestamp', about: 'When the service accepted it.' },
  { name: 'userId', type: 'string', about: 'The user, if the app reported one.' },
  { name: 'deviceId', type: 'string', about: 'The device.' },
  { name: 'sessionId', type: 'string', about: 'The session that the app reported.' },
  { name: 'country', type: 'string', about: 'The country as an ISO 3166-1 alpha-2 code.' },
  { name: 'device', type: 'string', about: '`ios`, `android` or `web`.' },
  { name: 'appVersion', type: 'string', about: 'The version of the app.' },
  {
    name: 'bot',
    type: 'boolean',
    about: 'Whether a known bot sent it. Reports exclude these events.',
  },
  { name: 'data', type: 'json', about: 'The data of the kind: see the guide to events.' },
];

export const eventPage = { limitBlocks: 500, limitEvents: 5_000 };
/** Number of events decoded at a time. Objects that die young do not grow V8's heap. */
const eventsOfBatch = 500;
/** Clocks may be ahead (see docs/events.md), and a local day may be an hour longer. */
const earlyMs = 2 * hourMs;
/**
 * Events are accepted up to a day late; the rest covers the request, its storage and the end of a
 * day.
 */
const lateMs = 26 * hourMs;

type EventBatch = Omit<Batch, 'rows'> & {
  readonly events: readonly { readonly event: LoggedEvent; readonly receivedAt: number }[];
};

export const events: DatasetReader = {
  about: 'Engagement events as accepted, by the day on which they happened.',
  columns: eventColumns,
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
    for await (const { events: found, ...rest } of readEvents(parts, range, from, signal)) {
      yield { ...rest, rows: found.map(({ event, receivedAt }) => toRow(event, receivedAt)) };
    }
  },
};

export function toRow(event: LoggedEvent, receivedAt: number): Row {
  return [
    event.eventId,
    event.event,
    event.contentId,
    event.at,
    receivedAt,
    event.userId,
    event.deviceId,
    event.sessionId,
    event.country,
    event.device,
    event.appVersion,
    event.bot === true,
    event.data,
  ];
}

/** The events in the range that the log contained when reading began, in log order. */
export async function* readEvents(
  { db, eventLog }: DatasetParts,
  range: ExportRange,
  from: ReadPosition | null,
  signal: AbortSignal,
): AsyncGenerator<EventBatch> {
  const { organizationId, startMs, endMs, clock } = range;
  const firstMs = clock.momentOf(startMs) - earlyMs;
  const receivedBefore = clock.momentOf(endMs) + lateMs;
  const until = (from?.['until'] as LogPosition | undefined) ?? (await eventLog.end());
  const start =
    (from?.['position'] as LogPosition | undefined) ?? (await eventLog.positionAt(firstMs));
  const isWanted = await eventFilter({ db }, range);
  const read = async (position: LogPosition) =>
    eventLog.scan(position, { ...eventPage, organizationId, until, receivedBefore });
  const spanMs = Math.max(Math.min(receivedBefore, Date.now()) - firstMs, 1);
  let share = Number(from?.['share'] ?? 0);
  for (let pending = awaitedLater(read(start)); ;) {
    signal.throwIfAborted();
    const { blocks, next, isLast } = await pending;
    // PostgreSQL reads the next page while this one is decoded and written.
    if (!isLast) pending = awaitedLater(read(next));
    let found: { event: LoggedEvent; receivedAt: number }[] = [];
    for (const { receivedAt, decode } of blocks) {
      share = Math.max(share, Math.min((receivedAt - firstMs) / spanMs, 0.99));
      for (const event of decode() ?? []) {
        const localMs = clock.localOf(event.at);
        if (localMs < startMs || localMs >= endMs) continue;
        if (isWanted === null || isWanted(event)) found.push({ event, receivedAt });
      }
      if (found.length < eventsOfBatch) continue;
      yield { events: found, next: null, share };
      found = [];
    }
    yield { events: found, next: { until, position: next, share }, share };
    if (isLast) return;
  }
}

/**
 * A predicate for the filter, or null if all events match. Items are those that currently match.
 */
export async function eventFilter(
  { db }: Pick<DatasetParts, 'db'>,
  { organizationId, filter }: Pick<ExportRange, 'organizationId' | 'filter'>,
): Promise<((event: LoggedEvent) => boolean) | null> {
  if (Object.keys(filter).length === 0) return null;
  const { device, country, entryPoint, appVersion } = filter;
  const items = await findFilteredItems(db, organizationId, filter);
  return (event) =>
    (device === undefined || event.device === device) &&
    (country === undefined || event.country === country) &&
    (appVersion === undefined || labelOf('appVersion', event.appVersion) === appVersion) &&
    (entryPoint === undefined || labelOf('entryPoint', event.data['entryPoint']) === entryPoint) &&
    (items === null || items.has(event.contentId));
}
