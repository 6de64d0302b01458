/** The items whose events are recounted. */
import assert from 'node:assert/strict';
import { query } from '../seed.ts';
import type { TestService } from '../service.ts';
import type { TrafficItem } from './traffic.ts';

/** Items of several types, tags, authors, sections and languages, some without any of these. */
export async function makeItems(
  service: TestService,
  secretKey: string,
  count: number,
): Promise<Map<string, TrafficItem>> {
  const types = ['video', 'video', 'carousel', 'video', 'video_carousel'] as const;
  const items = new Map<string, TrafficItem>();
  for (let index = 0; index < count; index += 1) {
    const item = {
      contentType: types[index % types.length] ?? 'video',
      tags: index % 6 === 5 ? [] : ['all', `group-${index % 3}`],
      ...(index % 4 > 0 && { author: `author-${index % 7}` }),
      ...(index % 5 > 0 && { section: `section-${index % 3}` }),
    };
    const { contentType, ...fields } = item;
    const isVideo = contentType === 'video';
    const { body, text } = await service.call(
      'POST',
      isVideo ? '/v1/content/upload' : '/v1/content',
      {
        key: secretKey,
        body: { title: `Item ${index}`, ...fields, ...(!isVideo && { contentType }) },
      },
    );
    const id = String(body.data?.id ?? assert.fail(text));
    const language = index % 3 === 0 ? undefined : ['en', 'de'][index % 2];
    if (language !== undefined) {
      // Normally detected during media processing, which these items skip.
      await query(
        service,
        `update content set custom_metadata = jsonb_build_object('language', $2::text)
         where content_id = $1`,
        [id, language],
      );
    }
    items.set(id, { id, ...item, ...(language !== undefined && { language }) });
  }
  return items;
}
