/**
 * Assets: an item's files besides its stream, such as carousel images and captions.
 *
 *   (files stored) → preparing → ready → (removed)
 *
 * 1. Callers lock the item first, to serialize concurrent changes of its assets.
 * 2. Files are stored before a row references them, in a new folder that never changes. A crash in
 *    between leaves files without a row, which a previously enqueued job removes.
 * 3. Each change updates the list that readers see on the item, in the same transaction.
 * 4. The files of a removed asset are deleted by a job enqueued in the same transaction.
 */
import { Type } from 'typebox';
import { inTransaction, type Db, type Tx } from '../../platform/database/database.ts';
import { defineJob, doublingDelay } from '../../platform/queue/job-definition.ts';
import { enqueue } from '../../platform/queue/queue.ts';
import { hourMs } from '../../platform/values/time.ts';
import { setAssets, type AssetKind, type AssetState, type ItemRow } from '../content/content.ts';
import { deleteAsset, insertAsset, readAssets, setPositions, updateAsset } from './queries.ts';

/** Removes the files of a folder unless an asset references them; the handler is in `jobs.ts`. */
export const removeAssetFiles = defineJob({
  name: 'remove-asset-files',
  payload: Type.Object({ folder: Type.String() }),
  timeoutMs: 10 * 60_000,
  retry: { maxAttempts: 20, delayMs: doublingDelay(2_000, 3_600_000) },
  concurrency: 1,
});

/** Longer than any request may take between storing its files and committing the reference. */
const namedWithinMs = hourMs;

/**
 * Call before storing files in a folder: they are removed if no asset references them an hour
 * later.
 */
export async function expectFiles(db: Db, organizationId: string, folder: string): Promise<void> {
  const runAt = new Date(Date.now() + namedWithinMs);
  await inTransaction(db, (tx) =>
    enqueue(tx, removeAssetFiles, { folder }, { organizationId, runAt }),
  );
}

/** An item whose row the transaction has locked. */
export type AssetOwner = { organizationId: string; contentId: string };

export type NewAsset = {
  assetId: string;
  kind: AssetKind;
  /** Folder below `media/` that starts with the item's playback id; see `assetFolder`. */
  folder: string | null;
  metadata: Record<string, unknown>;
  state: AssetState;
};

/** Appends an asset to the others of its kind. */
export async function addAsset(tx: Tx, owner: AssetOwner, asset: NewAsset): Promise<ItemRow> {
  await insertAsset(tx, owner, asset);
  return publishAssets(tx, owner);
}

/** preparing → ready, with its files. Returns null if the asset no longer exists. */
export async function completeAsset(
  tx: Tx,
  owner: AssetOwner,
  assetId: string,
  done: { folder: string; metadata: Record<string, unknown> },
): Promise<ItemRow | null> {
  return (await updateAsset(tx, owner, assetId, done)) ? publishAssets(tx, owner) : null;
}

/** Removes an asset and renumbers the others. Returns null if there is none of this kind. */
export async function removeAsset(
  tx: Tx,
  owner: AssetOwner,
  asset: { assetId: string; kind: AssetKind },
): Promise<ItemRow | null> {
  const removed = await deleteAsset(tx, owner, asset);
  if (removed === null) return null;
  if (removed.folder !== null) {
    const { folder } = removed;
    await enqueue(tx, removeAssetFiles, { folder }, { organizationId: owner.organizationId });
  }
  const rest = (await readAssets(tx, owner)).filter(({ kind }) => kind === asset.kind);
  await setPositions(
    tx,
    owner,
    rest.map(({ id }) => id),
  );
  return publishAssets(tx, owner);
}

/** Reorders the assets of a kind; the order must be a permutation of their ids. */
export async function orderAssets(
  tx: Tx,
  owner: AssetOwner,
  assetIds: readonly string[],
): Promise<ItemRow> {
  await setPositions(tx, owner, assetIds);
  return publishAssets(tx, owner);
}

async function publishAssets(tx: Tx, owner: AssetOwner): Promise<ItemRow> {
  return setAssets(tx, owner.organizationId, owner.contentId, await readAssets(tx, owner));
}

const folderPrefix = 'a-';

/** The folder of an asset's files, relative to `media/`. */
export function assetFolder(playbackId: string, assetId: string): string {
  return `${playbackId}/${folderPrefix}${assetId}`;
}

/** The asset id in a folder name from `assetFolder`. */
export function assetIdOf(folder: string): string {
  return folder.slice(folder.indexOf('/') + 1 + folderPrefix.length);
}
