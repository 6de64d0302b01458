/** Proves that an erasure leaves neither a viewer's id nor a hash of it anywhere. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { zstdDecompressSync } from 'node:zlib';
import { pino } from 'pino';
import { allProjections } from '../src/app/projections.ts';
import { readConfig } from '../src/app/config.ts';
import { decodeFacts } from '../src/features/analytics/facts/codec.ts';
import { factColumn } from '../src/features/analytics/facts/facts.ts';
import { hashText } from '../src/features/analytics/statistics/viewer-key.ts';
import { openEventLog } from '../src/features/events/events.ts';
import { openDatabase } from '../src/platform/database/database.ts';
import { keyBytes, keyScope, writeEventKey } from '../src/platform/event-log/ledger/event-key.ts';
import { rebuildProjection } from '../src/platform/projections/rebuild.ts';
import { atEnd, silentLog } from './database.ts';
import { eventsOfOthers, ownEvents, refusedEvents } from './erasure-places.ts';
import { createReadyItems, query } from './seed.ts';
import { eventually, send, startService, type TestService } from './service.ts';

const logged: string[] = [];
const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
const service = await startService({ REELFEED_ROLES: 'api,worker' }, { log });
const [contentId = '', otherId = ''] = await createReadyItems(service, 2);
await query(service, `update content set content_type = 'live_stream' where content_id = $1`, [
  otherId,
]);
// Stores events and viewers by hash.
const metric = { name: 'saves', type: 'count', event: 'save' };
await service.call('POST', '/v1/metrics', { body: metric });
const database = openDatabase({ connection: service.connection, poolSize: 2, log: silentLog });
atEnd(() => database[Symbol.asyncDispose]());

/** Values that must not be found: the id, and its hashes as stored in tables, in hexadecimal. */
async function needlesOf(userId: string): Promise<Map<string, string>> {
  const [organization] = await query(
    service,
    'select organization_id, viewer_secret from organization limit 1',
  );
  if (organization === undefined) throw new Error('there is no organization');
  const secret = (organization['viewer_secret'] as Buffer).toString('hex');
  const organizationId = String(organization['organization_id']);
  const found = new Map([
    ['the id', userId],
    ['the id in bytes', Buffer.from(userId).toString('hex')],
    ['the hash of the label', Buffer.from(hashText(userId), 'latin1').toString('hex')],
  ]);
  const eventKey = Buffer.alloc(keyBytes);
  writeEventKey(keyScope(organizationId), userId, eventKey, 0);
  const uuid = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;
  found.set('the key of the event', eventKey.toString('hex').replace(uuid, '$1-$2-$3-$4-$5'));
  for (const kind of ['u', 'd', 's', 'e']) {
    const keyed = createHash('sha256').update(`${secret}${kind}:${userId}`).digest();
    found.set(`the key of ${kind}:`, keyed.subarray(0, 8).toString('hex'));
    // Viewer sets store 53 bits of it in 7 bytes.
    const member = Buffer.from(keyed.subarray(0, 7));
    member[0] = (member[0] ?? 0) & 0x1f;
    found.set(`the member of ${kind}:`, member.toString('hex'));
  }
  for (const text of [userId, `${organizationId}\0${userId}`, `u:${userId}`]) {
    found.set(`SHA-256 of ${text}`, createHash('sha256').update(text).digest('hex').slice(0, 16));
  }
  return found;
}

