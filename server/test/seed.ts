/** Content for tests that need many items but no media. */
import { Client } from 'pg';
import { createOrganization as create } from '../src/features/organizations/organizations.ts';
import { inTransaction, openDatabase, poolConnection } from '../src/platform/database/database.ts';
import { silentLog } from './database.ts';
import type { TestService } from './service.ts';

/** Creates a pending item through the API. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
export async function createItem(service: TestService, fields: object = {}): Promise<any> {
  const { status, body, text } = await service.call('POST', '/v1/content/upload', {
    body: { title: 'An item', ...fields },
  });
  if (status !== 201) throw new Error(`the item was refused: ${status} ${text}`);
  return body.data;
}

/** Creates many pending items, a few at a time, in unspecified order. */
export async function createItems(
  service: TestService,
  count: number,
  fields: (index: number) => object = () => ({}),
): Promise<string[]> {
  const ids: string[] = [];
  let next = 0;
  const work = async () => {
    while (next < count) {
      const index = next;
      next += 1;
      const { id } = await createItem(service, { title: `Item ${index}`, ...fields(index) });
      ids.push(id);
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  return ids;
}

/** Runs one statement on the service's database. */
export async function query(
  service: TestService,
  text: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new Client(poolConnection(service.connection));
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(text, values);
    return rows;
  } finally {
    await client.end();
  }
}

/**
 * Creates ready and published items without media. They are set to ready by SQL, since encoding
 * hundreds of clips would take an hour; processing itself is tested with real clips.
 */
export async function createReadyItems(
  service: TestService,
  count: number,
  fields: (index: number) => object = () => ({}),
): Promise<string[]> {
  const ids = await createItems(service, count, fields);
  await query(
    service,
    `update content set upload_status = 'ready', publish_status = 'published', progress = 1,
       revision = revision + 1, updated_at = clock_timestamp()
     where content_id = any($1::uuid[])`,
    [ids],
  );
  return ids;
}

/** Creates another organization with a key of each type, like the command line. */
export async function createOrganization(
  service: TestService,
  name: string,
): Promise<{ secretKey: string; publishableKey: string }> {
  await using database = openDatabase({
    connection: service.connection,
    poolSize: 2,
    log: silentLog,
  });
  const made = await inTransaction(database.db, (tx) => create(tx, name));
  if (made.secretKey === null || made.publishableKey === null) throw new Error('keys are missing');
  return { secretKey: made.secretKey, publishableKey: made.publishableKey };
}
