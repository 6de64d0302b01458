/** Removes objects that a repository no longer needs. */
import { beginningOf, listBackups, readBackupManifest, type MediaEntry } from './manifest.ts';
import { MediaIndex, readLines } from './media-index.ts';
import { pruneRecovery } from './recovery/chain.ts';
import type { Repository } from './repository.ts';

type Retention = {
  /** How long to keep backups. The newest one is always kept. */
  readonly backupsMs: number;
  /** Window for point-in-time restores; 0 disables them. */
  readonly recoveryMs: number;
};

const unfinishedMs = 24 * 60 * 60_000;

/**
 * The caller must hold the lock of the repository.
 *
 * @returns the number of removed backups
 */
export async function pruneRepository(
  repository: Repository,
  { backupsMs, recoveryMs }: Retention,
  now = Date.now(),
): Promise<number> {
  const complete = await listBackups(repository);
  const kept = complete.filter(
    (id, index) => index === complete.length - 1 || beginningOf(id) > now - backupsMs,
  );
  let removed = 0;
  for (const id of await allIds(repository)) {
    const isUnfinished = !complete.includes(id) && beginningOf(id) > now - unfinishedMs;
    if (kept.includes(id) || isUnfinished) continue;
    const prefix = `backups/${id}`;
    // The manifest goes first, so that a partially removed backup does not look complete.
    await repository.storage.remove(`${prefix}/manifest.json`);
    await repository.storage.removePrefix(prefix);
    removed += 1;
  }
  await pruneRecovery(repository, recoveryMs, now);
  await pruneMedia(repository, kept, recoveryMs, now);
  await repository.storage.cleanUp(unfinishedMs);
  return removed;
}

async function allIds(repository: Repository): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { key } of repository.storage.list('backups')) {
    const id = key.split('/')[1] ?? '';
    // Other objects were not created by backups.
    if (!Number.isNaN(beginningOf(id))) ids.add(id);
  }
  return ids;
}

async function pruneMedia(
  repository: Repository,
  kept: readonly string[],
  recoveryMs: number,
  now: number,
): Promise<void> {
  const held = new Set<string>();
  for (const id of kept) {
    const { media } = await readBackupManifest(repository, id);
    if (Array.isArray(media)) continue;
    for await (const { path } of readLines<MediaEntry>(repository, media.path)) held.add(path);
  }
  const index = await MediaIndex.open(repository);
  index.forget(recoveryMs, (path) => held.has(path), now);
  // The index is saved before the bytes are removed, because it must never list a file that is
  // gone.
  await index.save();
  for (const { path } of index.entries(Infinity)) held.add(path);
  for await (const { key } of repository.storage.list('media')) {
    if (!held.has(key)) await repository.storage.remove(key);
  }
}
