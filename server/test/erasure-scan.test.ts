/** Proves that an erasure leaves neither the id of a viewer nor a hash of it anywhere. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { zstdDecompressSync } from 'node:zlib';
import { decodeFacts } from '../src/features/analytics/facts/codec.ts';
import { factColumn } from '../src/features/analytics/facts/facts.ts';
import { sampleEvent } from './event-samples.ts';
import { createReadyItems, query } from './seed.ts';
import { eventually, send, startService, type TestService } from './service.ts';

const userId = 'ada.lovelace@example.com';
const service = await startService({ REELFEED_ROLES: 'api,worker' });
const [contentId = '', otherId = ''] = await createReadyItems(service, 2);

/** What must not be found: the id, and its hashes as statistics know viewers, in hexadecimal. */
async function needles(): Promise<Map<string, string>> {
  const [organization] = await query(
    service,
    'select organization_id, viewer_secret from organization limit 1',
  );
  if (organization === undefined) throw new Error('there is no organization');
  const secret = (organization['viewer_secret'] as Buffer).toString('hex');
  const organizationId = String(organization['organization_id']);
  const found = new Map([['the id', userId]]);
  for (const kind of ['u', 'd', 's']) {
    const keyed = createHash('sha256').update(`${secret}${kind}:${userId}`).digest();
    found.set(`the key of ${kind}:`, keyed.subarray(0, 8).toString('hex'));
    // Sets of viewers know 53 bits of it in 7 bytes.
    const member = Buffer.from(keyed.subarray(0, 7));
    member[0] = (member[0] ?? 0) & 0x1f;
    found.set(`the member of ${kind}:`, member.toString('hex'));
  }
  for (const text of [userId, `${organizationId}\0${userId}`, `u:${userId}`]) {
    found.set(`SHA-256 of ${text}`, createHash('sha256').update(text).digest('hex').slice(0, 16));
  }
  return found;
}

/** Every row of every table as text, bytes in hexadecimal, and blocks of the log unpacked. */
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
  const members = facts.flatMap(({ body }) => [
    ...(decodeFacts(body as Buffer).columns[factColumn.member] ?? []),
  ]);
  texts.set(
    'view_fact, decoded',
    members.map((member) => member.toString(16).padStart(14, '0')).join('\n'),
  );
  for (const file of await readdir(service.dataDir, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue;
    const name = path.join(file.parentPath, file.name);
    texts.set(name, (await readFile(name)).toString('latin1'));
  }
  return texts;
}

async function search(): Promise<string[]> {
  const texts = await readEverything();
  const found: string[] = [];
  for (const [what, needle] of await needles()) {
    for (const [where, text] of texts) if (text.includes(needle)) found.push(`${what} in ${where}`);
  }
  return found;
}

test('a scan of every table, set and file finds neither the id nor its hash', async () => {
  const kinds = ['impression', 'playStart', 'watchProgress', 'completion', 'like', 'save'] as const;
  const mine = [contentId, otherId].flatMap((id) =>
    kinds.map((kind) => sampleEvent(kind, id, { userId })),
  );
  const foreign = [
    sampleEvent('like', contentId, { userId: 'bob', data: { context: { traits: { userId } } } }),
    sampleEvent('playStart', contentId, { userId: undefined, deviceId: userId }),
    sampleEvent('playStart', otherId, {
      userId: undefined,
      deviceId: undefined,
      sessionId: userId,
    }),
  ];
  const rejected = [
    sampleEvent('like', 'no-such-item', { userId }),
    sampleEvent('like', userId, { userId: 'bob' }),
  ];
  const batch = { events: [...mine, ...foreign, ...rejected] };
  const sent = await service.call('POST', '/v1/events/batch', { body: batch });
  assert.equal(sent.body.data.failed, 2, sent.text);
  await projected();
  await eventually('the rejected events', async () => {
    const rows = await query(service, 'select from event_rejection');
    return rows.length >= 2 ? true : null;
  });
  await send(`${service.url}/v1/feed?userId=${encodeURIComponent(userId)}`, 'GET', {
    key: service.publishableKey,
  });
  const before = await search();
  for (const where of [
    'event_block, unpacked',
    'event_rejection',
    'viewer_set',
    'view_fact, decoded',
    'feed_viewer',
  ]) {
    assert.ok(
      before.some((found) => found.includes(where)),
      `the search finds it in ${where}: ${before.join('; ')}`,
    );
  }
  const target = `/v1/users/${encodeURIComponent(userId)}/data`;
  const headers = { 'idempotency-key': 'erase-ada' };
  const asked = await service.call('DELETE', target, { headers });
  assert.equal(asked.status, 200, asked.text);
  await eventually('the erasure', async () => {
    const { body } = await service.call('GET', target);
    assert.notEqual(body.data.status, 'failed');
    return body.data.status === 'complete' ? true : null;
  });
  await projected();
  assert.deepEqual(await search(), []);
});

/** Resolves when the projections have read all of the log. */
async function projected(): Promise<void> {
  const events = async (of: TestService) => {
    const [row] = await query(
      of,
      `select min(events) as least, (select sum(event_count) from event_block) as all
       from projection where name <> 'live'`,
    );
    return row;
  };
  await eventually('the projections', async () => {
    const row = await events(service);
    return Number(row?.['least']) >= Number(row?.['all']) ? true : null;
  });
}
