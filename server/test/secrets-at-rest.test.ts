/**
 * Proves that secrets in requests and responses are stored nowhere in plain text: not in the audit
 * log, stored responses for replays, the request log, the log, or any other table. It walks the API
 * description: a new field marked `x-secret` is included automatically, and one that looks like a
 * secret fails until it is marked or listed here.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { sql } from 'kysely';
import { inTransaction, openDatabase } from '../src/platform/database/database.ts';
import { migrate, readMigrations } from '../src/platform/database/migrate.ts';
import { createLogger } from '../src/platform/logging/logging.ts';
import { atEnd, emptyDatabase, silentLog } from './database.ts';
import { readDescription } from './openapi.ts';
import { startReceiver } from './receiver.ts';
import { routeSamples } from './route-samples.ts';
import { createItem, query } from './seed.ts';
import { eventually, startService, type Call } from './service.ts';

type Schema = {
  'x-secret'?: 'value' | 'query';
  type?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
};
type Content = Record<string, { schema: Schema }>;
type Operation = {
  operationId: string;
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
};
type Json = Record<string, unknown>;

let logged = '';
const destination = new Writable({
  write(chunk: Buffer, _encoding, done) {
    logged += chunk.toString();
    done();
  },
});
// Echoes the request, like some gateways.
const receiver = await startReceiver(
  () => (request, response) =>
    // PUTs succeed, as for a bucket; a tested webhook fails.
    response.writeHead(request.method === 'PUT' ? 200 : 404).end(JSON.stringify(request.headers)),
);
const service = await startService(
  { REELFEED_EGRESS_ALLOW: receiver.allow },
  { log: createLogger('debug', destination) },
);
const samples = routeSamples(service, receiver.url);
const api = await readDescription(service.url);
const changes = Object.values<Record<string, Operation>>(api.paths).flatMap((path) =>
  Object.entries(path).flatMap(([method, operation]) =>
    method === 'get' ? [] : [{ method: method.toUpperCase(), operation }],
  ),
);
const bodyOf = ({ requestBody }: Operation) => requestBody?.content['application/json']?.schema;
const answerOf = ({ responses }: Operation) =>
  (responses['200'] ?? responses['201'])?.content?.['application/json']?.schema;

/** Sent or received secrets that must not be found anywhere. */
const secrets: string[] = [service.secretKey, service.publishableKey];

function newSecret(): string {
  const secret = `hush-${randomBytes(12).toString('hex')}`;
  secrets.push(secret);
  return secret;
}

const partsOf = (schema: Schema): Schema[] => [
  schema,
  ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])].flatMap(partsOf),
];
const fieldsOf = (schema: Schema) =>
  partsOf(schema).flatMap(({ properties = {} }) => Object.entries(properties));

/** A request sample with a secret in every field that may hold one, including optional ones. */
function plant(schema: Schema, sample: unknown): unknown {
  const parts = partsOf(schema);
  const marks = parts.flatMap((part) => part['x-secret'] ?? []);
  if (marks.includes('query')) return `${receiver.url}/at?token=${newSecret()}`;
  if (marks.includes('value')) {
    const isObject = parts.some(({ type }) => type === 'object');
    return isObject ? { 'X-Gateway': newSecret(), Cookie: newSecret() } : newSecret();
  }
  if (Array.isArray(sample)) {
    const { items } = parts.find((part) => part.items !== undefined) ?? {};
    return items === undefined ? sample : sample.map((item) => plant(items, item));
  }
  if (typeof sample !== 'object' || sample === null) return sample;
  const planted = { ...(sample as Json) };
  for (const [name, field] of fieldsOf(schema)) {
    if (name in planted || isMarked(field)) planted[name] = plant(field, planted[name]);
  }
  return planted;
}

function isMarked(schema: Schema | undefined): boolean {
  return JSON.stringify(schema ?? {}).includes('"x-secret"');
}

