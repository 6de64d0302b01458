/**
 * The statements that judge a set of items and change them in one go. They share their first half:
 *
 *   input   → the items asked for: position, id as sent, content_id, change, problem
 *   locked  → their rows, locked in the order of their ids, so that two requests with the same
 *             items in other orders wait for each other and never deadlock
 *   judged  → every item with what would become of it, or the code and message of its failure
 *
 * The locked rows are the latest versions, whatever the statement's snapshot is, so a change that
 * was committed in between is neither lost nor judged by its old state.
 */
import { sql, type RawBuilder } from 'kysely';
import type { Tx } from '../../platform/database/database.ts';
import type { Visibility } from '../../platform/database/tables.ts';
import type { BulkJobId, OrganizationId } from '../../platform/ids.ts';
import { noSuchItemMessage } from '../content/content.ts';
import type { Allowance, AllowanceRequest } from './allowance.ts';
import type { ItemChange } from './item-change.ts';

/** One item of a request. `contentId` is null when the id has not the form of one. */
export type RequestedItem = {
  id: string;
  contentId: string | null;
  change: ItemChange;
  /** What is wrong with the item whatever its row is. */
  problem: string | null;
};

export type ItemResult = {
  id: string;
  failure: { code: 'NOT_FOUND' | 'VALIDATION_ERROR'; message: string } | null;
  tags: string[];
  visibility: Visibility;
};

export type BatchOptions = {
  /** false: the first item that fails is the last one that is looked at. */
  continueOnError: boolean;
  allowance: AllowanceRequest;
};

/** `results` is empty when the allowance was refused: nothing was touched. */
export type BatchOutcome = { allowance: Allowance; results: ItemResult[] };

const mostTags = 100;
const mostMetadataBytes = 16 * 1024;

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