/** Every row of every table as text, with bytes in hexadecimal and log blocks decompressed. */
async function readEverything(): Promise<Map<string, string>> {
  const tables = await query(
    service,
    `select tablename from pg_tables where schemaname = 'public' order by 1`,
  );
  const texts = new Map<string, string>();
  for (const { tablename } of tables) {
    const rows = await query(
      service,
      `select ${String(tablename)}::text as row from ${String(tablename)}`,
    );
    texts.set(String(tablename), rows.map(({ row }) => String(row)).join('\n'));
  }
  const blocks = await query(service, 'select events from event_block');
  texts.set(
    'event_block, unpacked',
    blocks.map(({ events }) => zstdDecompressSync(events as Buffer).toString()).join('\n'),
  );
  const facts = await query(service, 'select body from view_fact');
  const decoded = facts.map(({ body }) => decodeFacts(body as Buffer));
  const members = decoded.flatMap(({ columns }) => [...(columns[factColumn.member] ?? [])]);
  const labels = decoded.flatMap((one) => one.labels.map((label) => Buffer.from(label, 'latin1')));
  texts.set(
    'view_fact, decoded',
    [
      ...members.map((member) => member.toString(16).padStart(14, '0')),
      ...labels.map((label) => label.toString('hex')),
    ].join('\n'),
  );
  for (const file of await readdir(service.dataDir, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue;
    const name = path.join(file.parentPath, file.name);
    texts.set(name, (await readFile(name)).toString('latin1'));
  }
  texts.set('the log of the service', logged.join(''));
  for (const [target, answer] of await readAnswers()) texts.set(target, answer);
  return texts;
}

/** API responses about viewers, with and without filters. */
async function readAnswers(): Promise<[string, string][]> {
  const reports = [
    'overview',
    'audience',
    'content',
    'engagement',
    'quality',
    'retention',
    'sources',
  ];
  const targets = [
    ...reports.flatMap((report) => [
      `/v1/analytics/${report}`,
      `/v1/analytics/${report}?device=web`,
    ]),
    `/v1/analytics/content/${contentId}`,
    '/v1/audit',
    '/v1/experiments',
  ];
  return Promise.all(
    targets.map(async (target): Promise<[string, string]> => {
      const { text, status } = await service.call('GET', target);
      assert.ok(status === 200 || target.includes('?'), `${target}: ${text}`);
      return [target, text];
    }),
  );
}

async function search(userId: string): Promise<string[]> {
  const texts = await readEverything();
  const found: string[] = [];
  for (const [what, needle] of await needlesOf(userId)) {
    for (const [where, text] of texts) if (text.includes(needle)) found.push(`${what} in ${where}`);
  }
  return found;
}

/** Writes the id wherever the API accepts text. Returns the places. */
async function plant(userId: string): Promise<string[]> {
  const accepted = [
    ...ownEvents([contentId, otherId], userId),
    ...eventsOfOthers(contentId, userId),
  ];
  const refused = refusedEvents(contentId, userId);
  // The id alone would look like a bot, whose events are not counted.
  const userAgent = `MyApp/2.0 (iPhone; ${userId})`;
  const headers = { 'cf-ipcountry': userId, 'user-agent': userAgent };
  const all = [...accepted, ...refused];
  for (let from = 0; from < all.length; from += 100) {
    const events = all.slice(from, from + 100).map(({ event }) => event);
    const key = service.publishableKey;
    const sent = await service.call('POST', '/v1/events/batch', { body: { events }, headers, key });
    assert.equal(sent.status, 200, sent.text);
  }
  const id = encodeURIComponent(userId);
  for (const target of ['feed', 'config']) {
    await send(`${service.url}/v1/${target}?userId=${id}&deviceId=${id}`, 'GET', {
      key: service.publishableKey,
      headers,
    });
  }
  await service.call('PUT', '/v1/flags/testers', {
    headers: { 'idempotency-key': userId },
    body: { value: { users: [userId], [userId]: Number(userId) || userId } },
  });
  await service.call('DELETE', '/v1/flags/testers');
  // An earlier version allowed any text in labels.
  await query(
    service,
    `insert into quality_counter (organization_id, grain, period, measure, label, count, total)
     select organization_id, 'day', date_trunc('day', now()), measure, $1, 1, 0
     from organization, unnest(array['source', 'codec', 'error', 'switch']) as measure`,
    [userId],
  );
  await projected();
  await eventually('the refused events', async () => {
    const rows = await query(service, 'select from event_rejection');
    return rows.length >= refused.length ? true : null;
  });
  await exportEvents();
  const others = ['country header', 'User-Agent', 'feed', 'config', 'Idempotency-Key', 'flag'];
  return [...all.map(({ place }) => place), ...others, 'labels of an earlier version'];
}

async function exportEvents(): Promise<void> {
  const day = new Date().toISOString().slice(0, 10);
  const body = { dataset: 'events', startDate: day, endDate: day, format: 'ndjson' };
  const made = await service.call('POST', '/v1/exports', { body });
  assert.equal(made.status, 201, made.text);
  await eventually('the export', async () => {
    const { data } = (await service.call('GET', `/v1/exports/${made.body.data.id}`)).body;
    return data.status === 'ready' ? true : null;
  });
}

async function erase(userId: string): Promise<void> {
  const target = `/v1/users/${encodeURIComponent(userId)}/data`;
  const headers = { 'idempotency-key': 'erase-the-viewer' };
  const asked = await service.call('DELETE', target, { headers });
  assert.equal(asked.status, 200, asked.text);
  await eventually('the erasure', async () => {
    const { body } = await service.call('GET', target);
    assert.notEqual(body.data.status, 'failed');
    return body.data.status === 'complete' ? true : null;
  });
  await query(service, `delete from idempotent_request where idempotency_key = 'erase-the-viewer'`);
  await projected();
}

const found = ['event_block, unpacked', 'event_rejection', 'viewer_set', 'view_fact, decoded'];
const foundToo = [
  'feed_viewer',
  'quality_counter',
  'idempotent_request',
  'audit_entry',
  'exports/',
];
const reported = ['/v1/analytics/sources', '/v1/analytics/quality', '/v1/audit'];

describe('a scan of every table, file, log line and report finds neither the id nor its hash', () => {
  for (const userId of ['84700931', 'ada.lovelace@example.com']) {
    test(userId, async (t) => {
      const places = await plant(userId);
      t.diagnostic(`${places.length} places`);
      const before = await search(userId);
      for (const where of [...found, ...foundToo, ...reported, 'viewer_reaction', 'live_viewer']) {
        assert.ok(
          before.some((one) => one.includes(where)),
          `the search finds it in ${where}: ${before.join('; ')}`,
        );
      }
      await erase(userId);
      assert.deepEqual(await search(userId), []);
      const counted = await labels();
      await rebuildAll();
      assert.deepEqual(await search(userId), [], 'nor after a rebuild');
      assert.deepEqual(await labels(), counted, 'which counts others under the same labels');
    });
  }
});

/** Labels of other viewers' events after the erasure. */
async function labels(): Promise<string[]> {
  const rows = await query(
    service,
    `select distinct measure || ' ' || label as text from quality_counter
     where measure <> 'startup' order by 1`,
  );
  return rows.map(({ text }) => String(text));
}

async function rebuildAll(): Promise<void> {
  const { db } = database;
  const { signal } = new AbortController();
  for (const projection of allProjections(readConfig({}))) {
    await rebuildProjection(projection, { db, eventLog: openEventLog(db), signal });
  }
  await projected();
}

/** Resolves when the projections have caught up with the log. */
async function projected(): Promise<void> {
  const events = async (of: TestService) => {
    const [row] = await query(
      of,
      `select min(events) as least, (select sum(event_count) from event_block) as all
       from (select sum(events) as events from projection where name <> 'live' group by name) done`,
    );
    return row;
  };
  await eventually('the projections', async () => {
    const row = await events(service);
    return Number(row?.['least']) >= Number(row?.['all']) ? true : null;
  });
}
