/** Playable items copied from one that was encoded, because encoding each would take minutes. */
import { randomBytes } from 'node:crypto';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { query } from '../seed.ts';
import type { TestService } from '../service.ts';

/** Columns set by processing, besides those that reference files. */
const results = [
  'duration_seconds',
  'width',
  'height',
  'aspect_ratio',
  'max_frame_rate',
  'resolution_tier',
  'has_thumbnail',
  'thumbnail_hash',
];

/** Gives pending items copies of a ready item's media, and publishes them. */
export async function copyMedia(
  service: TestService,
  fromId: string,
  toIds: readonly string[],
): Promise<void> {
  const [source] = await query(
    service,
    'select media_prefix from content where content_id = $1::uuid',
    [fromId],
  );
  const prefix = String(source?.['media_prefix']);
  const folder = path.join(service.dataDir, 'media', 'objects', 'media');
  await Promise.all(
    toIds.map(async (id) => {
      const playbackId = randomBytes(16).toString('base64url');
      const copied = `${playbackId}/${path.basename(prefix)}`;
      await cp(path.join(folder, prefix), path.join(folder, copied), { recursive: true });
      const columns = results.map((name) => `${name} = source.${name}`).join(', ');
      await query(
        service,
        `update content set ${columns}, playback_id = $3, media_prefix = $4, progress = 1,
           upload_status = 'ready', publish_status = 'published',
           revision = content.revision + 1, updated_at = clock_timestamp()
         from content source
         where content.content_id = $2::uuid and source.content_id = $1::uuid`,
        [fromId, id, playbackId, copied],
      );
    }),
  );
}
