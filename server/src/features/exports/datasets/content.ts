import { contentTypes } from '../../content/content.ts';
import { listForExport, type ExportedItem } from '../../content/item-sets/item-sets.ts';
import { findFilteredItems } from '../../analytics/analytics.ts';
import { momentsOf, rowOf, type Column, type DatasetReader } from './dataset.ts';

const typeNames = `${contentTypes.map((type) => `\`${type}\``).join(', ')}.`;

const columns: readonly Column[] = [
  { name: 'id', type: 'string', about: 'The id of the item.' },
  { name: 'contentType', type: 'string', about: typeNames },
  { name: 'title', type: 'string', about: 'The title.' },
  { name: 'description', type: 'string', about: 'The description.' },
  { name: 'uploadStatus', type: 'string', about: 'The state of the media.' },
  { name: 'publishStatus', type: 'string', about: 'Whether it is published.' },
  { name: 'visibility', type: 'string', about: 'Who may see it.' },
  { name: 'section', type: 'string', about: 'The section.' },
  { name: 'author', type: 'string', about: 'The author.' },
  { name: 'tags', type: 'json', about: 'An array of strings.' },
  { name: 'publishAt', type: 'timestamp', about: 'The item is not shown before this time.' },
  { name: 'expiresAt', type: 'timestamp', about: 'The item is not shown after this time.' },
  { name: 'duration', type: 'number', about: 'The duration in seconds.' },
  { name: 'protected', type: 'boolean', about: 'Whether playback requires a signed URL.' },
  { name: 'customMetadata', type: 'json', about: 'Your own fields.' },
  { name: 'width', type: 'integer', about: 'The width in pixels.' },
  { name: 'height', type: 'integer', about: 'The height in pixels.' },
  { name: 'aspectRatio', type: 'string', about: 'The aspect ratio, such as `9:16`.' },
  { name: 'maxFrameRate', type: 'number', about: 'Frames per second.' },
  { name: 'videoQuality', type: 'string', about: 'The quality of the best rendition.' },
  { name: 'resolutionTier', type: 'string', about: 'The resolution tier.' },
  { name: 'articleUrl', type: 'string', about: 'The article of the item.' },
  { name: 'externalId', type: 'string', about: 'Your own id.' },
  { name: 'createdAt', type: 'timestamp', about: 'When it was created.' },
  { name: 'updatedAt', type: 'timestamp', about: 'When it was last changed.' },
];

const itemsAtOnce = 2_000;

export const content: DatasetReader = {
  about: 'Items by the day of their creation, including archived ones.',
  columns,
  filters: ['contentId', 'tag', 'author', 'section'],
  namesViewers: false,
  async *read({ db }, range, from, signal) {
    const { organizationId, filter } = range;
    const { from: createdFrom, before: createdBefore } = momentsOf(range);
    const wanted = await findFilteredItems(db, organizationId, filter);
    for (let after = (from?.['after'] ?? null) as string | null; ;) {
      signal.throwIfAborted();
      const page: ExportedItem[] = await listForExport(
        db,
        organizationId,
        { createdFrom, createdBefore },
        { after, limit: itemsAtOnce },
      );
      const last = page.at(-1);
      if (last === undefined) return;
      after = last.content_id;
      const found = page.filter((item) => wanted === null || wanted.has(item.content_id));
      const reached = last.created_at.getTime() - createdFrom.getTime();
      const share = reached / (createdBefore.getTime() - createdFrom.getTime());
      yield { rows: found.map(toRow), next: { after }, share: Math.min(Math.max(share, 0), 0.99) };
      if (page.length < itemsAtOnce) return;
    }
  },
};

function toRow(item: ExportedItem) {
  return rowOf(columns, {
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
  });
}
