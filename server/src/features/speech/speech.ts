/**
 * Speech: the language that is spoken in a video, and captions of what is said.
 *
 *   (ready, perhaps with speech) → language known, captions preparing → captions ready
 *                               └→ nothing recognised: language absent, no captions
 *
 * 1. Where nobody speaks, processing writes `und` itself; see the speech meter of the media engine.
 * 2. Without a model in `REELFEED_WHISPER_MODEL` nothing else is known, and `language` stays absent.
 * 3. The language and the track that is being prepared are one transaction, so a repeated job finds
 *    its track. A job that fails for good takes the track away and leaves the language.
 */
import { Type } from 'typebox';
import type { Tx } from '../../platform/database/database.ts';
import { defineJob, doublingDelay } from '../../platform/queue/job-definition.ts';
import { enqueue } from '../../platform/queue/queue.ts';
import { assetFolder, removeAsset, removeAssetFiles, type AssetOwner } from '../assets/assets.ts';
import { lockEvenArchived, type ItemRow, type StoredAsset } from '../content/content.ts';
import type { StepAfterReady } from '../processing/processing.ts';

/** Recognises what is said in one item; the handler is in `jobs.ts`. */
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

/** Enqueues the recognition of an item in which somebody may speak. */
export const transcribeReady: StepAfterReady = async (tx, item) => {
  const { organizationId, contentId, mayBeSpeech } = item;
  if (mayBeSpeech !== true) return;
  await enqueue(tx, transcribeSpeech, { contentId }, { organizationId });
};

/** The captions that the service makes of an item; null where it makes none. */
export function generatedTrack(row: ItemRow): StoredAsset | null {
  const isGenerated = ({ kind, metadata }: StoredAsset) =>
    kind === 'caption' && metadata['source'] === 'generated';
  return row.assets.find(isGenerated) ?? null;
}

/** Takes a track away that was never completed. */
export async function removeUnfinished(tx: Tx, owner: AssetOwner): Promise<void> {
  const { organizationId, contentId } = owner;
  const row = await lockEvenArchived(tx, organizationId, contentId);
  const track = row === null ? null : generatedTrack(row);
  if (row === null || track?.state !== 'preparing') return;
  await removeAsset(tx, owner, { assetId: track.id, kind: 'caption' });
  // An attempt that was killed may have stored them.
  const folder = assetFolder(row.playback_id, track.id);
  await enqueue(tx, removeAssetFiles, { folder }, { organizationId });
}
