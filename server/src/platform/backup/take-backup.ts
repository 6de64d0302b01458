import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { DatabaseConnection } from '../database/database.ts';
import type { BlockStream } from '../event-log/block-stream.ts';
import { ConfigurationError } from '../settings/settings.ts';
import type { Storage } from '../storage/storage.ts';
import { beginSnapshot, dumpDatabase } from './database-dump.ts';
import { withBackupClient } from './database-load.ts';
import { dumpEventBytes, holdMessages } from './event-bytes.ts';
import { newBackupId, writeManifest, type Manifest } from './manifest.ts';
import { MediaIndex, writeLines } from './media-index.ts';
import type { Repository } from './repository.ts';

export type Installation = {
  readonly connection: DatabaseConnection;
  readonly storage: Storage;
  /** The stream of the event log, or null if the tables hold all events. */
  readonly stream: BlockStream | null;
  readonly version: string;
};

export type TakenBackup = {
  readonly id: string;
  readonly manifest: Manifest;
  /** Media that no earlier backup contained. */
  readonly added: { readonly files: number; readonly bytes: number };
};

/**
 * Held while writing to a repository, so that nothing is removed that the backup in progress relies
 * on.
 */
export const tryRepositoryLock = `select pg_try_advisory_lock(7231960417) as "isOurs"`;

/**
 * Media are copied in two passes, before and after the snapshot of the database: the first copies
 * the bulk, the second whatever has been added since. A file that the snapshot refers to existed
 * before the snapshot, so one of the passes copies it even if it is deleted soon afterwards.
 *
 * @param keyFile the file of the encryption key, if the backup should include it
 */
export async function takeBackup(
  { connection, storage, stream, version }: Installation,
  repository: Repository,
  keyFile: string | null,
  signal?: AbortSignal,
): Promise<TakenBackup> {
  return withBackupClient(connection, async (client) => {
    const { rows } = await client.query<{ isOurs: boolean }>(tryRepositoryLock);
    if (rows[0]?.isOurs !== true) {
      throw new ConfigurationError('Another backup of this installation is in progress.');
    }
    const id = newBackupId();
    const prefix = `backups/${id}`;
    const index = await MediaIndex.open(repository);
    await index.pass(storage, signal);
    await holdMessages(client);
    await beginSnapshot(client);
    await index.pass(storage, signal);
    const database = await dumpDatabase(client, repository, prefix);
    signal?.throwIfAborted();
    const eventBytes = await dumpEventBytes(client, repository, prefix, stream);
    await index.save();
    let files = 0;
    const counted = function* () {
      for (const entry of index.entries(mediaGraceMs)) {
        files += 1;
        yield entry;
      }
    };
    const media = await writeLines(repository, `${prefix}/media.ndjson.zst`, counted());
    const encryptionKey =
      keyFile === null
        ? null
        : await repository.put(
            `${prefix}/encryption.key`,
            Readable.from([await readFile(keyFile)]),
          );
    const manifest: Manifest = {
      ...(eventBytes !== null && { eventBytes }),
      format: 2,
      version,
      createdAt: new Date().toISOString(),
      ...database,
      media: { ...media, files },
      encryptionKey,
    };
    await writeManifest(repository, id, manifest);
    return { id, manifest, added: index.added };
  });
}

/** A file deleted since the first pass may still be referenced by the snapshot. */
const mediaGraceMs = 60 * 60_000;
