import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cloneDatabase } from '../../../test/database.ts';
import { openCountedLine } from '../../../test/round-trips.ts';
import { createItems, query } from '../../../test/seed.ts';
import { startService, toUrl } from '../../../test/service.ts';

const connection = await cloneDatabase();
const line = await openCountedLine(connection);
const service = {
  ...(await startService({ REELFEED_ROLES: 'api', DATABASE_URL: toUrl(line.connection) })),
  connection,
};
const ids = await createItems(service, 100);

const operations: [operation: string, body: object][] = [
  ['update', { items: ids.map((id, n) => ({ id, title: `New ${n}`, tags: [`t${n}`] })) }],
  ['tag', { ids, addTags: ['one'], removeTags: ['two'] }],
  ['visibility', { ids, visibility: 'unlisted' }],
  ['delete', { ids }],
];

for (const [operation, body] of operations) {
  test(`${operation} of 100 items takes three round trips, limit and Idempotency-Key included`, async () => {
    await query(service, 'delete from bulk_allowance');
    for (const [headers, most] of [
      [{ 'idempotency-key': `trips-${operation}` }, 3],
      [{}, 2],
    ] as const) {
      line.transactions();
      const answer = await service.call('POST', `/v1/content/bulk/${operation}`, { body, headers });
      assert.equal(answer.status, 200, answer.text);
      const ours = line
        .transactions()
        .filter((trips) => trips.flat().some((text) => text.includes('take_bulk_allowance')));
      assert.equal(ours.length, 1);
      assert.ok((ours[0]?.length ?? 9) <= most, JSON.stringify(ours[0], null, 2));
    }
  });
}
