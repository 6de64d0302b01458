/** Each key keeps its latest requests; a flood hides neither other keys' nor failures. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { atEnd, silentLog } from '../../../test/database.ts';
import { createItem, createOrganization } from '../../../test/seed.ts';
import { eventually, send, startService } from '../../../test/service.ts';
import { openDatabase } from '../../platform/database/database.ts';
import { newTypeId, newTypeIdAt } from '../../platform/values/ids.ts';
import { RequestLog } from './request-log.ts';
import { dayMs } from '../../platform/values/time.ts';

const service = await startService();
const { db, ...database } = openDatabase({
  connection: service.connection,
  poolSize: 2,
  log: silentLog,
});
atEnd(() => database[Symbol.asyncDispose]());

const request = { method: 'GET', route: '/', statusCode: 200, durationMs: 1 };

type Shown = { requestId: string; route: string; statusCode: number; leftOut: number };

const makeKey = async (fields: object = {}) => {
  const body = { type: 'secret', name: 'Logged', ...fields };
  return (await service.call('POST', '/v1/keys', { body })).body.data;
};
const requestsOf = async (id: string, query = 'limit=100') =>
  (await service.call('GET', `/v1/keys/${id}/requests?${query}`)).body;

test('requests are listed with their route, the refused ones too, and without what the path holds', async () => {
  const item = await createItem(service);
  const { id, key } = await makeKey({ scopes: ['content:read'] });
  const call = (method: string, path: string) => send(service.url + path, method, { key });
  const startedAt = Date.now();
  const read = await call('GET', `/v1/content/${item.id}`);
  const refused = await call('GET', '/v1/webhooks');
  const unknown = await call('GET', '/v1/content/unknown');
  const { data, meta } = await eventually('the log', async () => {
    const found = await requestsOf(id);
    // The page and the count are read in separate statements.
    return found.meta.total === 3 && found.data.length === 3 ? found : null;
  });
  assert.deepEqual(
    data.map(({ requestId, route, statusCode }: Shown) => [requestId, route, statusCode]),
    [
      [unknown.headers.get('x-request-id'), '/v1/content/:id', 404],
      [refused.headers.get('x-request-id'), '/v1/webhooks', 403],
      [read.headers.get('x-request-id'), '/v1/content/:id', 200],
    ],
  );
  assert.equal(meta.nextCursor, null);
  const [{ time, durationMs, method, leftOut }] = data;
  assert.ok(Math.abs(Date.parse(time) - startedAt) < 60_000 && durationMs > 0);
  assert.deepEqual([method, leftOut], ['GET', 0]);
  assert.equal((await requestsOf(id, 'minStatus=404')).meta.total, 1);
  const first = await requestsOf(id, 'limit=2');
  const second = await requestsOf(id, `limit=2&cursor=${first.meta.nextCursor}`);
  assert.deepEqual([...first.data, ...second.data], data);
});

test('another organization’s key has none', async () => {
  const { id } = await makeKey();
  const other = await createOrganization(service, 'Other');
  const answer = await send(`${service.url}/v1/keys/${id}/requests`, 'GET', {
    key: other.secretKey,
  });
  assert.equal(answer.status, 404);
});

test('a flood leaves a bounded number, says how many it left out, and hides no failure', async () => {
  const { id } = await makeKey();
  await using log = new RequestLog(db, silentLog);
  const answered = (statusCode: number) =>
    log.observe({ ...request, keyId: id, requestId: newTypeId('req'), statusCode });
  for (let n = 0; n < 1_000; n += 1) answered(200);
  answered(400);
  await log.flush();
  const { data } = await requestsOf(id);
  assert.deepEqual(
    data.map(({ statusCode }: Shown) => statusCode),
    [400, ...Array.from({ length: 20 }, () => 200)],
  );
  assert.equal(data[0].leftOut, 980);
});

test('old entries go, and so does what is over the limit of a key', async () => {
  const { id } = await makeKey();
  const idAt = (daysAgo: number) => newTypeIdAt('req', new Date(Date.now() - daysAgo * dayMs));
  await using log = new RequestLog(db, silentLog);
  for (const daysAgo of [0, 2, 4]) {
    log.observe({ ...request, keyId: id, requestId: idAt(daysAgo) });
  }
  await log.flush();
  assert.equal((await requestsOf(id)).meta.total, 3);
  await log.prune(3 * dayMs);
  assert.equal((await requestsOf(id)).meta.total, 2);
  const many = Array.from({ length: 50_010 }, () => newTypeId('req'));
  await sql`insert into key_request select ${id}, id, 'GET', '/', 200, 1, 0
    from unnest(${many}::text[]) id`.execute(db);
  await log.prune(3 * dayMs);
  assert.equal((await requestsOf(id)).meta.total, 50_000);
  const oldest = await sql<{ id: string }>`select min(request_id) as id from key_request
    where api_key_id = ${id}`.execute(db);
  assert.equal(oldest.rows[0]?.id, many[10], 'the oldest go first');
});
