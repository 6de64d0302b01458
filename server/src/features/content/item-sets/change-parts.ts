/**
 * Building blocks for statements that validate a set of items and change or delete them in one go.
 * The statement provides `input` and `applied`; these parts provide the rest.
 *
 *   input   → the requested items: position, id as sent, content_id, change, problem
 *   locked  → their rows, locked in id order, so that two requests with the same items in
 *             different orders wait for each other and never deadlock
 *   judged  → every item with its state after the change, or the code and message of its failure
 *   applied → those of `judged` that are to be written
 *
 * The locked rows are the latest versions, whatever the statement's snapshot is, so a change
 * committed in between is neither lost nor judged by its old state.
 */
import { sql, type RawBuilder } from 'kysely';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import type { ItemChange } from './item-change.ts';

/** Why a change to an item is rejected. */
export type ChangeProblem = 'NOT_FOUND' | 'VALIDATION_ERROR' | 'CONTENT_NOT_READY';

export const noSuchItemMessage = 'There is no content item with this id.';

const maxTags = 100;

const ofOrganization = (organizationId: OrganizationId) =>
  sql`organization_id = (select ${organizationId}::text)`;

/** The array condition beside the join forces a lookup by id instead of a table scan. */
const isApplied = sql`content_id = any(array(select content_id from applied))
      and content.content_id = applied.content_id`;

/** A list in the change as an array; empty if the change has none. */
const listed = (key: 'tags' | 'addTags' | 'removeTags') =>
  sql`array(select jsonb_array_elements_text(input.change -> ${sql.lit(key)}))`;

/** Neither stored lists nor those of a change contain duplicates, so no sorting is needed. */
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

export type JudgedSet = {
  organizationId: OrganizationId;
  /** The ids to lock, as an array expression. */
  contentIds: RawBuilder<unknown>;
  /** If false, no row is locked. */
  gate: RawBuilder<boolean>;
  /** Whether archived items are included: a deletion takes them, a change does not. */
  withArchived: boolean;
};

/**
 * `locked` and `judged`, following `input`.
 *
 * The organization is in a sub-select, here and below, to hide it from the planner's statistics. An
 * organization imported after they were taken seems empty, so scanning all its items seems cheaper
 * than looking up the requested ones: 350 ms for 500 among 50,000, instead of 3 ms.
 */
export function lockAndJudge(set: JudgedSet): RawBuilder<unknown> {
  const isPresent = set.withArchived ? sql`true` : sql`archived_at is null`;
  return sql`
    locked as materialized (
      select content_id, content_type, upload_status, tags, publish_at, expires_at
      from content
      where ${ofOrganization(set.organizationId)} and content_id = any((${set.contentIds})::uuid[])
        and ${isPresent} and ${set.gate}
      order by content_id
      for update
    ),
    judged as materialized (
      select input.position, input.id, input.change, locked.content_id,
        after.tags, after.publish_at, after.expires_at,
        verdict.problem[1] as code, verdict.problem[2] as message
      from input left join locked on locked.content_id = input.content_id
      left join lateral (
        select
          ${tagsAfter} as tags,
          case when input.change ? 'publishAt' then (input.change ->> 'publishAt')::timestamptz
            else locked.publish_at end as publish_at,
          case when input.change ? 'expiresAt' then (input.change ->> 'expiresAt')::timestamptz
            else locked.expires_at end as expires_at
      ) after on locked.content_id is not null
      cross join lateral (
        select case
          when input.problem is not null then array['VALIDATION_ERROR', input.problem]
          when locked.content_id is null
            then array['NOT_FOUND', ${sql.lit(noSuchItemMessage)}]
          when input.change ->> 'publishStatus' = 'published' and locked.upload_status <> 'ready'
            then array['CONTENT_NOT_READY',
              'publishStatus: only a ready item can be published; this one is '
                || locked.upload_status]
          when locked.content_type <> 'carousel' and input.change ? 'autoScrollInterval'
            and input.change ->> 'autoScrollInterval' is not null
            then array['VALIDATION_ERROR', 'autoScrollInterval: is allowed only for image carousels']
          when after.publish_at >= after.expires_at
            then array['VALIDATION_ERROR', 'expiresAt: must be after publishAt']
          when input.change ? 'addTags' and cardinality(after.tags) > ${sql.lit(maxTags)}
            then array['VALIDATION_ERROR', 'tags: must be at most ${sql.raw(String(maxTags))}']
        end as problem
      ) verdict
    )`;
}

const assignments: Record<keyof ItemChange, string> = {
  title: fromChange('title', 'title'),
  description: fromChange('description', 'description'),
  section: fromChange('section', 'section'),
  author: fromChange('author', 'author'),
  articleUrl: fromChange('article_url', 'articleUrl'),
  externalId: fromChange('external_id', 'externalId'),
  videoQuality: fromChange('video_quality', 'videoQuality'),
  autoScrollInterval: fromChange(
    'auto_scroll_interval_seconds',
    'autoScrollInterval',
    '::double precision',
  ),
  protected: fromChange('protected', 'protected', '::boolean'),
  visibility: fromChange('visibility', 'visibility'),
  publishStatus: fromChange('publish_status', 'publishStatus'),
  publishAt: 'publish_at = applied.publish_at',
  expiresAt: 'expires_at = applied.expires_at',
  tags: 'tags = applied.tags',
  addTags: 'tags = applied.tags',
  removeTags: 'tags = applied.tags',
  customMetadata: `custom_metadata = coalesce(applied.change -> 'customMetadata', content.custom_metadata)`,
};

function fromChange(column: string, key: string, cast = ''): string {
  return `${column} = case when applied.change ? '${key}'
    then (applied.change ->> '${key}')${cast} else content.${column} end`;
}

/** The columns that a statement returns for each written row. */
const defaultColumns = ['content_id', 'tags', 'visibility'] as const;

function returning(columns: readonly string[]): RawBuilder<unknown> {
  return sql`returning ${sql.join(columns.map((column) => sql.ref(`content.${column}`)))}`;
}

/** Updates the applied items; assigns only columns that some change names. */
export function updateApplied(
  organizationId: OrganizationId,
  changes: readonly ItemChange[],
  columns: readonly string[] = defaultColumns,
): RawBuilder<unknown> {
  const keys = new Set(changes.flatMap((change) => Object.keys(change) as (keyof ItemChange)[]));
  const assigned = new Set([...keys].toSorted().map((key) => assignments[key]));
  return sql`
    update content set ${sql.raw([...assigned, ...touchedColumns].join(', '))}
    from applied
    where content.${ofOrganization(organizationId)} and content.${isApplied}
    ${returning(columns)}`;
}

const touchedColumns = [
  'revision = content.revision + 1',
  `updated_at = greatest(clock_timestamp(), content.updated_at + interval '1 microsecond')`,
];

/** Deletes the applied items; a trigger records what is to be purged. */
export function deleteApplied(organizationId: OrganizationId): RawBuilder<unknown> {
  return sql`
    delete from content using applied
    where content.${ofOrganization(organizationId)} and content.${isApplied}
    ${returning(defaultColumns)}`;
}
