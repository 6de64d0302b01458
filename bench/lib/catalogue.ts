import { sql } from 'kysely';
import type { Db } from '../../server/src/platform/database/database.ts';

/**
 * Gives the first organization items `from` to `to`, in the state after processing: in the feed.
 */
export async function insertReadyItems(db: Db, from: number, to: number): Promise<void> {
  // Inserts in chunks, because a single statement would take too long.
  for (let first = from; first <= to; first += itemsAtOnce) {
    await insertRange(db, first, Math.min(to, first + itemsAtOnce - 1));
  }
  await sql`vacuum analyze content`.execute(db);
}

const itemsAtOnce = 5_000;

async function insertRange(db: Db, from: number, to: number): Promise<void> {
  await sql`
    insert into content (organization_id, content_id, content_type, title, description,
      upload_status, publish_status, section, author, tags, duration_seconds, custom_metadata,
      width, height, aspect_ratio, max_frame_rate, video_quality, resolution_tier, progress,
      playback_id, media_prefix, has_thumbnail, created_at)
    select organization_id, uuidv7(), 'video', 'Clip number ' || n,
      'A description of clip ' || n || ' that is about as long as people write them.',
      'ready', 'published', 'section-' || n % 10, 'author-' || n % 500,
      array['tag-' || n % 50, 'tag-' || n % 7, 'all'], 15, '{"source":"bench"}',
      1080, 1920, '9:16', 30, 'basic', 'FHD', 1,
      'bench' || lpad(n::text, 17, '0'), 'bench' || lpad(n::text, 17, '0') || '/000000000000', true,
      now() - n * interval '1 second'
    from (select organization_id from organization order by created_at limit 1) first,
      generate_series(${from}::integer, ${to}::integer) n
  `.execute(db);
}
