/** Backup metrics for monitoring and the console's System page. */
import type { Db } from '../../platform/database/database.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import { listBackupRuns, type RunStatus } from './queries.ts';
import type { BackupConfig } from './runs.ts';

export function collectBackupMetrics(metrics: Metrics, db: Db, config: BackupConfig): void {
  const isOn = config.backupTo !== null;
  const runs = async () => (isOn ? listBackupRuns(db) : []);
  const times = async (of: (run: RunStatus) => Date | null) =>
    (await runs()).flatMap((run) => {
      const at = of(run);
      return at === null ? [] : [{ labels: { kind: run.kind }, value: at.getTime() / 1_000 }];
    });
  metrics.collected({
    type: 'gauge',
    name: 'backup_last_success_timestamp_seconds',
    help: 'Time of the last successful backup, log archiving and restore drill.',
    labels: ['kind'],
    collect: () => times(({ succeededAt }) => succeededAt),
  });
  metrics.collected({
    type: 'gauge',
    name: 'backup_last_failure_timestamp_seconds',
    help: 'Time of the last failed backup, log archiving and restore drill.',
    labels: ['kind'],
    collect: () => times(({ failedAt }) => failedAt),
  });
  metrics.collected({
    type: 'gauge',
    name: 'backup_recovery_timestamp_seconds',
    help: 'Earliest and latest time to which the embedded database can be restored.',
    labels: ['end'],
    collect: async () => {
      const facts = (await runs()).find(({ kind }) => kind === 'archive')?.facts;
      return [
        ['first', facts?.['reachesFrom']],
        ['last', facts?.['reachesTo']],
      ].flatMap(([end, at]) =>
        typeof at === 'string'
          ? [{ labels: { end: String(end) }, value: Date.parse(at) / 1_000 }]
          : [],
      );
    },
  });
  metrics.collected({
    type: 'gauge',
    name: 'backup_setting_seconds',
    help: 'Configured intervals of backups and drills, and retention of backups and of the log.',
    labels: ['setting'],
    collect: () =>
      isOn
        ? Object.entries({
            every: config.backupEveryMs,
            keep: config.backupKeepMs,
            window: config.recoveryWindowMs,
            drill: config.drillEveryMs,
          }).map(([setting, ms]) => ({ labels: { setting }, value: ms / 1_000 }))
        : [],
  });
}
