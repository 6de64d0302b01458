/** A purge is complete only when neither the event log nor what is stored of viewers names the item. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { sampleData, sampleEvent } from '../../../test/event-samples.ts';
import { createReadyItems, query } from '../../../test/seed.ts';
import { eventually, startService } from '../../../test/service.ts';
import { openStoredEvents } from '../../../test/stored-events.ts';
import { forgetItems, noItem } from '../events/erasure/forget-items.ts';

const service = await startService();
const stored = await openStoredEvents(service);

test('items, swipes from them and what viewers met are forgotten, and nothing else', async () => {
  const [gone = '', kept = ''] = await createReadyItems(service, 2, () => ({}));
  const [row] = await query(service, 'select serial_number from content where content_id = $1', [
    gone,
  ]);
  const serialNumber = Number(row?.['serial_number']);
  const viewer = { userId: randomUUID() };
  const events = [
    sampleEvent('like', gone, viewer),
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
      [kept, noItem],
      [kept, undefined],
    ],
  );
  assert.deepEqual(
    after.map(({ eventId }) => eventId),
    before.map(({ eventId }) => eventId),
  );
  const left = await serialNumbers();
  assert.equal(left.includes(serialNumber), false);
  assert.ok(left.length > 0, 'the viewer’s other items stay');
});

test('an event that names no such item stays the same object', () => {
  const ids = new Set([randomUUID()]);
  const data = { fromContentId: randomUUID(), note: [...ids][0] + '!' };
  const event = { eventId: 'e', event: 'swipe' as const, contentId: randomUUID(), at: 1, data };
  assert.equal(forgetItems(event, ids), event);
});
