/**
 * Where the media of an item is reached, and who may reach it.
 *
 * An item's files lie under `/media/<playbackId>/<attempt>/…`; the playback id is random, so the
 * path says nothing of the item's id. Protected and private items answer only below
 * `/media/t/<token>/…`: the token is part of the path, so playlists and segments inherit it.
 */
import type { Signer } from '../../platform/signing-keys.ts';
import type { ItemRow, MediaUrls } from '../content/content.ts';

/** A token is valid for six hours, or the length of the video and half an hour. */
const shortestTokenMs = 6 * 3_600_000;
const tokenMarginMs = 30 * 60_000;
const signatureBytes = 16;
const expiryBytes = 6;

export type SignedMedia = { streamingUrl: string; thumbnailUrl: string | null; expiresAt: Date };

export type MediaAccess = MediaUrls & {
  /** URLs that play a protected or private item until `expiresAt`. The item must be ready. */
  sign(row: ItemRow, nowMs: number): SignedMedia;
  /** Whether a token opens the files of a playback id at this moment. */
  accepts(token: string, playbackId: string, nowMs: number): boolean;
};

/** Carousels have no stream of their own. */
function hasVideo(row: ItemRow): boolean {
  return row.content_type === 'video' || row.content_type === 'live_stream';
}

export function createMediaAccess(publicUrl: string, signer: Signer): MediaAccess {
  const file = (row: ItemRow, name: string, token: string | null) =>
    `${publicUrl}/media/${token === null ? '' : `t/${token}/`}${row.media_prefix ?? ''}/${name}`;

  function tokenFor(playbackId: string, expiresAtMs: number): string {
    const expiry = Buffer.alloc(expiryBytes);
    expiry.writeUIntBE(expiresAtMs, 0, expiryBytes);
    const signature = signer.sign(Buffer.concat([expiry, Buffer.from(playbackId)]), signatureBytes);
    return Buffer.concat([expiry, signature]).toString('base64url');
  }

  function sign(row: ItemRow, nowMs: number): SignedMedia {
    const lengthMs = (row.duration_seconds ?? 0) * 1_000;
    const expiresAtMs = Math.ceil(nowMs + Math.max(shortestTokenMs, lengthMs + tokenMarginMs));
    const token = tokenFor(row.playback_id, expiresAtMs);
    return {
      streamingUrl: file(row, 'master.m3u8', token),
      thumbnailUrl: row.has_thumbnail ? file(row, 'thumbnail.jpg', token) : null,
      expiresAt: new Date(expiresAtMs),
    };
  }

  return {
    sign,
    accepts(token, playbackId, nowMs) {
      const bytes = Buffer.from(token, 'base64url');
      if (bytes.length !== expiryBytes + signatureBytes) return false;
      const expiry = bytes.subarray(0, expiryBytes);
      const signed = Buffer.concat([expiry, Buffer.from(playbackId)]);
      const genuine = signer.verify(signed, bytes.subarray(expiryBytes));
      return genuine && expiry.readUIntBE(0, expiryBytes) > nowMs;
    },
    streamingUrl(row) {
      // Also before it is ready: what is protected never has a URL that stays.
      if (row.protected && hasVideo(row)) return '';
      if (row.media_prefix === null) return null;
      if (row.visibility === 'private') return sign(row, Date.now()).streamingUrl;
      return file(row, 'master.m3u8', null);
    },
    thumbnailUrl(row) {
      if (row.media_prefix === null || !row.has_thumbnail || row.protected) return null;
      if (row.visibility === 'private') return sign(row, Date.now()).thumbnailUrl;
      return file(row, 'thumbnail.jpg', null);
    },
  };
}
