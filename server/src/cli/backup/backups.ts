/** `reelfeed backups [<place>]`: lists the backups of a place. */
import { readConfig } from '../../app/config.ts';
import { listBackups, readBackupManifest } from '../../platform/backup/manifest.ts';
import { openPlace } from '../../platform/backup/place.ts';
import { archiveKey, listBases, type Archive } from '../../platform/backup/recovery/chain.ts';
import { openRepository } from '../../platform/backup/repository.ts';
import { print, type Command } from '../command.ts';
import { backupPlaceOf } from './backup.ts';

export const backupsCommand: Command = async ({ env, json, positionals: [target] }) => {
  const config = readConfig(env);
  const place = backupPlaceOf(target, config, 'backups [<folder>|s3://<bucket>/<prefix>]');
  const repository = await openRepository(await openPlace(place, config), {
    place,
    passphrase: config.backupPassphrase,
    create: false,
  });
  const backups = [];
  for (const id of await listBackups(repository)) {
    const { createdAt, version, media, tables } = await readBackupManifest(repository, id);
    const mediaFiles = Array.isArray(media) ? media.length : media.files;
    const rows = tables.reduce((sum, table) => sum + table.rows, 0);
    backups.push({ id, createdAt, version, rows, mediaFiles });
  }
  const bases = await listBases(repository);
  const system = bases.at(-1)?.system;
  const archive =
    system === undefined ? null : await repository.readJson<Archive>(archiveKey(system));
  const from = bases.find((base) => base.system === system)?.completedAt ?? null;
  const moments = archive === null || from === null ? null : { from, to: archive.coveredUntil };
  print(json, { place, isEncrypted: repository.isEncrypted, backups, moments }, [
    ...backups.map(
      ({ id, rows, mediaFiles, version }) =>
        `${id}  ${rows} rows, ${mediaFiles} media files, Reelfeed ${version}`,
    ),
    moments === null
      ? 'There is no archived database log, so `restore --to` is not available.'
      : `\`restore --to\` can restore any moment from ${moments.from} to ${moments.to}.`,
  ]);
};
