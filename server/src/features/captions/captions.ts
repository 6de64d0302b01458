/**
 * Captions of videos: uploaded as SubRip or WebVTT, served as WebVTT, and listed in the HLS master
 * playlist. `playback` adds them when the playlist is requested, so that new renditions and changes
 * of captions do not overwrite each other.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Db, Tx } from '../../platform/database/database.ts';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import { newContentId, parseContentId, type OrganizationId } from '../../platform/values/ids.ts';
import { publishFolder } from '../../platform/storage/folders.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { addAsset, assetFolder, expectFiles, removeAsset } from '../assets/assets.ts';
import {
  contentTraits,
  lockItemOrThrow,
  type ItemRow,
  type LockedItem,
} from '../content/content.ts';
import { uploadErrors, type SmallForm } from '../uploads/uploads.ts';
import { readCues, subtitlePlaylist, toWebVtt, type Cue } from './cues.ts';
import { decodeCaptions } from './encoding.ts';
import { nameOfLanguage, parseLanguage } from './languages.ts';

export { readCues } from './cues.ts';
export { nameOfLanguage } from './languages.ts';

export const maxCaptionBytes = 2 * 1024 * 1024;
const maxTracks = 50;
const maxLabelLength = 100;

export type NewCaption = { assetId: string; folder: string; language: string; label: string };

/**
 * Stores the captions of a form in a folder that no row references yet.
 * @throws {ApiError} VALIDATION_ERROR, INVALID_MEDIA
 */
export async function storeCaption(
  { db, storage }: { db: Db; storage: Storage },
  organizationId: OrganizationId,
  form: SmallForm,
  video: ItemRow,
): Promise<NewCaption> {
  const { language, label } = readFields(form.fields);
  const read = readCues(decodeCaptions(await readFile(form.file.path)));
  if ('problem' in read) {
    throw new ApiError(uploadErrors.INVALID_MEDIA, {
      message: `The file is not a valid WebVTT or SubRip file: ${read.problem}.`,
    });
  }
  const assetId = newContentId();
  const folder = assetFolder(video.playback_id, assetId);
  await expectFiles(db, organizationId, folder);
  await putCues(storage, folder, read.cues, video.duration_seconds ?? 0);
  return { assetId, folder, language, label };
}

/** Writes cues and their playlist to a storage folder. */
export async function putCues(
  storage: Storage,
  folder: string,
  cues: readonly Cue[],
  videoSeconds: number,
): Promise<void> {
  await using work = await storage.scratch.createFolder('captions');
  await writeFile(path.join(work.path, 'captions.vtt'), toWebVtt(cues));
  await writeFile(path.join(work.path, 'subtitles.m3u8'), subtitlePlaylist(cues, videoSeconds));
  await publishFolder(storage, work.path, `media/${folder}`);
}

function readFields(fields: ReadonlyMap<string, string>): { language: string; label: string } {
  for (const name of fields.keys()) {
    if (name !== 'language' && name !== 'label') throw fieldError(name, 'is not a known field');
  }
  const given = fields.get('language');
  if (given === undefined) throw fieldError('language', 'is required');
  const language = parseLanguage(given);
  if (language === null)
    throw fieldError('language', 'must be an ISO 639-1 language code such as en');
  const label = (fields.get('label') ?? '').trim() || nameOfLanguage(language);
  if ([...label].length > maxLabelLength) {
    throw fieldError('label', `must be at most ${maxLabelLength} characters`);
  }
  if (/[\p{Cc}"]/u.test(label)) {
    throw fieldError('label', 'must not contain quotation marks or control characters');
  }
  return { language, label };
}

/** @throws {ApiError} NOT_FOUND, CONFLICT, LIMIT_EXCEEDED */
export async function addCaption(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  { assetId, folder, language, label }: NewCaption,
): Promise<ItemRow> {
  const video = await lockVideo(tx, organizationId, id);
  if (video.assets.filter(({ kind }) => kind === 'caption').length >= maxTracks) {
    throw new ApiError('LIMIT_EXCEEDED', {
      message: `A video can have at most ${maxTracks} caption tracks.`,
    });
  }
  return addAsset(
    tx,
    { organizationId, contentId: video.content_id },
    {
      assetId,
      kind: 'caption',
      folder,
      metadata: { language, label, source: 'uploaded' },
      state: 'ready',
    },
  );
}

/** @throws {ApiError} NOT_FOUND, CONFLICT */
export async function removeCaption(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  captionId: string,
): Promise<void> {
  const video = await lockVideo(tx, organizationId, id);
  const assetId = parseContentId(captionId);
  const owner = { organizationId, contentId: video.content_id };
  const row = assetId === null ? null : await removeAsset(tx, owner, { assetId, kind: 'caption' });
  if (row === null)
    throw new ApiError('NOT_FOUND', { message: 'There is no caption track with this id.' });
}

async function lockVideo(tx: Tx, organizationId: OrganizationId, id: string): Promise<LockedItem> {
  return requireVideo(await lockItemOrThrow(tx, organizationId, id));
}

/** @throws {ApiError} CONFLICT */
export function requireVideo<Row extends ItemRow>(row: Row): Row {
  if (contentTraits[row.content_type].hasOwnStream) return row;
  throw new ApiError('CONFLICT', { message: `A ${row.content_type} cannot have captions.` });
}
