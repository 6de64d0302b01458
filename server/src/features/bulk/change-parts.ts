/**
 * The parts that the statements of `change-queries.ts` are made of: they judge a set of items and
 * change them in one go.
 *
 *   input   → the items asked for: position, id as sent, content_id, change, problem
 *   locked  → their rows, locked in the order of their ids, so that two requests with the same
 *             items in other orders wait for each other and never deadlock
 *   judged  → every item with what would become of it, or the code and message of its failure
 *   applied → those of `judged` that are to be written
 *
 * The locked rows are the latest versions, whatever the statement's snapshot is, so a change that
 * was committed in between is neither lost nor judged by its old state.
 */
import { sql, type RawBuilder } from 'kysely';
import type { OrganizationId } from '../../platform/ids.ts';
import { noSuchItemMessage } from '../content/content.ts';
import type { ItemChange } from './item-change.ts';

const mostTags = 100;
const mostMetadataBytes = 16 * 1024;

const ofOrganization = (organizationId: OrganizationId) =>
  sql`organization_id = (select ${organizationId}::text)`;

/** The list beside the join makes each row be looked up by its id, never the table be read. */
const isApplied = sql`content_id = any(array(select content_id from applied))
      and content.content_id = applied.content_id`;

/** A list of the change as an array; empty when the change has none. */
const listed = (key: 'tags' | 'addTags' | 'removeTags') =>
  sql`array(select jsonb_array_elements_text(input.change -> ${sql.lit(key)}))`;

/** Lists hold no repeats, neither stored ones nor those of a change, so nothing has to be sorted. */
const tagsAfter = sql`
  case
    when input.change ? 'tags' then ${listed('tags')}
    when not input.change ?| array['addTags', 'removeTags'] then locked.tags
    else array(
      select tag
      from unnest(locked.tags || array(
        select added from unnest(${listed('addTags')}) as added where added <> all (locked.tags)
      )) as tag
      where tag <> all (${listed('removeTags')})
    )
  end`;

const metadataAfter = sql`(locked.custom_metadata || (input.change -> 'metadataSet'))
  - array(select jsonb_array_elements_text(input.change -> 'metadataRemove'))`;

/** PostgreSQL writes a space after each colon and comma, which the limit does not count. */
const isMetadataTooLarge = sql`input.change ? 'metadataSet'
  and octet_length(after.custom_metadata::text) > ${sql.lit(mostMetadataBytes)}
  and octet_length(regexp_replace(after.custom_metadata::text,
    '("(?:[^"\\\\]|\\\\.)*")|\\s', '\\1', 'g')) > ${sql.lit(mostMetadataBytes)}`;

/**
 * `locked` and `judged`, behind `input`. Where `gate` is false, no row is locked.
 *
 * The organization stands in a sub-select here and below, where the planner can't look it up in its
 * statistics. An organization that was imported after they were taken seems empty in them, and
 * walking through all of its items seems cheaper than looking up the wanted ones: 350 ms for 500
 * among 50,000, in place of 3 ms.
 */
export function lockAndJudge(
  organizationId: OrganizationId,
  contentIds: RawBuilder<unknown>,
  gate: RawBuilder<boolean>,
): RawBuilder<unknown> {
  return sql`
    locked as materialized (
      select content_id, upload_status, tags, publish_at, expires_at, custom_metadata
      from content
      where ${ofOrganization(organizationId)} and content_id = any((${contentIds})::uuid[])
        and archived_at is null and ${gate}
      order by content_id
      for update
    ),
    judged as materialized (
      select input.position, input.id, input.change, locked.content_id,
        after.tags, after.publish_at, after.expires_at, after.custom_metadata, verdict.message,
        case when verdict.message is null then null
          when input.problem is null and locked.content_id is null then 'NOT_FOUND'
          else 'VALIDATION_ERROR' end as code
      from input left join locked on locked.content_id = input.content_id
      left join lateral (
        select
          ${tagsAfter} as tags,
          case when input.change ? 'publishAt' then (input.change ->> 'publishAt')::timestamptz
            else locked.publish_at end as publish_at,
          case when input.change ? 'expiresAt' then (input.change ->> 'expiresAt')::timestamptz
            else locked.expires_at end as expires_at,
          case when input.change ? 'metadataSet' then ${metadataAfter}
            else locked.custom_metadata end as custom_metadata
      ) after on locked.content_id is not null
      cross join lateral (
        select case
          when input.problem is not null then input.problem
          when locked.content_id is null then ${sql.lit(noSuchItemMessage)}
          when input.change ->> 'publishStatus' = 'published' and locked.upload_status <> 'ready'
            then 'publishStatus: only a ready item can be published; this one is '
              || locked.upload_status
          when after.publish_at >= after.expires_at then 'expiresAt: must be after publishAt'
          when input.change ? 'addTags' and cardinality(after.tags) > ${sql.lit(mostTags)}
            then 'tags: must be at most ${sql.raw(String(mostTags))}'
          when ${isMetadataTooLarge}
            then 'customMetadata: must be at most ${sql.raw(String(mostMetadataBytes))} bytes of JSON'
        end as message
      ) verdict
    )`;
}

const assignments: Record<keyof ItemChange, string> = {
  title: `title = coalesce(applied.change ->> 'title', content.title)`,
  description: fromChange('description', 'description'),
  section: fromChange('section', 'section'),
  author: fromChange('author', 'author'),
  articleUrl: fromChange('article_url', 'articleUrl'),
  visibility: `visibility = coalesce(applied.change ->> 'visibility', content.visibility)`,
  publishStatus: `publish_status = coalesce(applied.change ->> 'publishStatus', content.publish_status)`,
  publishAt: 'publish_at = applied.publish_at',
  expiresAt: 'expires_at = applied.expires_at',
  tags: 'tags = applied.tags',
  addTags: 'tags = applied.tags',
  removeTags: 'tags = applied.tags',
  metadataSet: 'custom_metadata = applied.custom_metadata',
  metadataRemove: 'custom_metadata = applied.custom_metadata',
};

function fromChange(column: string, key: string): string {
  return `${column} = case when applied.change ? '${key}'
    then applied.change ->> '${key}' else content.${column} end`;
}

/** Writes what was judged; only the columns that some change names are assigned. */
export function updateApplied(
  organizationId: OrganizationId,
  changes: readonly ItemChange[],
): RawBuilder<unknown> {
  const keys = new Set(changes.flatMap((change) => Object.keys(change) as (keyof ItemChange)[]));
  const columns = new Set([...keys].toSorted().map((key) => assignments[key]));
  return sql`
    update content set ${sql.raw([...columns, ...touched].join(', '))}
    from applied
    where content.${ofOrganization(organizationId)} and content.${isApplied}
    returning content.content_id, content.tags, content.visibility`;
}

const touched = [
  'revision = content.revision + 1',
  `updated_at = greatest(clock_timestamp(), content.updated_at + interval '1 microsecond')`,
];

/** Deletes what was judged; a trigger notes what is to be purged. */
export function deleteApplied(organizationId: OrganizationId): RawBuilder<unknown> {
  return sql`
    delete from content using applied
    where content.${ofOrganization(organizationId)} and content.${isApplied}
    returning content.content_id, content.tags, content.visibility`;
}
