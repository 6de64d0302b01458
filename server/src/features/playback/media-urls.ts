/**
 * URLs of an item's media and access to them.
 *
 * An item's files are under `/media/<playbackId>/<attempt>/…`; the playback id is random, so the
 * path reveals nothing about the item's id. Protected and private items are served only below
 * `/media/t/<token>/…`: the token is part of the path, so playlists and segments inherit it.
 *
 * The download of a public item also needs a token, which grants nothing else: anyone who plays an
 * item learns the stream's location, but should get the whole file only from whoever presents it.
 */
import type { Signer } from '../../platform/secrets/signing-keys.ts';
import {
  contentTraits,
  presentCaptions,
  presentImages,
  type DerivedMedia,
  type ItemRow,
  type MediaUrls,
  type StoredAsset,
} from '../content/content.ts';
import { createFileUrls } from './file-urls.ts';

/**
 * A token is valid for six hours, or for the length of the video plus half an hour if that is
 * longer.
 */
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
/**
 * Download URLs of public items stay the same for an hour, because responses that contain them are
 * cached.
 */
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
   * URLs that play a protected or private item until `expiresAt`, at most `until`. The item must be
   * ready.
   */
  sign(row: ItemRow, nowMs: number, until?: Date | null): SignedMedia;
  /** Whether a token grants access to a playback id's files at this time. */
  accepts(token: string, playbackId: string, nowMs: number): boolean;
  /** Whether a token grants access to a playback id's download while the item is public. */
  acceptsDownload(token: string, playbackId: string, nowMs: number): boolean;
};

/** Carousels have no stream of their own. */
function hasOwnStream(row: ItemRow): boolean {
  return contentTraits[row.content_type].hasOwnStream;
}

function downloadScope(playbackId: string): string {
  return `${playbackId}/download`;
}

export function createMediaAccess(publicUrl: string, signer: Signer): MediaAccess {
  const { file, assetFile, thumbnail, derived } = createFileUrls(publicUrl);

  /** A token for `scope`: the files of a playback id, or its download. */
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
      streamingUrl: hasOwnStream(row) ? file(row, 'master.m3u8', token) : null,
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
      // Applies before it is ready as well: a protected item never has a permanent URL.
      if (row.protected && hasOwnStream(row)) return '';
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
