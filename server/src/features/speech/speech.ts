/**
 * Speech: the spoken language of a video, and generated captions.
 *
 *   (ready, perhaps with speech) → language known, captions preparing → captions ready
 *                               └→ nothing recognised: language absent, no captions
 *
 * 1. If there is no speech, processing itself sets `und`; see the media engine's speech meter.
 * 2. Without a model in `REELFEED_WHISPER_MODEL`, nothing more is detected and `language` stays
 *    absent.
 * 3. The language and the preparing track are written in one transaction, so a repeated job finds
 *    its track. A job that fails permanently removes the track and keeps the language.
 */
import { Type } from 'typebox';
import type { Tx } from '../../platform/database/database.ts';
import { defineJob, doublingDelay } from '../../platform/queue/job-definition.ts';
import { enqueue } from '../../platform/queue/queue.ts';
import { assetFolder, removeAsset, removeAssetFiles, type AssetOwner } from '../assets/assets.ts';
import { type ItemRow, type StoredAsset } from '../content/content.ts';
import { lockEvenArchived } from '../content/item-media/item-media.ts';
import type { StepAfterReady } from '../processing/processing.ts';

/** Transcribes one item; the handler is in `jobs.ts`. */
export const transcribeSpeech = defineJob({
  name: 'transcribe-speech',
  payload: Type.Object({ contentId: Type.String() }),
  timeoutMs: 6 * 3_600_000,
  retry: { maxAttempts: 3, delayMs: doublingDelay(5_000, 300_000) },
  concurrency: 1,
  writesFilesOf: 'contentId',
  onExhausted: async (tx, { contentId }, { organizationId }) => {
    await removeUnfinished(tx, { organizationId, contentId });
  },
});

/** Enqueues transcription of an item that may contain speech. */
export const transcribeReady: StepAfterReady = async (tx, item) => {
  const { organizationId, contentId, mayBeSpeech } = item;
  if (mayBeSpeech !== true) return;
  await enqueue(tx, transcribeSpeech, { contentId }, { organizationId });
};

/** The item's generated captions, or null. */
export function generatedTrack(row: ItemRow): StoredAsset | null {
  const isGenerated = ({ kind, metadata }: StoredAsset) =>
    kind === 'caption' && metadata['source'] === 'generated';
  return row.assets.find(isGenerated) ?? null;
}

/** Removes a track that was never completed. */
export async function removeUnfinished(tx: Tx, owner: AssetOwner): Promise<void> {
  const { organizationId, contentId } = owner;
  const row = await lockEvenArchived(tx, organizationId, contentId);
  const track = row === null ? null : generatedTrack(row);
  if (row === null || track?.state !== 'preparing') return;
  await removeAsset(tx, owner, { assetId: track.id, kind: 'caption' });
  // A killed attempt may have stored them.
  const folder = assetFolder(row.playback_id, track.id);
  await enqueue(tx, removeAssetFiles, { folder }, { organizationId });
}
