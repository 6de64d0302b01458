/** Proves that the feeds of the demo's two opposite viewers differ. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReadyItems, query } from '../../../test/seed.ts';
import { eventually, startService } from '../../../test/service.ts';
import { demoClips } from './clips.ts';
import { oppositeTastes, sendOppositeTastes } from './opposite-tastes.ts';

test('each meets what it likes earlier than the other does, and last of all what it has seen', async () => {
  const service = await startService({
    REELFEED_ROLES: 'api,worker',
    REELFEED_FEED_RANKING_BUDGET: '30s',
  });
  await createReadyItems(service, demoClips.length, (index) => {
    const { title, tags, author } = demoClips[index] ?? { title: '', tags: [], author: '' };
    return { title, tags: [...tags], author };
  });
  await query(service, 'update content set duration_seconds = 8, revision = revision + 1');
  const feedOf = async (userId: string) => {
    const reply = await service.call('GET', `/v1/feed?userId=${userId}`);
    assert.equal(reply.status, 200, reply.text);
    return reply.body.data as { tags: string[]; duration: number | null }[];
  };
  await eventually('the clips', async () => {
    const items = await feedOf('somebody');
    const isComplete = items.length === demoClips.length && items.every((one) => one.duration);
    return isComplete ? true : null;
  });
  await sendOppositeTastes(
    { baseUrl: service.url, publishableKey: service.publishableKey },
    new AbortController().signal,
  );
  // Returns by how many places clips tagged "nature" rank before those tagged "calm".
  const leads: number[] = [];
  for (const { userId, likes } of oppositeTastes) {
    // Each feed explores with its own random clips, so a single feed proves little.
    const feeds: Awaited<ReturnType<typeof feedOf>>[] = [];
    for (let feed = 0; feed < 40; feed += 1) feeds.push(await feedOf(userId));
    for (const items of feeds) {
      assert.equal(items.length, demoClips.length);
      const seen = items.slice(-3).map(({ tags }) => tags.includes(likes));
      assert.equal(seen.filter(Boolean).length, 2, 'what was seen is at the end');
    }
    const firstPlace = (tag: string) =>
      feeds
        .map((items) => items.findIndex(({ tags }) => tags.includes(tag)))
        .reduce((sum, place) => sum + place / feeds.length, 0);
    leads.push(firstPlace('calm') - firstPlace('nature'));
  }
  const [maya = 0, carl = 0] = leads;
  assert.ok(maya > carl, `nature leads by ${maya} for Maya, and by ${carl} for Carl`);
});
