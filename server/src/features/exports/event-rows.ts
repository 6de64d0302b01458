import type { LoggedEvent, EngagementLog } from '../events/events.ts';
import type { ExportRange } from './exports.ts';
import type { Column, Row } from './rows.ts';

export const eventColumns: readonly Column[] = [
  { name: 'eventId', type: 'string' },
  { name: 'event', type: 'string' },
  { name: 'contentId', type: 'string' },
  { name: 'timestamp', type: 'timestamp' },
  { name: 'receivedAt', type: 'timestamp' },
  { name: 'userId', type: 'string' },
  { name: 'deviceId', type: 'string' },
  { name: 'sessionId', type: 'string' },
  { name: 'country', type: 'string' },
  { name: 'device', type: 'string' },
  { name: 'appVersion', type: 'string' },
  { name: 'bot', type: 'boolean' },
  { name: 'data', type: 'json' },
];

const page = { limitBlocks: 200, limitEvents: 10_000 };
/** An event happens before it is received, but for clocks that are ahead; see docs/events.md. */
const clockMarginMs = 3_600_000;
/** Events are refused a day after they happened; and what one request and its storing take. */
const maxLateMs = 25 * 3_600_000;

/** The events in the range that the log still holds, in the order of the log. */
export async function* readEventRows(
  eventLog: EngagementLog,
  { organizationId, startMs, endMs }: ExportRange,
  signal: AbortSignal,
): AsyncGenerator<Row[]> {
  const until = await eventLog.end();
  const receivedBefore = endMs + maxLateMs;
  for (let position = await eventLog.positionAt(startMs - clockMarginMs); ;) {
    signal.throwIfAborted();
    const { blocks, next, isLast } = await eventLog.scan(position, {
      ...page,
      organizationId,
      until,
      receivedBefore,
    });
    const rows: Row[] = [];
    for (const { receivedAt, decode } of blocks) {
      for (const event of decode() ?? []) {
        if (event.at >= startMs && event.at < endMs) rows.push(toRow(event, receivedAt));
      }
    }
    yield rows;
    if (isLast) return;
    position = next;
  }
}

function toRow(event: LoggedEvent, receivedAt: number): Row {
  const { eventId, contentId, userId, deviceId, sessionId, country, device, appVersion, data } =
    event;
  const bot = event.bot === true;
  const who = { userId, deviceId, sessionId, country, device, appVersion, bot };
  return { eventId, event: event.event, contentId, timestamp: event.at, receivedAt, ...who, data };
}
