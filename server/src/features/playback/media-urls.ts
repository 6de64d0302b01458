/**
 * Where the media of an item is reached, and who may reach it.
 *
 * An item's files lie under `/media/<playbackId>/<attempt>/…`; the playback id is random, so the
 * path says nothing of the item's id. Protected and private items answer only below
 * `/media/t/<token>/…`: the token is part of the path, so playlists and segments inherit it.
 *
 * The download of a public item needs a token as well, one that opens nothing else: whoever plays an
 * item learns where its stream is, but may have the whole file only from who shows it.
 */
import type { Signer } from '../../platform/signing-keys.ts';
import {
  presentCaptions,
  presentImages,
  type DerivedMedia,
  type ItemRow,
  type MediaUrls,
  type StoredAsset,
} from '../content/content.ts';
import { createFileUrls } from './file-urls.ts';

/** A token is valid for six hours, or the length of the video and half an hour. */
const shortestTokenMs = 6 * 3_600_000;
const tokenMarginMs = 30 * 60_000;
const signatureBytes = 16;
const withheld: DerivedMedia = {
  thumbnails: [],
  previewUrl: null,
  storyboardUrl: null,
  downloadUrl: null,
};
const expiryBytes = 6;
/** Downloads of public items get the same URL for an hour, since caches keep what names it. */
const downloadRoundingMs = 3_600_000;

export type SignedMedia = {
  /** Null for carousels. */
  streamingUrl: string | null;
  thumbnailUrl: string | null;
  derived: DerivedMedia;
  images: ReturnType<typeof presentImages>;
  captionTracks: ReturnType<typeof presentCaptions>;
  expiresAt: Date;
};

export type MediaAccess = MediaUrls & {
  /**
   * URLs that play a protected or private item until `expiresAt`, which is not after `until`. The
   * item must be ready.
   */
  sign(row: ItemRow, nowMs: number, until?: Date | null): SignedMedia;
  /** Whether a token opens the files of a playback id at this moment. */
  accepts(token: string, playbackId: string, nowMs: number): boolean;
  /** Whether a token opens the download of a playback id, as long as the item is public. */
  acceptsDownload(token: string, playbackId: string, nowMs: number): boolean;
};

/** Carousels have no stream of their own. */
function hasVideo(row: ItemRow): boolean {
  return row.content_type === 'video' || row.content_type === 'live_stream';
}

function downloadScope(playbackId: string): string {
  return `${playbackId}/download`;
}

export function createMediaAccess(publicUrl: string, signer: Signer): MediaAccess {
  const { file, assetFile, thumbnail, derived } = createFileUrls(publicUrl);

  /** A token for what `scope` names: the files of a playback id, or its download. */
  function tokenFor(scope: string, expiresAtMs: number): string {
    const expiry = Buffer.alloc(expiryBytes);
    expiry.writeUIntBE(expiresAtMs, 0, expiryBytes);
    const signature = signer.sign(Buffer.concat([expiry, Buffer.from(scope)]), signatureBytes);
    return Buffer.concat([expiry, signature]).toString('base64url');
  }

  function expiryOf(row: ItemRow, nowMs: number): number {
    const lengthMs = (row.duration_seconds ?? 0) * 1_000;
    return Math.ceil(nowMs + Math.max(shortestTokenMs, lengthMs + tokenMarginMs));
  }

  function isGenuine(token: string, scope: string, nowMs: number): boolean {
    const bytes = Buffer.from(token, 'base64url');
    if (bytes.length !== expiryBytes + signatureBytes) return false;
    const expiry = bytes.subarray(0, expiryBytes);
    const signed = Buffer.concat([expiry, Buffer.from(scope)]);
    const isSigned = signer.verify(signed, bytes.subarray(expiryBytes));
    return isSigned && expiry.readUIntBE(0, expiryBytes) > nowMs;
  }

  function downloadToken(row: ItemRow, nowMs: number): string {
    const expiresAtMs = expiryOf(row, nowMs);
    const rounded = Math.ceil(expiresAtMs / downloadRoundingMs) * downloadRoundingMs;
    return tokenFor(downloadScope(row.playback_id), rounded);
  }

  const privateToken = (row: ItemRow) => tokenFor(row.playback_id, expiryOf(row, Date.now()));

  function sign(row: ItemRow, nowMs: number, until: Date | null = null): SignedMedia {
    const expiresAtMs = Math.min(expiryOf(row, nowMs), until?.getTime() ?? Infinity);
    const token = tokenFor(row.playback_id, expiresAtMs);
    const urls = {
      assetUrl: (_: ItemRow, asset: StoredAsset, name: string) => assetFile(asset, name, token),
    };
    return {
      streamingUrl: hasVideo(row) ? file(row, 'master.m3u8', token) : null,
      thumbnailUrl: thumbnail(row, token),
      derived: derived(row, token),
      images: presentImages(row, urls),
      captionTracks: presentCaptions(row, urls),
      expiresAt: new Date(expiresAtMs),
    };
  }

  return {
    sign,
    accepts: isGenuine,
    acceptsDownload: (token, playbackId, nowMs) =>
      isGenuine(token, downloadScope(playbackId), nowMs),
    streamingUrl(row) {
      // Also before it is ready: what is protected never has a URL that stays.
      if (row.protected && hasVideo(row)) return '';
      if (row.media_prefix === null) return null;
      if (row.visibility === 'private') return file(row, 'master.m3u8', privateToken(row));
      return file(row, 'master.m3u8', null);
    },
    thumbnailUrl(row) {
      if (row.protected) return null;
      if (row.visibility === 'private') return sign(row, Date.now()).thumbnailUrl;
      return thumbnail(row, null);
    },
    derived(row) {
      if (row.protected) return withheld;
      if (row.visibility === 'private') return derived(row, privateToken(row));
      const { downloadUrl } = derived(row, downloadToken(row, Date.now()));
      return { ...derived(row, null), downloadUrl };
    },
    assetUrl(row, asset, name) {
      if (row.protected) return '';
      return assetFile(asset, name, row.visibility === 'private' ? privateToken(row) : null);
    },
  };
}
