import {
  duration,
  longestTimer,
  optional,
  text,
  type Parser,
} from '../../platform/settings/config-values.ts';
import { setting } from '../../platform/settings/settings.ts';

const minPassphraseLength = 12;

function passphrase(): Parser<string> {
  return (raw) =>
    raw.trim().length >= minPassphraseLength
      ? { value: raw.trim() }
      : { problem: `at least ${minPassphraseLength} characters` };
}

export const backupSettings = {
  backupTo: setting({
    env: 'REELFEED_BACKUP_TO',
    parse: optional(text()),
    fallback: '',
    about:
      'Where the service keeps its backups: a folder, or `s3://bucket/prefix`, which is reached as media on S3 are. Empty: automatic backups are off.',
  }),
  backupEveryMs: setting({
    env: 'REELFEED_BACKUP_EVERY',
    parse: duration({ min: '1m', max: longestTimer }),
    fallback: '24h',
    about: 'How often the service takes a backup.',
    reloads: true,
  }),
  backupKeepMs: setting({
    env: 'REELFEED_BACKUP_KEEP',
    parse: duration({ min: '1h' }),
    fallback: '30d',
    about: 'How long backups are kept. The newest backup is always kept.',
    reloads: true,
  }),
  backupPassphrase: setting({
    env: 'REELFEED_BACKUP_PASSPHRASE',
    parse: optional(passphrase()),
    fallback: '',
    about:
      'Passphrase that encrypts the backups, including the encryption key of the installation. Keep it elsewhere: nothing can be restored without it. Empty: backups are not encrypted.',
    secret: true,
  }),
  recoveryWindowMs: setting({
    env: 'REELFEED_BACKUP_RECOVERY_WINDOW',
    parse: duration(),
    fallback: '7d',
    about:
      'How far back `reelfeed restore --to` can go with the embedded database, whose log is archived for this purpose. 0s: the log is not archived.',
  }),
  archiveEveryMs: setting({
    env: 'REELFEED_BACKUP_LOG_EVERY',
    parse: duration({ min: '1s', max: longestTimer }),
    fallback: '1m',
    about:
      'How often the log of the embedded database is archived. Losing the disk loses at most this much data.',
  }),
  drillEveryMs: setting({
    env: 'REELFEED_BACKUP_DRILL_EVERY',
    parse: duration(),
    fallback: '7d',
    about:
      'How often the newest backup is restored into a throwaway database to verify it. 0s: never.',
    reloads: true,
  }),
};
