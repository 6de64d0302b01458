import { sql } from 'kysely';
import {
  textArray,
  timestampArray,
  uuidArray,
} from '../../../../platform/database/binary-arrays.ts';
import { inTransaction, type Db, type Tx } from '../../../../platform/database/database.ts';
import { contentItems } from '../../../content/content.ts';
import type { Hash } from '../../statistics/viewer-key.ts';
import { viewerKeys } from '../../statistics/viewer-keys.ts';
import { toTimestamp } from '../table-queries.ts';

export type Reaction = 'like' | 'save' | 'notInterested' | 'report';

export type ViewerReaction = {
  readonly organizationId: string;
  readonly contentId: string;
  readonly reaction: Reaction;
  readonly viewerKey: Hash;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly eventId: string;
  readonly isSet: boolean;
};

/**
 * Writes reactions that are later than the stored ones, and adjusts the counters by the difference.
 * Permanently deleted items are skipped. At most one reaction per viewer, item and kind may be
 * given.
 */
export async function writeReactions(tx: Tx, given: readonly ViewerReaction[]): Promise<void> {
  const organizationIds = textArray(given.map(({ organizationId }) => organizationId));
  const contentIds = uuidArray(given.map(({ contentId }) => contentId));
  await sql`
    with given as (
      select told.*
      from unnest(${organizationIds}::text[], ${contentIds}::uuid[],
        ${textArray(given.map(({ reaction }) => reaction))}::text[],
        ${viewerKeys(given.map(({ viewerKey }) => viewerKey))}::bytea[],
        ${timestampArray(given.map(({ at }) => at))}::timestamptz[],
        ${textArray(given.map(({ eventId }) => eventId))}::text[],
        ${given.map(({ isSet }) => isSet)}::boolean[])
        as told (organization_id, content_id, reaction, viewer_key, at, event_id, is_set)
      join ${contentItems} item on item.organization_id = told.organization_id
        and item.content_id = told.content_id
    ), before as (
      select known.organization_id, known.content_id, known.reaction, known.viewer_key, known.is_set
      from given join viewer_reaction known using (organization_id, content_id, reaction, viewer_key)
    ), written as (
      insert into viewer_reaction as known
        (organization_id, content_id, reaction, viewer_key, at, event_id, is_set)
      select organization_id, content_id, reaction, viewer_key, at, event_id, is_set from given
      on conflict (organization_id, content_id, reaction, viewer_key) do update
        set at = excluded.at, event_id = excluded.event_id, is_set = excluded.is_set
        where (excluded.at, excluded.event_id) > (known.at, known.event_id)
      returning organization_id, content_id, reaction, viewer_key, is_set
    ), change as (
      select organization_id, content_id, reaction,
        sum(written.is_set::int - coalesce(before.is_set::int, 0)) as amount
      from written left join before using (organization_id, content_id, reaction, viewer_key)
      group by organization_id, content_id, reaction
    )
    insert into reaction_counter as counter (organization_id, content_id, likes, saves)
    select organization_id, content_id, coalesce(sum(amount) filter (where reaction = 'like'), 0),
      coalesce(sum(amount) filter (where reaction = 'save'), 0)
    from change group by organization_id, content_id
    -- Other partitions add to the same counters: sorted to avoid deadlocks.
    order by organization_id, content_id
    on conflict (organization_id, content_id) do update
      set likes = counter.likes + excluded.likes, saves = counter.saves + excluded.saves
  `.execute(tx);
  await sql`
    delete from reaction_counter
    where (organization_id, content_id) in (
        select * from unnest(${organizationIds}::text[], ${contentIds}::uuid[]))
      and likes = 0 and saves = 0
  `.execute(tx);
}

/** Returns which of the given items a viewer currently likes, and which the viewer has saved. */
export async function selectMarks(
  db: Db,
  organizationId: string,
  viewerKey: Buffer,
  contentIds: readonly string[],
): Promise<{ contentId: string; mark: 'like' | 'save' }[]> {
  const { rows } = await sql<{ contentId: string; mark: 'like' | 'save' }>`
    select content_id as "contentId", reaction as mark from viewer_reaction
    where organization_id = ${organizationId} and viewer_key = ${viewerKey} and is_set
      and content_id = any(${uuidArray(contentIds)}::uuid[]) and reaction in ('like', 'save')
  `.execute(db);
  return rows;
}

type NamedEvent = { readonly eventId: string; readonly viewerKey: Buffer };

/**
 * Renames the event of these reactions, and its viewer if the event itself stood for the viewer.
 */
export async function renameReactionEvent(
  tx: Tx,
  organizationId: string,
  { from, to }: { readonly from: NamedEvent; readonly to: NamedEvent },
): Promise<void> {
  await sql`
    update viewer_reaction set event_id = ${to.eventId},
      viewer_key = case viewer_key when ${from.viewerKey} then ${to.viewerKey} else viewer_key end
    where organization_id = ${organizationId} and event_id = ${from.eventId}`.execute(tx);
}

/**
 * Copies reactions from before the log's first day into the copies of a rebuild. Later ones are in
 * the log.
 */
export async function keepEarlierReactions({
  db,
  schema,
  firstDayMs,
}: {
  readonly db: Db;
  readonly schema: string;
  readonly firstDayMs: number;
}): Promise<void> {
  if (firstDayMs === -Infinity) return;
  await inTransaction(db, async (tx) => {
    await sql`set local statement_timeout = 0`.execute(tx);
    await sql`
      insert into ${sql.id(schema, 'viewer_reaction')}
      select * from viewer_reaction where at < ${toTimestamp(firstDayMs)}::timestamptz`.execute(tx);
    await sql`
      insert into ${sql.id(schema, 'reaction_counter')} (organization_id, content_id, likes, saves)
      select organization_id, content_id, count(*) filter (where reaction = 'like'),
        count(*) filter (where reaction = 'save')
      from ${sql.id(schema, 'viewer_reaction')} where is_set and reaction in ('like', 'save')
      group by organization_id, content_id`.execute(tx);
  });
}
