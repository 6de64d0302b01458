/** Copies the files of the running embedded server into a repository. */
import type { Client } from 'pg';
import { newBackupId } from '../manifest.ts';
import type { Repository } from '../repository.ts';
import { baseKey, clusterKey, parseLsn, segmentName, type Base } from './chain.ts';
import { packCluster } from './cluster-files.ts';

type Start = { lsn: string; system: string; timeline: number; segmentBytes: number; now: Date };

/**
 * Must follow a pass of the archiver, whose slot keeps the log that the copy needs.
 *
 * @param client a superuser session, which the copy uses until it ends
 * @param archive runs a pass of the archiver: the log must be stored before the base that needs it
 * @returns the base, once it can be restored
 */
export async function takeBase(
  client: Client,
  cluster: string,
  repository: Repository,
  {
    version,
    archive,
    signal,
  }: {
    version: string;
    archive: () => Promise<unknown>;
    signal?: AbortSignal;
  },
): Promise<Base> {
  const id = newBackupId();
  const { rows } = await client.query<Start>(
    `select pg_backup_start('reelfeed', true)::text as lsn, system_identifier::text as system,
       (select timeline_id from pg_control_checkpoint()) as timeline,
       (select setting::int from pg_settings where name = 'wal_segment_size') as "segmentBytes",
       clock_timestamp() as now
     from pg_control_system()`,
  );
  const [start] = rows;
  if (start === undefined) throw new Error('The server did not start a backup.');
  const { lsn, system, timeline, segmentBytes, now } = start;
  const stop = async (): Promise<Record<string, string>> => {
    const { rows: stopped } = await client.query<{ label: string }>(
      'select labelfile as label from pg_backup_stop(false)',
    );
    return { backup_label: stopped[0]?.label ?? '' };
  };
  const files = packCluster(cluster, stop, signal);
  const key = clusterKey(system, id);
  const { sizeBytes } = await repository.put(key, files, {
    compress: true,
    ...(signal !== undefined && { signal }),
  });
  await archive();
  const { rows: ended } = await client.query<{ now: Date; postgres: string }>(
    `select clock_timestamp() as now, current_setting('server_version') as postgres`,
  );
  const base: Base = {
    id,
    system,
    timeline,
    version,
    postgres: ended[0]?.postgres ?? '',
    firstSegment: segmentName(timeline, parseLsn(lsn), segmentBytes),
    startedAt: now.toISOString(),
    completedAt: (ended[0]?.now ?? now).toISOString(),
    clusterBytes: sizeBytes,
  };
  await repository.putJson(baseKey(system, id), base);
  return base;
}
