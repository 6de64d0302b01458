/** Tests who can see a live stream that has not begun. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStream } from '../../../test/live-publisher.ts';
import { startService } from '../../../test/service.ts';

const service = await startService({ REELFEED_ROLES: 'api' });

function read(contentId: string) {
  return service.call('GET', `/v1/feed/items/${contentId}`, { key: service.publishableKey });
}

test('only authorized viewers see a stream before it begins', async () => {
  const told = await createStream(service);
  const unlisted = await createStream(service, { visibility: 'unlisted' });
  const hidden = await createStream(service, { visibility: 'private' });
  const over = await createStream(service);
  const { status } = await service.call('POST', `/v1/live-streams/${over.id}/end`);
  assert.equal(status, 200);
  const statuses = [];
  for (const { contentId } of [told, unlisted, hidden, over]) {
    statuses.push((await read(contentId)).status);
  }
  assert.deepEqual(statuses, [200, 200, 404, 404]);
  const settings = { body: { autoPublish: false } };
  assert.equal((await service.call('PATCH', '/v1/organization', settings)).status, 200);
  const draft = await createStream(service);
  assert.equal((await read(draft.contentId)).status, 404);
});
