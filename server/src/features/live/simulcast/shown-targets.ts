/** A stream's simulcast targets as the API returns them, without their keys. */
import { sql } from 'kysely';
import type { TargetStatus } from '../tables.ts';

/** A server to which the broadcast is forwarded. */
export type ShownTarget = {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly keyEnd: string;
  readonly status: TargetStatus;
  readonly message: string | null;
};

/** A column for a query on `live_stream stream`: the targets in order. */
export const shownTargets = sql`coalesce((
  select json_agg(json_build_object('id', target_id, 'name', name, 'url', url, 'keyEnd', key_end,
    'status', target.status, 'message', message) order by target.created_at, target_id)
  from live_simulcast_target target
  where target.organization_id = stream.organization_id
    and target.live_stream_id = stream.live_stream_id), '[]')`;
