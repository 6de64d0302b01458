/** Maps labels stored by earlier versions to the ones that would be stored now. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase } from '../../../../../test/database.ts';
import { inTransaction } from '../../../../platform/database/database.ts';
import { withSession } from '../../../../platform/database/session.ts';
import { labelOf, type LabelField } from '../../../events/events.ts';
import { forgetLabel } from './quality-queries.ts';

const { db, connection } = await openTestDatabase();
const fields: Record<string, LabelField> = {
  source: 'entryPoint',
  codec: 'codec',
  error: 'errorCode',
  rendition: 'rendition',
};
const labels = [
  ...['', 'feed', 'other', '(other)', 'newsletter', 'ada', 'ada.lovelace@example.com', '84700931'],
  ...['720p', '1080p60', '1280x720', 'AUTO', '719', 'avc1.64001f', 'H264', 'hvc1.1.6.L93.B0'],
  ...['avc1.64001f, mp4a.40.2', '404', '-11800', '10001', 'MEDIA_ERR_DECODE', 'manifestLoadError'],
  ...['decode-error', 'Network', 'A1B2C3D4E5', 'Äda', 'ada\nfeed'],
];

async function insert(measure: string, label: string): Promise<void> {
  await sql`
    insert into quality_counter (organization_id, grain, period, measure, label, count, total)
    values ('org_1', 'day', '2026-11-01', ${measure}, ${label}, 2, 3)`.execute(db);
}

async function read(measure: string): Promise<Map<string, number>> {
  const { rows } = await sql<{ label: string; count: number }>`
    select label, count from quality_counter where measure = ${measure}`.execute(db);
  return new Map(rows.map(({ label, count }) => [label, count]));
}

test('the migration and the projection know the same labels', async () => {
  for (const measure of Object.keys(fields)) {
    for (const label of labels) await insert(measure, label);
  }
  await insert('startup', '17');
  const file = new URL('../../../../../migrations/0105_known_labels.sql', import.meta.url);
  const statements = await readFile(file, 'utf8');
  await withSession(connection, { applicationName: 'test', unlimited: [] }, async (client) => {
    await client.query(`begin; ${statements}; commit`);
  });
  for (const [measure, field] of Object.entries(fields)) {
    const expected = new Map<string, number>();
    for (const label of labels) {
      const known = labelOf(field, label);
      expected.set(known, (expected.get(known) ?? 0) + 2);
    }
    assert.deepEqual(await read(measure), expected, measure);
  }
  assert.deepEqual(await read('startup'), new Map([['17', 2]]));
});

test('an erased label is counted as other, only for its organization', async () => {
  await sql`truncate quality_counter`.execute(db);
  for (const label of ['ada', 'other', 'feed']) await insert('source', label);
  const viewer = { organizationId: 'org_1', userId: 'ada' };
  const forget = (who: typeof viewer) => inTransaction(db, (tx) => forgetLabel(tx, who, 'source'));
  assert.equal(await forget({ ...viewer, organizationId: 'org_2' }), 0);
  assert.equal(await forget(viewer), 1);
  assert.equal(await forget(viewer), 0);
  const expected = new Map([
    ['other', 4],
    ['feed', 2],
  ]);
  assert.deepEqual(
    new Map([...(await read('source'))].toSorted()),
    new Map([...expected].toSorted()),
  );
});
