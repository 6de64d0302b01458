/** A purge is complete only if neither the event log nor stored viewer data references the item. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { sampleData, sampleEvent } from '../../../test/event-samples.ts';
import { atEnd, silentLog } from '../../../test/database.ts';
import { createReadyItems, query } from '../../../test/seed.ts';
import { eventually, startService } from '../../../test/service.ts';
import { openStoredEvents } from '../../../test/stored-events.ts';
import { openDatabase } from '../../platform/database/database.ts';
import { forgetItems, noItem } from '../events/erasure/forget-items.ts';
import { openEventLog, type LoggedEvent } from '../events/events.ts';

const service = await startService();
const stored = await openStoredEvents(service);

test('items, swipes from them and what viewers met are forgotten, and nothing else', async () => {
  const [gone = '', kept = ''] = await createReadyItems(service, 2, () => ({}));
  const [row] = await query(service, 'select serial_number from content where content_id = $1', [
    gone,
  ]);
  const serialNumber = Number(row?.['serial_number']);
  const viewer = { userId: randomUUID() };
  const rule = { type: 'pin', position: 0, match: { contentId: gone } };
  assert.equal((await service.call('POST', '/v1/ranking/rules', { body: rule })).status, 201);
  const others = { ...rule, match: { contentId: kept } };
  await service.call('POST', '/v1/ranking/rules', { body: others });
  const events = [
    sampleEvent('like', gone, viewer),
    sampleEvent('playStart', gone, viewer),
    sampleEvent('like', kept, { ...viewer, data: { seen: { [gone]: [gone] } } }),
    sampleEvent('swipe', kept, {
      ...viewer,
      data: { ...sampleData.swipe, fromContentId: gone.toUpperCase() },
    }),
    sampleEvent('like', kept, viewer),
  ];
  for (const body of events) {
    const { status, text } = await service.call('POST', '/v1/events', { body });
    assert.equal(status, 200, text);
  }
  const serialNumbers = async () => {
    const rows = await query(service, 'select folded || recent as bytes from feed_viewer');
    return rows.flatMap(({ bytes }) => {
      const all = bytes as Buffer;
      return Array.from({ length: all.length / 30 }, (_, n) => all.readUIntBE(n * 30, 6));
    });
  };
  await eventually('the viewer', async () =>
    (await serialNumbers()).includes(serialNumber) ? true : null,
  );
  await eventually('the facts', async () =>
    (await tablesWith(gone)).includes('view_fact') ? true : null,
  );
  const before = await stored.all();
  assert.equal(before.length, events.length);

  await service.call('POST', '/v1/content/bulk/delete', { body: { ids: [gone] } });
  const isPurged = async () => {
    const { data } = (await service.call('GET', '/v1/purges')).body;
    return data[0]?.status === 'complete' ? true : null;
  };
  await eventually('the purge', isPurged, 90_000);
  const after = await stored.all();
  assert.deepEqual(
    after.map(({ contentId, data }) => [contentId, data['fromContentId']]),
    [
      [noItem, undefined],
      [noItem, undefined],
      [kept, undefined],
      [kept, noItem],
      [kept, undefined],
    ],
  );
  assert.deepEqual(after[2]?.data, { seen: { [noItem]: [noItem] } });
  assert.deepEqual(await tablesWith(gone), []);
  const rules = (await service.call('GET', '/v1/ranking/rules')).body.data;
  assert.deepEqual(
    rules.map(({ match }: { match: unknown }) => match),
    [{ contentId: kept }],
    'the rule about the item is gone with it',
  );
  const { data: entries } = (await service.call('GET', '/v1/audit')).body;
  assert.equal(entries[0].action, 'deleteRankingRule');
  // A later pass stores views of the item under `noItem`.
  const late = sampleEvent('completion', gone, viewer);
  await appendAsIfAccepted(late);
  assert.deepEqual(await tablesWith(gone), []);
  assert.deepEqual(
    after.map(({ eventId }) => eventId),
    before.map(({ eventId }) => eventId),
  );
  const left = await serialNumbers();
  assert.equal(left.includes(serialNumber), false);
  assert.ok(left.length > 0, 'the viewer’s other items stay');
});

/** Tables that record the deletion, or history with its own retention: see docs/operations.md. */
const history = /^(deleted_content|audit_entry|webhook_|bulk_|event_rejection|event_block)/;

/** Tables with rows that contain the item's id, including in binary facts. */
async function tablesWith(contentId: string): Promise<string[]> {
  const names = await query(
    service,
    `select tablename as name from pg_tables where schemaname = 'public' order by 1`,
  );
  const found: string[] = [];
  const hex = contentId.replaceAll('-', '');
  for (const name of names.map((row) => String(row['name']))) {
    if (history.test(name)) continue;
    const [row] = await query(
      service,
      `select from ${name} where position($1 in ${name}::text) > 0
         or position($2 in ${name}::text) > 0 limit 1`,
      [contentId, hex],
    );
    if (row !== undefined) found.push(name);
  }
  return found;
}

/** Appends an event to the log like a process that does not know of the deletion yet. */
async function appendAsIfAccepted(body: Record<string, unknown>): Promise<void> {
  const { timestamp, ...event } = body;
  const database = openDatabase({ connection: service.connection, poolSize: 1, log: silentLog });
  atEnd(() => database[Symbol.asyncDispose]());
  const [organization] = await query(service, 'select organization_id from organization');
  const organizationId = String(organization?.['organization_id']);
  const at = Date.parse(String(timestamp));
  const logged = { ...event, at } as unknown as LoggedEvent;
  await openEventLog(database.db).append([{ organizationId, events: [logged] }]);
  await eventually('the projections', async () => {
    const [row] = await query(
      service,
      `select min(events) >= (select sum(event_count) from event_block) as done
       from (select sum(events) as events from projection where name <> 'live' group by name) done`,
    );
    return row?.['done'] === true ? true : null;
  });
}

test('an event that names no such item stays the same object', () => {
  const ids = new Set([randomUUID()]);
  const data = { fromContentId: randomUUID(), note: [...ids][0] + '!' };
  const event = { eventId: 'e', event: 'swipe' as const, contentId: randomUUID(), at: 1, data };
  assert.equal(forgetItems(event, ids), event);
});
