/**
 * Assets: the files of an item beside its stream, such as carousel images and captions.
 *
 *   (files stored) → preparing → ready → (removed)
 *
 * 1. Callers lock the item first, so that concurrent changes of its assets happen one after another.
 * 2. Files are stored before a row names them, in a folder of their own that never changes. A kill
 *    in between leaves files without a row: a job that was enqueued before removes them.
 * 3. Each change writes the list that readers see into the item, in the same transaction.
 * 4. The files of a removed asset go by a job that is enqueued in the transaction of the removal.
 */
import { Type } from 'typebox';
import { inTransaction, type Db, type Tx } from '../../platform/database/database.ts';
import { defineJob, doublingDelay } from '../../platform/queue/job-definition.ts';
import { enqueue } from '../../platform/queue/queue.ts';
import { hourMs } from '../../platform/time.ts';
import { setAssets, type AssetKind, type AssetState, type ItemRow } from '../content/content.ts';
import { deleteAsset, insertAsset, readAssets, setPositions, updateAsset } from './queries.ts';

/** Removes the files of a folder unless an asset has them; the handler is in `jobs.ts`. */
export const removeAssetFiles = defineJob({
  name: 'remove-asset-files',
  payload: Type.Object({ folder: Type.String() }),
  timeoutMs: 10 * 60_000,
  retry: { maxAttempts: 20, delayMs: doublingDelay(2_000, 3_600_000) },
  concurrency: 1,
});

/** Longer than any request may take between storing its files and the commit that names them. */
const namedWithinMs = hourMs;

/** Call this before files are stored in a folder: they go if no asset has them an hour later. */
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
  /** Below `media/`, beginning with the item's playback id; see `assetFolder`. */
  folder: string | null;
  metadata: Record<string, unknown>;
  state: AssetState;
};

/** Adds an asset behind the others of its kind. */
export async function addAsset(tx: Tx, owner: AssetOwner, asset: NewAsset): Promise<ItemRow> {
  await insertAsset(tx, owner, asset);
  return publishAssets(tx, owner);
}

/** preparing → ready, with its files. @returns null when the asset is gone */
export async function completeAsset(
  tx: Tx,
  owner: AssetOwner,
  assetId: string,
  done: { folder: string; metadata: Record<string, unknown> },
): Promise<ItemRow | null> {
  return (await updateAsset(tx, owner, assetId, done)) ? publishAssets(tx, owner) : null;
}

/** Removes an asset and renumbers the others. @returns null when there is none of this kind */
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

/** Puts the assets of a kind into an order, which must be a permutation of their ids. */
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

/** The asset to which a folder that `assetFolder` named belongs. */
export function assetIdOf(folder: string): string {
  return folder.slice(folder.indexOf('/') + 1 + folderPrefix.length);
}

/** Whether `<playbackId>/<name>` is the folder of an asset, not of an attempt at the stream. */
export function isAssetFolder(folder: string): boolean {
  return folder.slice(folder.indexOf('/') + 1).startsWith(folderPrefix);
}
