import { defineFeature, type Chore, type FeatureService } from '../../platform/feature/feature.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import { LogArchive } from './log-archive.ts';
import { collectBackupMetrics } from './metrics.ts';
import { BackupRuns, type BackupParts } from './runs.ts';
import { backupSettings } from './settings.ts';

/** Interval for checking whether a backup or drill is due. */
const lookEveryMs = 15_000;

export const backups = defineFeature({
  name: 'backups',
  settings: backupSettings,
  tables: ['backup_status'],
  build(parts: BackupParts & { metrics: Metrics }, config) {
    const { db, storage, installation, metrics } = parts;
    collectBackupMetrics(metrics, db, config);
    const { embedded } = installation;
    const archive = embedded === null ? null : new LogArchive({ db, storage, server: embedded });
    const archives = config.backupTo !== null && config.recoveryWindowMs > 0;
    const services: FeatureService[] =
      archive !== null && !archives
        ? [{ name: 'end the archive of the log', run: () => archive.end() }]
        : [];
    if (config.backupTo === null) return { services };
    const runs = new BackupRuns(parts, config, archives ? archive : null);
    const chores: Chore[] = [
      { name: 'take backups', intervalMs: lookEveryMs, run: (signal) => runs.backUp(signal) },
      { name: 'restore drill', intervalMs: lookEveryMs, run: (signal) => runs.drill(signal) },
    ];
    if (archive !== null && archives) {
      chores.push({
        name: 'archive the log of the database',
        intervalMs: config.archiveEveryMs,
        isLocal: true,
        run: (signal) => runs.archiveLog(signal),
      });
    }
    return { services, chores };
  },
});
