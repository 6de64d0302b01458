/**
 * Restores the embedded database to a point in time from a base and the log that follows it.
 * PostgreSQL replays the log up to the last commit before that time. The result is a cluster folder
 * that starts like any other.
 */
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { DataDirectory } from '../../data-directory/data-directory.ts';
import { PASSWORD_FILE } from '../../postgres/password.ts';
import { recoverCluster } from '../../postgres/recover-cluster.ts';
import { ConfigurationError } from '../../settings/settings.ts';
import { sync } from '../../storage/durable.ts';
import type { Repository } from '../repository.ts';
import {
  archiveKey,
  clusterKey,
  listBases,
  listSegments,
  segmentNumber,
  walKey,
  type Archive,
  type Base,
} from './chain.ts';
import { isFolder, unpackCluster } from './cluster-files.ts';

/** Present while a recovery is in progress, so that an interrupted one can start over. */
const markerName = 'recovery.unfinished';

export type RecoveryPlan = { base: Base; archive: Archive; segments: readonly string[]; to: Date };

/** @throws ConfigurationError saying which points in time can be restored */
export async function planRecovery(repository: Repository, to: Date): Promise<RecoveryPlan> {
  const bases = await listBases(repository);
  const base = bases.findLast(({ completedAt }) => Date.parse(completedAt) <= to.getTime());
  if (base === undefined) {
    const first = bases[0]?.completedAt;
    throw new ConfigurationError(
      first === undefined
        ? 'The backups contain no database log, so no point in time between them can be restored.'
        : `The earliest time that can be restored is ${first}. Choose a later one.`,
    );
  }
  const archive = await repository.readJson<Archive>(archiveKey(base.system));
  if (archive === null || Date.parse(archive.coveredUntil) < to.getTime()) {
    const end = archive?.coveredUntil ?? base.completedAt;
    throw new ConfigurationError(`The database log ends at ${end}. Choose an earlier time.`);
  }
  const segments = await listSegments(repository, base);
  const { segmentBytes } = archive;
  const numbers = [base.firstSegment, ...segments].map((name) => segmentNumber(name, segmentBytes));
  const hasGap = numbers.some((number, index) => {
    const previous = numbers[index - 1];
    return previous !== undefined && number - previous > 1n;
  });
  if (segments[0] !== base.firstSegment || hasGap) {
    throw new ConfigurationError(
      `The database log between ${base.completedAt} and ${to.toISOString()} is incomplete.`,
    );
  }
  return { base, archive, segments, to };
}

/**
 * @throws ConfigurationError if the directory holds a database that was not created by a recovery
 */
export async function requireRecoverable(dataDirectory: string): Promise<void> {
  const isUnfinished = await open(join(dataDirectory, markerName)).then(
    async (file) => file.close().then(() => true),
    () => false,
  );
  if (isUnfinished || !(await isFolder(join(dataDirectory, 'postgres')))) return;
  throw new ConfigurationError(
    `The data directory ${dataDirectory} is not empty. Restore into an empty data directory.`,
  );
}

/**
 * Fills the data directory with the database as of the plan's target time. Can be repeated until
 * `endRecovery` is called, so a restore may be interrupted at any step.
 */
export async function recoverDatabase(
  { base, archive, segments, to }: RecoveryPlan,
  repository: Repository,
  dataDir: DataDirectory,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  await requireRecoverable(dataDir.path);
  const marker = join(dataDir.path, markerName);
  await writeFile(marker, `${to.toISOString()}\n`, { flush: true });
  await sync(dataDir.path);
  const staging = join(dataDir.path, 'postgres.new-recovery');
  const cluster = join(dataDir.path, 'postgres');
  // The password from an interrupted attempt does not match the copy. The next start sets a new
  // one.
  for (const path of [staging, cluster, join(dataDir.path, PASSWORD_FILE)]) {
    await rm(path, { recursive: true, force: true });
  }
  const files = await repository.read(clusterKey(base.system, base.id), { compressed: true });
  if (files === null) throw new ConfigurationError(`The base backup ${base.id} is missing.`);
  await unpackCluster(files, staging);
  await mkdir(join(staging, 'pg_wal', 'archive_status'), { recursive: true, mode: 0o700 });
  for (const segment of segments) {
    signal.throwIfAborted();
    await putSegment(repository, base.system, segment, staging, archive.segmentBytes);
  }
  await writeFile(join(staging, 'recovery.signal'), '', { mode: 0o600 });
  await rename(staging, cluster);
  await sync(dataDir.path);
  await recoverCluster({ dataDir, log, signal, to });
}

/** Marks the recovery as complete. */
export async function endRecovery(dataDir: DataDirectory): Promise<void> {
  await rm(join(dataDir.path, markerName), { force: true });
  await sync(dataDir.path);
}

/** A segment always has its full size, no matter how much of it was written. */
async function putSegment(
  repository: Repository,
  system: string,
  segment: string,
  cluster: string,
  segmentBytes: number,
): Promise<void> {
  const stream = await repository.read(walKey(system, segment), { compressed: true });
  if (stream === null) throw new ConfigurationError(`The log segment ${segment} is missing.`);
  await using file = await open(join(cluster, 'pg_wal', segment), 'w', 0o600);
  await file.truncate(segmentBytes);
  let at = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    await file.write(chunk, 0, chunk.length, at);
    at += chunk.length;
  }
  await file.sync();
}
