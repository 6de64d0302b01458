import { sql } from 'kysely';
import type { Db } from '../../server/src/platform/database/database.ts';

/**
 * Gives the first organization items `from` to `to`, in the state after processing: in the feed.
 */
export async function insertReadyItems(db: Db, from: number, to: number): Promise<void> {
  const { rows } = await sql<{ organization_id: string }>`
    select organization_id from organization order by created_at limit 1`.execute(db);
  await insertReadyItemsOf(db, rows[0]?.organization_id ?? '', { from, to });
  await sql`vacuum analyze content`.execute(db);
}

/** The same for any organization, without a vacuum. `prefix` starts the playback ids. */
export async function insertReadyItemsOf(
  db: Db,
  organizationId: string,
  { from, to, prefix = 'bench' }: { from: number; to: number; prefix?: string },
): Promise<void> {
  // Inserts in chunks, because a single statement would take too long.
  for (let first = from; first <= to; first += itemsAtOnce) {
    const range = { from: first, to: Math.min(to, first + itemsAtOnce - 1), prefix };
    await insertRange(db, organizationId, range);
  }
}

const itemsAtOnce = 5_000;

async function insertRange(
  db: Db,
  organizationId: string,
  { from, to, prefix }: { from: number; to: number; prefix: string },
): Promise<void> {
  await sql`
    insert into content (organization_id, content_id, content_type, title, description,
      upload_status, publish_status, section, author, tags, duration_seconds, custom_metadata,
      width, height, aspect_ratio, max_frame_rate, video_quality, resolution_tier, progress,
      playback_id, media_prefix, has_thumbnail, created_at)
    select ${organizationId}::text, uuidv7(), 'video', 'Clip number ' || n,
      'A description of clip ' || n || ' that is about as long as people write them.',
      'ready', 'published', 'section-' || n % 10, 'author-' || n % 500,
      array['tag-' || n % 50, 'tag-' || n % 7, 'all'], 15, '{"source":"bench"}',
      1080, 1920, '9:16', 30, 'basic', 'FHD', 1,
      ${prefix}::text || lpad(n::text, 17, '0'), ${prefix}::text || lpad(n::text, 17, '0') || '/000000000000', true,
      now() - n * interval '1 second'
    from generate_series(${from}::integer, ${to}::integer) n
  `.execute(db);
}