function lockAndJudge(
  organizationId: OrganizationId,
  contentIds: RawBuilder<unknown>,
  gate: RawBuilder<boolean>,
): RawBuilder<unknown> {
  return sql`
    locked as materialized (
      select content_id, upload_status, tags, publish_at, expires_at, custom_metadata
      from content
      where organization_id = ${organizationId} and content_id = any((${contentIds})::uuid[])
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
function updateApplied(
  organizationId: OrganizationId,
  changes: readonly ItemChange[],
): RawBuilder<unknown> {
  const keys = new Set(changes.flatMap((change) => Object.keys(change) as (keyof ItemChange)[]));
  const columns = new Set([...keys].toSorted().map((key) => assignments[key]));
  return sql`
    update content set ${sql.raw([...columns, ...touched].join(', '))}
    from applied
    where content.organization_id = ${organizationId}
      and content.content_id = applied.content_id
    returning content.content_id, content.tags, content.visibility`;
}

const touched = [
  'revision = content.revision + 1',
  `updated_at = greatest(clock_timestamp(), content.updated_at + interval '1 microsecond')`,
];

function deleteApplied(organizationId: OrganizationId): RawBuilder<unknown> {
  return sql`
    delete from content using applied
    where content.organization_id = ${organizationId}
      and content.content_id = applied.content_id
    returning content.content_id, content.tags, content.visibility`;
}

type BatchRow = {
  accepted: boolean;
  clock_went_back: boolean;
  requests_left: number;
  items_left: number;
  next_free_ms: number;
  retry_after_ms: number;
  position: number | null;
  id: string;
  code: 'NOT_FOUND' | 'VALIDATION_ERROR' | null;
  message: string | null;
  tags: string[] | null;
  visibility: Visibility | null;
};

/** Changes the items of one request, and takes them from the allowance, in one statement. */
export async function changeItems(
  tx: Tx,
  organizationId: OrganizationId,
  items: readonly RequestedItem[],
  options: BatchOptions,
): Promise<BatchOutcome> {
  const changes = items.map((item) => item.change);
  return runBatch(tx, organizationId, items, options, updateApplied(organizationId, changes));
}

/** Deletes the items of one request for good; a trigger notes what is to be purged. */
export async function deleteItems(
  tx: Tx,
  organizationId: OrganizationId,
  items: readonly RequestedItem[],
  options: BatchOptions,
): Promise<BatchOutcome> {
  return runBatch(tx, organizationId, items, options, deleteApplied(organizationId));
}

async function runBatch(
  tx: Tx,
  organizationId: OrganizationId,
  items: readonly RequestedItem[],
  { continueOnError, allowance }: BatchOptions,
  write: RawBuilder<unknown>,
): Promise<BatchOutcome> {
  const contentIds = items.flatMap(({ contentId }) => (contentId === null ? [] : [contentId]));
  const { requests, newItems, itemsInAll, windowSeconds } = allowance;
  const { rows } = await sql<BatchRow>`
    with taken as materialized (
      select accepted, clock_went_back, requests_left, items_left, next_free_ms, retry_after_ms
      from take_bulk_allowance(${organizationId}, ${newItems}, ${requests}, ${itemsInAll},
        make_interval(secs => ${windowSeconds}))
    ),
    input as (
      select position, id, content_id, change, problem
      from jsonb_to_recordset(${toInput(items)}::jsonb)
        as item (position integer, id text, content_id uuid, change jsonb, problem text)
    ),
    ${lockAndJudge(organizationId, sql`${contentIds}`, sql`(select accepted from taken)`)},
    stop as (
      select coalesce(min(position), ${items.length}) as position from judged
      where message is not null and not ${continueOnError}::boolean
    ),
    reported as (
      select judged.* from judged cross join stop
      where judged.position <= stop.position and (select accepted from taken)
    ),
    applied as (select * from reported where message is null),
    written as (${write})
    select taken.*, reported.position, reported.id, reported.code, reported.message,
      written.tags, written.visibility
    from taken left join reported on true
      left join written on written.content_id = reported.content_id
    order by reported.position
  `.execute(tx);
  return toOutcome(rows);
}

function toInput(items: readonly RequestedItem[]): string {
  return JSON.stringify(
    items.map(({ id, contentId, change, problem }, position) => ({
      position,
      id,
      content_id: contentId,
      change,
      problem,
    })),
  );
}

function toOutcome(rows: readonly BatchRow[]): BatchOutcome {
  const [first] = rows;
  if (first === undefined) throw new Error('The allowance was not answered.');
  const results = rows.flatMap((row) => {
    if (row.position === null) return [];
    const { id, code, message, tags, visibility } = row;
    const failure = code === null ? null : { code, message: message ?? '' };
    return [{ id, failure, tags: tags ?? [], visibility: visibility ?? 'public' }];
  });
  return {
    allowance: {
      isAccepted: first.accepted,
      clockWentBack: first.clock_went_back,
      requestsLeft: first.requests_left,
      itemsLeft: first.items_left,
      nextFreeMs: first.next_free_ms,
      retryAfterMs: first.retry_after_ms,
    },
    results,
  };
}

/** A job that an earlier statement of the transaction has locked. */
export type LockedJob = { organizationId: OrganizationId; jobId: BulkJobId };

/** Changes the items of a job's next chunk alike. @returns how many items the job has left */
export async function changeChunk(tx: Tx, job: LockedJob, change: ItemChange): Promise<number> {
  return runChunk(tx, job, change, updateApplied(job.organizationId, [change]));
}

/** Deletes the items of a job's next chunk for good. @returns how many items the job has left */
export async function deleteChunk(tx: Tx, job: LockedJob): Promise<number> {
  return runChunk(tx, job, {}, deleteApplied(job.organizationId));
}

/**
 * Takes the next chunk away, does its items and counts them. The ids never leave the database. The
 * lock of the job must be older than this statement, whose snapshot then sees what the lock's
 * holder before us has taken.
 */
async function runChunk(
  tx: Tx,
  { organizationId, jobId }: LockedJob,
  change: ItemChange,
  write: RawBuilder<unknown>,
): Promise<number> {
  const contentIds = sql`select content_ids from chunk`;
  const { rows } = await sql<{ items_left: number }>`
    with chunk as materialized (
      delete from bulk_job_chunk
      where organization_id = ${organizationId} and bulk_job_id = ${jobId} and position = (
        select position from bulk_job_chunk
        where organization_id = ${organizationId} and bulk_job_id = ${jobId}
        order by position limit 1)
      returning content_ids
    ),
    input as (
      select item.position::integer as position, item.content_id::text as id, item.content_id,
        ${JSON.stringify(change)}::jsonb as change, null::text as problem
      from chunk, unnest(chunk.content_ids) with ordinality as item (content_id, position)
    ),
    ${lockAndJudge(organizationId, contentIds, sql`true`)},
    applied as (select * from judged where message is null),
    written as (${write}),
    failed as (
      insert into bulk_job_failure (organization_id, bulk_job_id, content_id, code, message)
      select ${organizationId}, ${jobId}, id::uuid, code, message from judged
      where message is not null
    )
    update bulk_job set
      successful_items = successful_items + (select count(*) from written),
      failed_items = failed_items + (select count(*) from judged where message is not null)
    where organization_id = ${organizationId} and bulk_job_id = ${jobId}
      and exists (select from chunk)
    returning total_items - successful_items - failed_items as items_left
  `.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error(`The bulk job ${jobId} has no items, but has not ended.`);
  return row.items_left;
}
