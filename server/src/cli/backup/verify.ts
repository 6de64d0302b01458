/** `reelfeed verify [<place>]`: checks that a backup is complete and undamaged. */
import { readConfig } from '../../app/config.ts';
import { examineBackup, openBackupSource } from '../../platform/backup/backup-source.ts';
import { print, type Command } from '../command.ts';
import { backupPlaceOf } from './backup.ts';

export const verify: Command = async ({ env, json, positionals: [target], backup = null }) => {
  const config = readConfig(env);
  const place = backupPlaceOf(
    target,
    config,
    'verify [<folder>|s3://<bucket>/<prefix>] [--backup <id>]',
  );
  const options = { place, passphrase: config.backupPassphrase, id: backup };
  const source = await openBackupSource(options, config);
  const { files, problems } = await examineBackup(source);
  const { createdAt, version } = source.manifest;
  const summary =
    problems.length === 0
      ? `The backup of ${createdAt} by Reelfeed ${version} is intact: ${files} files.`
      : `The backup is damaged: ${problems.length} of ${files} files have problems.`;
  const facts = { backup: source.name, createdAt, version, files, problems };
  print(json, facts, [...problems, summary]);
  if (problems.length > 0) process.exitCode = 1;
};
