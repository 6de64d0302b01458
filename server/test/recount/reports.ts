/** A running service with known items, and a way to append events to its log. */
import { openDatabase, type Db } from '../../src/platform/database/database.ts';
import { newContentId } from '../../src/platform/values/ids.ts';
import { atEnd, silentLog } from '../database.ts';
import { createOrganization, query } from '../seed.ts';
import { eventually, startService, type Reply, type TestService } from '../service.ts';
import { openEventLog, type LoggedEvent } from '../../src/features/events/events.ts';
import type { RecountedItem } from './recount.ts';

export type ReportOrganization = {
  organizationId: string;
  secretKey: string;
  publishableKey: string;
  insertItems(items: readonly RecountedItem[]): Promise<void>;
  append(events: readonly LoggedEvent[], blockSizes?: readonly number[]): Promise<void>;
  /** Requests a report. */
  ask(path: string, params?: Record<string, string>): Promise<Reply>;
  /** The `data` of a successful response. */
  read(path: string, params?: Record<string, string>): Promise<unknown>;
};

export type ReportService = TestService &
  ReportOrganization & {
    /** Resolves once every projection has processed everything in the log. */
    projected(): Promise<void>;
    addOrganization(name: string): Promise<ReportOrganization>;
  };

export async function startReportService(): Promise<ReportService> {
  const service = await startService();
  const database = openDatabase({ connection: service.connection, poolSize: 4, log: silentLog });
  atEnd(() => database[Symbol.asyncDispose]());
  const { db } = database;
  const [first] = await query(service, 'select organization_id from organization');
  const firstId = String(first?.['organization_id']);
  return {
    ...service,
    ...organization(service, db, firstId, service),
    projected: () => waitForProjections(service),
    addOrganization: async (name) => {
      const keys = await createOrganization(service, name);
      const [row] = await query(
        service,
        'select organization_id from organization where name = $1',
        [name],
      );
      return organization(service, db, String(row?.['organization_id']), keys);
    },
  };
}

function organization(
  service: TestService,
  db: Db,
  organizationId: string,
  { secretKey, publishableKey }: { secretKey: string; publishableKey: string },
): ReportOrganization {
  const ask = (path: string, params: Record<string, string> = {}) =>
    service.call('GET', `/v1/analytics/${path}?${new URLSearchParams(params)}`, {
      key: secretKey,
    });
  return {
    organizationId,
    secretKey,
    publishableKey,
    insertItems: (items) => insertItems(service, organizationId, items),
    append: (events, sizes = [100]) => append(db, organizationId, events, sizes),
    ask,
    read: async (path, params) => {
      const { status, body, text } = await ask(path, params);
      if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
      return body.data;
    },
  };
}

/** Items that can be created in several services under the same ids. */
export function makeItems(
  count: number,
  tagsOf: (index: number) => string[] = () => [],
): RecountedItem[] {
  return Array.from({ length: count }, (_, index) => ({
    id: newContentId(),
    title: `Item ${index}`,
    tags: tagsOf(index),
  }));
}

async function insertItems(
  service: TestService,
  organizationId: string,
  items: readonly RecountedItem[],
): Promise<void> {
  for (const { id, title, tags, author, section, language } of items) {
    await query(
      service,
      `insert into content (organization_id, content_id, content_type, title, tags, playback_id,
         upload_status, publish_status, progress, author, section, custom_metadata)
       values ($1, $2, 'video', $3, $4, $5, 'ready', 'published', 1, $6, $7, $8)`,
      [
        organizationId,
        id,
        title,
        tags,
        `${organizationId}-${id}`,
        author ?? null,
        section ?? null,
        language === undefined ? {} : { language },
      ],
    );
  }
}

async function append(
  db: Db,
  organizationId: string,
  events: readonly LoggedEvent[],
  sizes: readonly number[],
): Promise<void> {
  for (let at = 0, turn = 0; at < events.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 100;
    await openEventLog(db).append([{ organizationId, events: events.slice(at, at + size) }]);
    at += size;
  }
}

export async function waitForProjections(service: TestService): Promise<void> {
  await eventually('the projections to be up with the log', async () => {
    const [row] = await query(
      service,
      `select (select coalesce(sum(event_count), 0) from event_block)::int as logged,
         (select min(events) from
           (select sum(events) as events from projection group by name) done)::int as projected`,
    );
    return row?.['logged'] === row?.['projected'] ? true : null;
  });
}
