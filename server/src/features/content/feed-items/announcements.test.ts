/** Tests which streams are announced, without a database. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Db } from '../../../platform/database/database.ts';
import { announced } from './announcements.ts';
import { itemRow } from '../../../../test/content/item-row.ts';
import type { ItemRow } from '../item.ts';

const nowMs = Date.UTC(2026, 0, 1);
const at = (ms: number) => new Date(nowMs + ms);
const stream = itemRow({ content_type: 'live_stream', publish_at: at(1) });

async function isAnnounced(given: Partial<ItemRow>): Promise<boolean> {
  // Only a pending stream depends on a setting of its organization.
  const noDatabase = undefined as unknown as Db;
  return (await announced(noDatabase, 'org_1', { ...stream, ...given }, nowMs)) !== null;
}

test('a published stream is announced until its time has come', async () => {
  assert.equal(await isAnnounced({}), true);
  assert.equal(await isAnnounced({ visibility: 'unlisted', expires_at: at(1) }), true);
  for (const given of [
    { publish_at: at(0) },
    { publish_at: null },
    { publish_status: 'unpublished' },
    { visibility: 'private' },
    { expires_at: at(0) },
    { upload_status: 'error' },
    { content_type: 'video' },
  ] as const)
    assert.equal(await isAnnounced(given), false, JSON.stringify(given));
});

test('an announcement has nothing to play', async () => {
  const row = await announced(undefined as unknown as Db, 'org_1', stream, nowMs);
  assert.deepEqual(row, {
    ...stream,
    upload_status: 'pending',
    progress: 0,
    media_prefix: null,
    has_thumbnail: false,
  });
});
