/**
 * Statements that change or delete the items of a request or of a job's chunk. The content feature
 * provides the parts that decide what happens to the items; this file handles the allowance, the
 * order of results and the bookkeeping of jobs.
 */
import { sql, type RawBuilder } from 'kysely';
import type { Tx } from '../../platform/database/database.ts';
import type { Visibility } from '../content/content.ts';
import type { BulkJobId, OrganizationId } from '../../platform/values/ids.ts';
import type { Allowance, AllowanceRequest } from './allowance.ts';
import {
  deleteApplied,
  lockAndJudge,
  mergeMetadataOf,
  updateApplied,
  type ItemChange,
  type RequestedItem,
} from '../content/item-sets/item-sets.ts';

export type ItemResult = {
  id: string;
  failure: { code: 'NOT_FOUND' | 'VALIDATION_ERROR'; message: string } | null;
  tags: string[];
  visibility: Visibility;
};

export type BatchOptions = {
  /** If false, processing stops at the first item that fails. */
  continueOnError: boolean;
  allowance: AllowanceRequest;
};

/** `results` is empty if the allowance was exceeded and nothing was changed. */
export type BatchOutcome = { allowance: Allowance; results: ItemResult[] };

type BatchRow = {
  accepted: boolean;
  clock_went_back: boolean;
  requests_left: number;
  items_left: number;
  next_free_ms: number;
  retry_after_ms: number;
  position: number | null;
  id: string;
  code: string | null;
  message: string | null;
  tags: string[] | null;
  visibility: Visibility | null;
};

/**
 * Changes the items of one request and counts them against the allowance in one statement. Custom
 * metadata needs one more statement before it.
 */
export async function changeItems(
  tx: Tx,
  organizationId: OrganizationId,
  items: readonly RequestedItem[],
  options: BatchOptions,
): Promise<BatchOutcome> {
  const merged = await mergeMetadataOf(tx, organizationId, items);
  const changes = merged.map((item) => item.change);
  const write = updateApplied(organizationId, changes);
  return runBatch(tx, organizationId, merged, { ...options, withArchived: false }, write);
}

/** Deletes the items of one request permanently; a trigger records what must be purged. */
export async function deleteItems(
  tx: Tx,
  organizationId: OrganizationId,
  items: readonly RequestedItem[],
  options: BatchOptions,
): Promise<BatchOutcome> {
  const write = deleteApplied(organizationId);
  return runBatch(tx, organizationId, items, { ...options, withArchived: true }, write);
}

async function runBatch(
  tx: Tx,
  organizationId: OrganizationId,
  items: readonly RequestedItem[],
  { continueOnError, allowance, withArchived }: BatchOptions & { withArchived: boolean },
  write: RawBuilder<unknown>,
): Promise<BatchOutcome> {
  const contentIds = items.flatMap(({ contentId }) => (contentId === null ? [] : [contentId]));
  const { requests, newItems, itemsInAll, windowSeconds } = allowance;
  const set = {
    organizationId,
    contentIds: sql`${contentIds}`,
    gate: sql<boolean>`(select accepted from taken)`,
    withArchived,
  };
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
    ${lockAndJudge(set)},
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
  if (first === undefined) throw new Error('The database returned no allowance.');
  const results = rows.flatMap((row) => {
    if (row.position === null) return [];
    const { id, code, message, tags, visibility } = row;
    const failure = code === null ? null : { code: shownCode(code), message: message ?? '' };
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

/** Bulk results have only two codes: the item does not exist, or the change is not possible. */
function shownCode(code: string): NonNullable<ItemResult['failure']>['code'] {
  return code === 'NOT_FOUND' ? code : 'VALIDATION_ERROR';
}

/** A job locked by an earlier statement of the transaction. */
export type LockedJob = { organizationId: OrganizationId; jobId: BulkJobId };

/**
 * Applies the same change to the items of a job's next chunk.
 *
 * @returns the number of items the job has left
 */
export async function changeChunk(tx: Tx, job: LockedJob, change: ItemChange): Promise<number> {
  const write = updateApplied(job.organizationId, [change]);
  return runChunk(tx, job, { change, withArchived: false }, write);
}

/**
 * Permanently deletes the items of a job's next chunk.
 *
 * @returns the number of items the job has left
 */
export async function deleteChunk(tx: Tx, job: LockedJob): Promise<number> {
  const write = deleteApplied(job.organizationId);
  return runChunk(tx, job, { change: {}, withArchived: true }, write);
}

/**
 * Takes the next chunk, changes its items and counts them. The ids never leave the database. The
 * job must have been locked by an earlier statement, so that this statement's snapshot sees which
 * chunks the previous lock holder has taken.
 */
async function runChunk(
  tx: Tx,
  { organizationId, jobId }: LockedJob,
  { change, withArchived }: { change: ItemChange; withArchived: boolean },
  write: RawBuilder<unknown>,
): Promise<number> {
  const set = {
    organizationId,
    contentIds: sql`select content_ids from chunk`,
    gate: sql<boolean>`true`,
    withArchived,
  };
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
    ${lockAndJudge(set)},
    applied as (select * from judged where message is null),
    written as (${write}),
    failed as (
      insert into bulk_job_failure (organization_id, bulk_job_id, content_id, code, message)
      select ${organizationId}, ${jobId}, id::uuid,
        case code when 'NOT_FOUND' then code else 'VALIDATION_ERROR' end, message
      from judged
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
