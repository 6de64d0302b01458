/** Feed items with dummy addresses, for tests that render and play nothing. */
import { createReadyItems, query } from '../../server/test/seed.ts';
import { eventually, type TestService } from '../../server/test/service.ts';

/** Creates items in the feed. Returns their ids. */
export async function createPlayableItems(service: TestService, count: number): Promise<string[]> {
  const ids = await createReadyItems(service, count);
  await query(
    service,
    `update content set media_prefix = playback_id || '/none', revision = revision + 1
     where content_id = any($1::uuid[])`,
    [ids],
  );
  await eventually('the feed to have the items', async () => {
    const { body } = await service.call('GET', '/v1/feed', { key: service.publishableKey });
    const playable = new Set<string>();
    for (const { id, streamingUrl } of body.data) if (streamingUrl) playable.add(id);
    return ids.every((id) => playable.has(id)) ? true : null;
  });
  return ids;
}
