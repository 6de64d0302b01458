import type { Db } from '../../platform/database/database.ts';
import { listForExport, type ExportedItem } from '../content/content.ts';
import type { ExportRange } from './exports.ts';
import type { Column, Row } from './rows.ts';

const itemColumns: readonly Column[] = [
  { name: 'id', type: 'string' },
  { name: 'contentType', type: 'string' },
  { name: 'title', type: 'string' },
  { name: 'description', type: 'string' },
  { name: 'uploadStatus', type: 'string' },
  { name: 'publishStatus', type: 'string' },
  { name: 'visibility', type: 'string' },
  { name: 'section', type: 'string' },
  { name: 'author', type: 'string' },
  { name: 'tags', type: 'json' },
  { name: 'publishAt', type: 'timestamp' },
  { name: 'expiresAt', type: 'timestamp' },
  { name: 'duration', type: 'number' },
  { name: 'protected', type: 'boolean' },
  { name: 'customMetadata', type: 'json' },
  { name: 'width', type: 'integer' },
  { name: 'height', type: 'integer' },
  { name: 'aspectRatio', type: 'string' },
  { name: 'maxFrameRate', type: 'number' },
  { name: 'videoQuality', type: 'string' },
  { name: 'resolutionTier', type: 'string' },
  { name: 'articleUrl', type: 'string' },
  { name: 'externalId', type: 'string' },
  { name: 'createdAt', type: 'timestamp' },
  { name: 'updatedAt', type: 'timestamp' },
];
export const contentColumns = itemColumns;

const itemsAtOnce = 2_000;

/** The items that were created in the range, archived ones included, in the order of their ids. */
export async function* readContentRows(
  db: Db,
  { organizationId, startMs, endMs }: ExportRange,
  signal: AbortSignal,
): AsyncGenerator<Row[]> {
  const range = { createdFrom: new Date(startMs), createdBefore: new Date(endMs) };
  for (let after: string | null = null; ;) {
    signal.throwIfAborted();
    const page: ExportedItem[] = await listForExport(db, organizationId, range, {
      after,
      limit: itemsAtOnce,
    });
    yield page.map(toRow);
    const last = page.at(-1);
    if (last === undefined || page.length < itemsAtOnce) return;
    after = last.content_id;
  }
}

function toRow(item: ExportedItem): Row {
  return {
    id: item.content_id,
    contentType: item.content_type,
    title: item.title,
    description: item.description,
    uploadStatus: item.upload_status,
    publishStatus: item.publish_status,
    visibility: item.visibility,
    section: item.section,
    author: item.author,
    tags: item.tags,
    publishAt: item.publish_at?.getTime() ?? null,
    expiresAt: item.expires_at?.getTime() ?? null,
    duration: item.duration_seconds,
    protected: item.protected,
    customMetadata: item.custom_metadata,
    width: item.width,
    height: item.height,
    aspectRatio: item.aspect_ratio,
    maxFrameRate: item.max_frame_rate,
    videoQuality: item.video_quality,
    resolutionTier: item.resolution_tier,
    articleUrl: item.article_url,
    externalId: item.external_id,
    createdAt: item.created_at.getTime(),
    updatedAt: item.updated_at.getTime(),
  };
}