/** Collects the values of a response's marked fields. */
function collect(schema: Schema, value: unknown): void {
  if (typeof value === 'string' && partsOf(schema).some((part) => part['x-secret'])) {
    secrets.push(value.split('/').at(-1) ?? value);
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, field] of fieldsOf(schema)) collect(field, (value as Json)[name]);
}

test('every field that looks like a secret is marked in its schema', () => {
  const suspicious = /secret|password|token|credential|authorization|headers|key$|url$/i;
  // Addresses that the feed shows or that authorized readers see, names, public keys, and a
  // timestamp.
  const harmless =
    /^(articleUrl|streamingUrl|(thumbnail|preview|storyboard|image)Url|(rtmps?|srt)Url|downloadUrl|previousSecretExpiresAt|routingKey|publicKey|hasPassword|(put|delete)(Setting|Flag): key|(createLiveStream|addSimulcastTarget): url|\w+: answered url)$/;
  const unmarked = new Set<string>();
  const look = (operation: string, schema: Schema, isAnswer: boolean): void => {
    for (const [field, inner] of fieldsOf(schema)) {
      const name = isAnswer && field === 'url' ? 'answered url' : field;
      const isSecret = partsOf(inner).some((part) => part['x-secret'] !== undefined);
      const isHarmless = harmless.test(name) || harmless.test(`${operation}: ${name}`);
      if (suspicious.test(field) && !isSecret && !isHarmless) unmarked.add(`${operation}: ${name}`);
      look(operation, inner, isAnswer);
    }
    for (const { items } of partsOf(schema)) if (items) look(operation, items, isAnswer);
  };
  for (const { operation } of changes) {
    look(operation.operationId, bodyOf(operation) ?? {}, false);
    look(operation.operationId, answerOf(operation) ?? {}, true);
  }
  assert.deepEqual([...unmarked], []);
});

test('secrets of every mutating route are kept nowhere in clear', async () => {
  const secret = changes.filter(
    ({ operation }) => isMarked(bodyOf(operation)) || isMarked(answerOf(operation)),
  );
  assert.ok(secret.length >= 9, `${secret.length} routes`);
  for (const [index, { method, operation }] of secret.entries()) {
    const [path, call = {}] = (await samples[operation.operationId]?.()) ?? [''];
    const schema = bodyOf(operation);
    const request: Call = {
      ...call,
      ...(schema && { body: plant(schema, call.body) }),
      headers: { 'idempotency-key': `secrets-${index}` },
    };
    const answer = await service.call(method, path, request);
    assert.ok(answer.status < 300, `${operation.operationId}: ${answer.text}`);
    if (operation.operationId === 'createWebhook') await sendTest(answer.body.data.id);
    const described = answerOf(operation);
    if (described !== undefined) collect(described, answer.body);
    // An error says what is wrong, without repeating the input.
    const wrong = { ...request, body: { ...(request.body as Json), unknownField: newSecret() } };
    const refused = await service.call(method, path, { ...wrong, headers: {} });
    for (const one of secrets) assert.ok(!refused.text.includes(one), operation.operationId);
  }
  await sendBrokenImports();
  await eventually('the imports to fail', async () => {
    const [row] = await query(
      service,
      `select count(*)::int as n from import_source join content using (organization_id, content_id)
       where upload_status = 'pending'`,
    );
    return row?.['n'] === 0 ? true : null;
  });
  assert.ok(secrets.length > 15);
  await assertNowhere();
});

/** A receiver's response is stored with the delivery. */
async function sendTest(id: string): Promise<void> {
  const path = `/v1/webhooks/${id}`;
  const body = { event: 'content.ready' };
  const sent = await service.call('POST', `${path}/test`, { body });
  assert.equal(sent.body.data.status, 'failed', sent.text);
  const { text } = await service.call('GET', `${path}/deliveries`);
  assert.match(`${sent.text} ${text}`, /x-gateway[^,]*\[secret\]/);
}

