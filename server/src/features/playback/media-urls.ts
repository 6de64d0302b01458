/**
 * Where the media of an item is reached, and who may reach it.
 *
 * An item's files lie under `/media/<playbackId>/<attempt>/…`; the playback id is random, so the
 * path says nothing of the item's id. Protected and private items answer only below
 * `/media/t/<token>/…`: the token is part of the path, so playlists and segments inherit it.
 */
import type { Signer } from '../../platform/signing-keys.ts';
import {
  presentCaptions,
  presentImages,
  type AssetKind,
  type DerivedMedia,
  type ItemRow,
  type MediaUrls,
  type StoredAsset,
} from '../content/content.ts';
import { DERIVED_FILES, THUMBNAIL_FORMATS, thumbnailSizes, WAVEFORM_SIZE } from '../media/media.ts';

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

  const assetFile = ({ folder }: StoredAsset, name: string, token: string | null) =>
    folder === null
      ? ''
      : `${publicUrl}/media/${token === null ? '' : `t/${token}/`}${folder}/${name}`;

  function tokenFor(playbackId: string, expiresAtMs: number): string {
    const expiry = Buffer.alloc(expiryBytes);
    expiry.writeUIntBE(expiresAtMs, 0, expiryBytes);
    const signature = signer.sign(Buffer.concat([expiry, Buffer.from(playbackId)]), signatureBytes);
    return Buffer.concat([expiry, signature]).toString('base64url');
  }

  /** The first frame of a video, the first image of a carousel. */
  function thumbnail(row: ItemRow, token: string | null): string | null {
    if (row.media_prefix !== null && row.has_thumbnail) return file(row, 'thumbnail.jpg', token);
    const image = row.assets.find(({ kind }) => kind === 'image');
    return image === undefined ? null : assetFile(image, 'small.jpg', token);
  }

  /** Items of before there were hashes have one JPEG alone. */
  function thumbnails(row: ItemRow, token: string | null): DerivedMedia['thumbnails'] {
    if (row.media_prefix === null || row.thumbnail_hash === null) return [];
    const { width, height } = row;
    const size = width === null || height === null ? WAVEFORM_SIZE : { width, height };
    return thumbnailSizes(size).flatMap(({ name, ...pixels }) =>
      THUMBNAIL_FORMATS.map(({ ending, type }) => ({
        url: file(row, `${name}.${ending}`, token),
        type,
        ...pixels,
      })),
    );
  }

  function derived(row: ItemRow, token: string | null): DerivedMedia {
    const url = (kind: AssetKind, name: string) => {
      const asset = row.assets.find((one) => one.kind === kind);
      return asset === undefined || row.media_prefix === null
        ? null
        : assetFile(asset, name, token);
    };
    return {
      thumbnails: thumbnails(row, token),
      previewUrl: url('preview', DERIVED_FILES.preview),
      storyboardUrl: url('storyboard', DERIVED_FILES.storyboard),
      downloadUrl: url('download', DERIVED_FILES.download),
    };
  }

  function expiryOf(row: ItemRow, nowMs: number): number {
    const lengthMs = (row.duration_seconds ?? 0) * 1_000;
    return Math.ceil(nowMs + Math.max(shortestTokenMs, lengthMs + tokenMarginMs));
  }

  const privateToken = (row: ItemRow) => tokenFor(row.playback_id, expiryOf(row, Date.now()));

  function sign(row: ItemRow, nowMs: number): SignedMedia {
    const expiresAtMs = expiryOf(row, nowMs);
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
      return derived(row, row.visibility === 'private' ? privateToken(row) : null);
    },
    assetUrl(row, asset, name) {
      if (row.protected) return '';
      return assetFile(asset, name, row.visibility === 'private' ? privateToken(row) : null);
    },
  };
}
