/**
 * Archives the write-ahead log of the embedded database.
 *
 * A replication slot keeps the server from removing segments that are not archived yet. Each pass
 * stores the segments finished since the previous pass and the flushed part of the current one,
 * then advances the slot. Unlike an archive command, this needs no program that runs as another
 * user, and an idle service does not fill a segment every minute. The server limits how much WAL
 * the slot keeps (`max_slot_wal_keep_size`): if a place is unavailable for too long, the slot is
 * lost, leaving a gap in the log, and the next pass starts over with a new base.
 */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Client } from 'pg';
import type { Repository } from '../repository.ts';
import { archiveKey, parseLsn, segmentName, walKey, type Archive } from './chain.ts';

export const slotName = 'reelfeed_archive';

export type ArchivePass = Archive & {
  /** Whether there is a gap between the log archived before this pass and what follows. */
  isNew: boolean;
  segments: number;
};

type ServerState = {
  system: string;
  timeline: number;
  segmentBytes: number;
  flushed: string;
  slot: string | null;
  isLost: boolean;
  now: Date;
};

/**
 * @param client a superuser session
 * @param cluster the folder of the server's files
 * @param commit makes a small commit, because a point-in-time restore needs one after its target
 */
export async function archivePass(
  client: Client,
  cluster: string,
  repository: Repository,
  commit: () => Promise<Date>,
): Promise<ArchivePass> {
  const before = await readState(client);
  const isNew = before.slot === null || before.isLost;
  if (isNew) await makeSlot(client, before.slot !== null);
  const coveredUntil = await commit();
  const state = await readState(client);
  const { system, timeline, segmentBytes } = state;
  const size = BigInt(segmentBytes);
  const flushed = parseLsn(state.flushed);
  const first = parseLsn(state.slot ?? state.flushed);
  let segments = 0;
  for (let start = first - (first % size); start < flushed; start += size) {
    const name = segmentName(timeline, start, segmentBytes);
    const bytes = flushed - start < size ? Number(flushed - start) : segmentBytes;
    await using file = await open(join(cluster, 'pg_wal', name));
    const source = file.createReadStream({ end: bytes - 1, autoClose: false });
    await repository.put(walKey(system, name), Readable.from(source), { compress: true });
    segments += 1;
  }
  const known = await repository.readJson<Archive>(archiveKey(system));
  const isSame = !isNew && known?.timeline === timeline;
  const archive: Archive = {
    system,
    timeline,
    since: isSame ? known.since : before.now.toISOString(),
    coveredUntil: coveredUntil.toISOString(),
    segmentBytes,
  };
  await repository.putJson(archiveKey(system), archive);
  // Only now may the server remove them. The next pass stores the current segment again.
  const needed = flushed - (flushed % size);
  if (needed > first) {
    await client.query('select pg_replication_slot_advance($1, $2::pg_lsn)', [
      slotName,
      written(needed),
    ]);
  }
  return { ...archive, isNew, segments };
}

/** Lets the server remove its log once nothing archives it. */
export async function dropSlot(client: Client): Promise<void> {
  await client.query(
    `select pg_drop_replication_slot(slot_name) from pg_replication_slots
     where slot_name = $1 and not active`,
    [slotName],
  );
}

async function makeSlot(client: Client, isThere: boolean): Promise<void> {
  if (isThere) await dropSlot(client);
  await client.query('select pg_create_physical_replication_slot($1, true)', [slotName]);
}

async function readState(client: Client): Promise<ServerState> {
  const { rows } = await client.query<ServerState>(
    `select system_identifier::text as system,
       (select timeline_id from pg_control_checkpoint()) as timeline,
       (select setting::int from pg_settings where name = 'wal_segment_size') as "segmentBytes",
       pg_current_wal_flush_lsn()::text as flushed,
       (select restart_lsn::text from pg_replication_slots where slot_name = $1) as slot,
       coalesce((select wal_status = 'lost' or restart_lsn is null
         from pg_replication_slots where slot_name = $1), false) as "isLost",
       clock_timestamp() as now
     from pg_control_system()`,
    [slotName],
  );
  const [state] = rows;
  if (state === undefined) throw new Error('The server did not identify itself.');
  return state;
}

function written(lsn: bigint): string {
  const hex = (value: bigint) => value.toString(16).toUpperCase();
  return `${hex(lsn >> 32n)}/${hex(lsn & 0xffff_ffffn)}`;
}
