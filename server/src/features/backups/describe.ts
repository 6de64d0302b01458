/** Backup status in `reelfeed doctor`. */
import type { Db } from '../../platform/database/database.ts';
import type { Finding } from '../../platform/feature/finding.ts';
import { formatTimestamp } from '../../platform/values/time.ts';
import { listBackupRuns, type RunKind, type RunStatus } from './queries.ts';
import type { BackupConfig } from './runs.ts';

const subject = 'Backups';
const names = { backup: 'backup', archive: 'log archiving', drill: 'restore drill' };

export async function describeBackups(db: Db, config: BackupConfig): Promise<Finding[]> {
  const { backupTo } = config;
  if (backupTo === null) {
    const mend = 'Set REELFEED_BACKUP_TO to a folder on another disk or to s3://bucket/prefix.';
    return [{ subject, state: 'note', detail: 'automatic backups are off', mend }];
  }
  const runs = await listBackupRuns(db);
  const due: [RunKind, number][] = [['backup', config.backupEveryMs]];
  if (config.drillEveryMs > 0) due.push(['drill', config.drillEveryMs]);
  if (runs.some(({ kind }) => kind === 'archive') && config.recoveryWindowMs > 0) {
    due.push(['archive', config.archiveEveryMs]);
  }
  return due.map(([kind, everyMs]) =>
    describeRun(
      kind,
      runs.find((run) => run.kind === kind),
      everyMs,
    ),
  );
}

/** A run is late if two intervals have passed without one. */
function describeRun(kind: RunKind, run: RunStatus | undefined, everyMs: number): Finding {
  const { succeededAt = null, failedAt = null, failure = null } = run ?? {};
  const name = names[kind];
  const last = succeededAt === null ? 'never' : `at ${formatTimestamp(succeededAt)}`;
  if (failure !== null && failedAt !== null && failedAt > (succeededAt ?? 0)) {
    const detail = `the last ${name} failed at ${formatTimestamp(failedAt)}: ${failure}`;
    return { subject, state: 'problem', detail };
  }
  const isLate = succeededAt !== null && Date.now() - succeededAt.getTime() > 2 * everyMs + 60_000;
  const detail = `the last ${name} succeeded ${last}`;
  if (succeededAt === null || isLate) {
    const mend = 'It runs in processes with the role worker.';
    return { subject, state: 'note', detail, mend };
  }
  return { subject, state: 'ok', detail };
}
