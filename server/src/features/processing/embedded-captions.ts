/** Subtitles embedded in a file become captions of its item, like uploaded ones. */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Db, Tx } from '../../platform/database/database.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { addAsset, type AssetOwner, type NewAsset } from '../assets/assets.ts';
import type { CompleteResult, PrepareResult } from '../media/media.ts';
import type { SubtitleStore } from './processing.ts';

type EmbeddedCaptions = {
  owner: AssetOwner;
  playbackId: string;
  /** The engine's output folder; subtitle files are removed from it. */
  outputDir: string;
  prepared: PrepareResult;
  completed: CompleteResult;
};

type StoreParts = { db: Db; storage: Storage; subtitleStores: readonly SubtitleStore[] };

/**
 * Stores a file's readable subtitles, each in a folder that no row references yet. They are removed
 * automatically unless {@link addEmbeddedCaptions} references them within the hour.
 */
export async function storeEmbeddedCaptions(
  parts: StoreParts,
  { completed, outputDir, owner, playbackId, prepared }: EmbeddedCaptions,
): Promise<NewAsset[]> {
  const assets: NewAsset[] = [];
  const videoSeconds = prepared.info.durationSeconds;
  for (const { cues, label, language } of completed.subtitles ?? []) {
    const file = path.join(outputDir, cues);
    const subtitle = { owner, playbackId, file, label, language, videoSeconds };
    for (const store of parts.subtitleStores) {
      const asset = await store(parts, subtitle);
      if (asset !== null) assets.push(asset);
    }
    await rm(file);
  }
  return assets;
}

/** Adds stored captions to an item locked by the transaction. */
export async function addEmbeddedCaptions(
  tx: Tx,
  owner: AssetOwner,
  assets: readonly NewAsset[],
): Promise<void> {
  for (const asset of assets) await addAsset(tx, owner, asset);
}
