/** SQL for a broadcast's rungs. Like all writes of a connection, these are fenced by its claim. */
import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/database/database.ts';
import { isOurs, type StreamClaim } from '../ingest/publisher-queries.ts';
import type { LiveStreamKey } from '../queries.ts';

/** A rendition below the top. */
export type LiveRung = {
  /** The short side of its picture. */
  readonly name: string;
  readonly width: number;
  readonly height: number;
  /** In RFC 6381 notation. */
  readonly codec: string;
  readonly maxBitrateBps: number;
};

/** The rungs for which a stream has segments, largest first. */
export async function readRungs(
  db: Db,
  { organizationId, liveStreamId }: LiveStreamKey,
): Promise<LiveRung[]> {
  const { rows } = await sql<LiveRung>`
    select name, width, height, video_codec as codec, max_bitrate_bps as "maxBitrateBps"
    from live_rung
    where organization_id = ${organizationId} and live_stream_id = ${liveStreamId}
    order by max_bitrate_bps desc`.execute(db);
  return rows;
}

/** Without files, it is a permanent gap. */
export type NewRungSegment = {
  readonly number: number;
  readonly fileName: string | null;
  readonly headerName: string | null;
  readonly sizeBytes: number | null;
};

/** Adds a rung's segment for a segment of the top. Returns false if the claim is lost. */
export async function insertRungSegment(
  tx: Tx,
  claim: StreamClaim,
  rung: LiveRung,
  { number, fileName, headerName, sizeBytes }: NewRungSegment,
): Promise<boolean> {
  const { rows } = await sql`
    with stream as (
      select organization_id, live_stream_id from live_stream where ${isOurs(claim)}
      for no key update
    ), rung as (
      insert into live_rung (organization_id, live_stream_id, name, width, height, video_codec,
        max_bitrate_bps)
      select organization_id, live_stream_id, ${rung.name}, ${rung.width}::integer,
        ${rung.height}::integer, ${rung.codec}, ${rung.maxBitrateBps}::integer
      from stream
      on conflict (organization_id, live_stream_id, name) do update set width = excluded.width,
        height = excluded.height, video_codec = excluded.video_codec
    ), segment as (
      insert into live_rung_segment (organization_id, live_stream_id, rung, number, file_name,
        header_name, size_bytes)
      select organization_id, live_stream_id, ${rung.name}, ${number}::integer,
        ${fileName}::text, ${headerName}::text, ${sizeBytes}::integer
      from stream
      on conflict do nothing
    )
    select from stream`.execute(tx);
  return rows.length === 1;
}

/** A segment of the top with a rung's files; without files, it is a gap. */
export type ListedRungSegment = {
  readonly number: number;
  readonly durationMs: number;
  readonly startedAt: Date;
  readonly isDiscontinuity: boolean;
  readonly fileName: string | null;
  readonly headerName: string | null;
  readonly sizeBytes: number | null;
};

/** The last segments of a rung in order, up to a number of the top; all if `count` is null. */
export async function readRungSegments(
  db: Db,
  { organizationId, liveStreamId }: LiveStreamKey,
  rung: string,
  { upTo, count }: { upTo: number; count: number | null },
): Promise<ListedRungSegment[]> {
  const { rows } = await sql<ListedRungSegment>`
    select * from (
      select top.number, top.duration_ms as "durationMs", top.started_at as "startedAt",
        top.is_discontinuity as "isDiscontinuity", own.file_name as "fileName",
        own.header_name as "headerName", own.size_bytes as "sizeBytes"
      from live_segment top left join live_rung_segment own
        on own.organization_id = top.organization_id and own.live_stream_id = top.live_stream_id
          and own.number = top.number and own.rung = ${rung}
      where top.organization_id = ${organizationId} and top.live_stream_id = ${liveStreamId}
        and top.number <= ${upTo}
      order by top.number desc limit ${count}
    ) latest order by number`.execute(db);
  return rows;
}

/** The last segment of a rung, which may be a gap. */
export type RungEnd = { readonly name: string; readonly last: number };

/** For statements that alias the stream as `stream`: its rungs' ends as JSON, largest first. */
export const rungEnds = sql<RungEnd[]>`coalesce((
  select jsonb_agg(jsonb_build_object('name', rung.name, 'last', own.last)
    order by rung.max_bitrate_bps desc)
  from live_rung rung cross join lateral (
    select max(number) as last from live_rung_segment segment
    where segment.organization_id = rung.organization_id
      and segment.live_stream_id = rung.live_stream_id and segment.rung = rung.name
  ) own
  where rung.organization_id = stream.organization_id
    and rung.live_stream_id = stream.live_stream_id and own.last is not null
), '[]')`;

/** The files of a rung's segment; absent for a gap. */
export type RungFile = {
  readonly rung: string;
  readonly number: number;
  readonly fileName: string | null;
  readonly headerName: string | null;
};

export async function readRungFiles(
  db: Db,
  { organizationId, liveStreamId }: LiveStreamKey,
  from: number,
): Promise<RungFile[]> {
  const { rows } = await sql<RungFile>`
    select rung, number, file_name as "fileName", header_name as "headerName"
    from live_rung_segment
    where organization_id = ${organizationId} and live_stream_id = ${liveStreamId}
      and number >= ${from}`.execute(db);
  return rows;
}