/** Individually rejected items are part of the body in the audit log. */
async function sendBrokenImports(): Promise<void> {
  const item = (fields: object) => ({ title: 'An item', ...fields });
  const items = [
    item({ sourceUrl: `${receiver.url}/?token=${newSecret()}` }),
    item({ sourceUrl: `${receiver.url.replace('://', `://me:${newSecret()}@`)}/` }),
    item({ sourceUrl: `not a URL ${newSecret()}` }),
    item({ sourceUrl: { nested: newSecret() } }),
    item({ sourceUrl: `${receiver.url}/`, authorization: newSecret() }),
  ];
  const made = await service.call('POST', '/v1/content/import', { body: { items } });
  assert.equal(made.body.data.totalCreated, 1, made.text);
  // For routes without a body, none is stored.
  const { id } = await createItem(service);
  await service.call('DELETE', `/v1/content/${id}`);
  await service.call('POST', `/v1/content/${id}/restore`, { body: { password: newSecret() } });
}

/** An address given by a customer is the resource itself; both are shown to authorized readers. */
const resources: Record<string, string> = { webhook: 'url', import_source: 'source_url,images' };

async function assertNowhere(): Promise<void> {
  const tables = await query(
    service,
    `select table_name as name from information_schema.tables where table_schema = 'public'`,
  );
  const { length } = await query(service, 'select from audit_entry');
  assert.ok(length >= 10, 'the audit log holds the requests');
  for (const { name } of tables) {
    const without = resources[String(name)];
    const row = without === undefined ? 'to_jsonb(t)' : `to_jsonb(t) - '{${without}}'::text[]`;
    const hits = await query(
      service,
      `select hidden from "${String(name)}" t, unnest($1::text[]) hidden
       where position(hidden in (${row})::text) > 0
         or position(encode(convert_to(hidden, 'utf8'), 'hex') in t::text) > 0`,
      [secrets],
    );
    assert.deepEqual(hits, [], String(name));
  }
  for (const secret of secrets) assert.ok(!logged.includes(secret), 'in the log');
  const { text } = await service.call('GET', '/v1/audit?limit=100');
  for (const secret of secrets) assert.ok(!text.includes(secret), 'in the audit log');
}

test('secrets are removed from the audit log of the previous version', async () => {
  const connection = await emptyDatabase();
  const database = openDatabase({ connection, poolSize: 4, log: silentLog });
  atEnd(() => database[Symbol.asyncDispose]());
  const { db } = database;
  const earlier = (await readMigrations()).filter(({ name }) => name < '0100');
  await migrate(connection, silentLog, earlier);
  await sql`insert into organization (organization_id, name) values ('org_a', 'A')`.execute(db);
  const before: [string, object | null][] = [
    [
      'createWebhook',
      { url: 'https://me:x@a.example/p?t=x', headers: { 'X-Key': 'x' }, events: [] },
    ],
    ['updateWebhook', { headers: null, url: 'https://a.example/p#x' }],
    ['importContent', { items: [{ sourceUrl: 'http://a/b?x' }, { sourceUrl: { x: 1 } }, 7] }],
    ['importContent', { items: [] }],
    ['updateContent', { title: 'https://a.example/?kept' }],
    ['createWebhook', null],
  ];
  for (const [index, [action, body]] of before.entries()) {
    await sql`insert into audit_entry (organization_id, audit_id, action, actor, changes)
      values ('org_a', ${String(index)}, ${action}, 'key', ${JSON.stringify(body)}::jsonb)`.execute(
      db,
    );
  }
  await migrate(connection, silentLog);
  const after = await inTransaction(db, (tx) =>
    sql<{ changes: unknown }>`select changes from audit_entry order by audit_id`.execute(tx),
  );
  assert.deepEqual(
    after.rows.map(({ changes: kept }) => kept),
    [
      { url: 'https://a.example/p', headers: '[secret]', events: [] },
      { headers: null, url: 'https://a.example/p' },
      { items: [{ sourceUrl: 'http://a/b' }, {}, 7] },
      { items: [] },
      { title: 'https://a.example/?kept' },
      null,
    ],
  );
});
