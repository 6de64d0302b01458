/** Captions from a file's embedded text subtitles. */
import { readFile } from 'node:fs/promises';
import { newContentId } from '../../platform/values/ids.ts';
import { assetFolder, expectFiles } from '../assets/assets.ts';
import type { SubtitleStore } from '../processing/processing.ts';
import { putCues, readCues } from './captions.ts';

export const storeEmbedded: SubtitleStore = async (
  { db, storage },
  { owner, playbackId, file, label, language, videoSeconds },
) => {
  const read = readCues(await readFile(file, 'utf8'));
  if ('problem' in read) return null;
  const assetId = newContentId();
  const folder = assetFolder(playbackId, assetId);
  await expectFiles(db, owner.organizationId, folder);
  await putCues(storage, folder, read.cues, videoSeconds);
  const metadata = { language: new Intl.Locale(language).language, label, source: 'uploaded' };
  return { assetId, kind: 'caption', folder, metadata, state: 'ready' };
};
