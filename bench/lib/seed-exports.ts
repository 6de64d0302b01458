/**
 * Writes events to the log of a running service's organization, and the same rows to the plain
 * table `copied`.
 *
 * Usage: node bench/lib/seed-exports.ts <data directory> <number of events>
 */
import { sql } from 'kysely';
import {
  openEventLog,
  type EventKind,
  type LoggedEvent,
} from '../../server/src/features/events/events.ts';
import { openDatabase } from '../../server/src/platform/database/database.ts';
import type { OrganizationId } from '../../server/src/platform/values/ids.ts';
import { createLogger } from '../../server/src/platform/logging/logging.ts';
import { connectionToRunningServer } from '../../server/src/platform/postgres/running-server.ts';
import { newUuid7 } from '../../server/src/platform/values/uuid7.ts';

const [, , dataDir = '', given = ''] = process.argv;
const count = Number(given);
const connection = await connectionToRunningServer(dataDir);
await using database = openDatabase({ connection, poolSize: 2, log: createLogger('error') });
const { db } = database;
const eventLog = openEventLog(db);
const organization = await sql<{ organization_id: OrganizationId }>`
  select organization_id from organization`.execute(db);
const [first] = organization.rows;
if (first === undefined) throw new Error('there is no organization');
const { organization_id: organizationId } = first;

const kinds: readonly EventKind[] = ['impression', 'playStart', 'watchProgress', 'completion'];
const contentIds = Array.from({ length: 500 }, () => newUuid7());

function eventAt(index: number): LoggedEvent {
  const data = {
    currentTime: (index % 300) / 10,
    duration: 30,
    percentComplete: index % 100,
    rendition: '720p',
    entryPoint: 'feed',
  };
  return {
    eventId: newUuid7(),
    event: kinds[index % kinds.length] ?? 'like',
    contentId: contentIds[index % contentIds.length] ?? '',
    at: Date.now() - 3_600_000 + (index % 3_600_000),
    userId: `user-${index % 5_000}`,
    deviceId: newUuid7(),
    sessionId: `session-${index % 20_000}`,
    country: 'DE',
    device: 'ios',
    appVersion: '2.4.1',
    data,
  };
}

await sql`create table copied (event_id text, event text, content_id text, at timestamptz,
  received_at timestamptz, user_id text, device_id text, session_id text, country text, device text,
  app_version text, bot boolean, data jsonb)`.execute(db);
const eventsOfBlock = 1_000;
for (let from = 0; from < count; from += eventsOfBlock) {
  const events = Array.from({ length: eventsOfBlock }, (_, index) => eventAt(from + index));
  await eventLog.append([{ organizationId, events }]);
  await sql`
    insert into copied
    select e->>'eventId', e->>'event', e->>'contentId', to_timestamp((e->>'at')::float8 / 1000), now(),
      e->>'userId', e->>'deviceId', e->>'sessionId', e->>'country', e->>'device', e->>'appVersion',
      false, e->'data'
    from jsonb_array_elements(${JSON.stringify(events)}::jsonb) e`.execute(db);
}
await sql`vacuum analyze copied`.execute(db);
