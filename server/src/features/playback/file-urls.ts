/** Paths of an item's files, with or without a token. `media-urls.ts` decides who gets which. */
import {
  type AssetKind,
  type DerivedMedia,
  type ItemRow,
  type StoredAsset,
} from '../content/content.ts';
import { coverOf } from '../content/item-media/item-media.ts';
import { DERIVED_FILES, THUMBNAIL_FORMATS, thumbnailSizes, WAVEFORM_SIZE } from '../media/media.ts';

export type FileUrls = {
  file: (row: ItemRow, name: string, token: string | null) => string;
  /** Empty while the asset is being made. */
  assetFile: (asset: StoredAsset, name: string, token: string | null) => string;
  thumbnail: (row: ItemRow, token: string | null) => string | null;
  derived: (row: ItemRow, token: string | null) => DerivedMedia;
};

function sizeOf({ metadata }: StoredAsset): { width: number; height: number } {
  return { width: Number(metadata['width']), height: Number(metadata['height']) };
}

export function createFileUrls(publicUrl: string): FileUrls {
  const file = (row: ItemRow, name: string, token: string | null) =>
    `${publicUrl}/media/${token === null ? '' : `t/${token}/`}${row.media_prefix ?? ''}/${name}`;

  const assetFile = ({ folder }: StoredAsset, name: string, token: string | null) =>
    folder === null
      ? ''
      : `${publicUrl}/media/${token === null ? '' : `t/${token}/`}${folder}/${name}`;

  /** The first frame of a video or the first image of a carousel. */
  function thumbnail(row: ItemRow, token: string | null): string | null {
    const cover = coverOf(row);
    if (cover !== null) return assetFile(cover, 'thumbnail.jpg', token);
    if (row.media_prefix !== null && row.has_thumbnail) return file(row, 'thumbnail.jpg', token);
    const image = row.assets.find(({ kind }) => kind === 'image');
    return image === undefined ? null : assetFile(image, 'small.jpg', token);
  }

  /** Older items without a hash have only one JPEG. */
  function thumbnails(row: ItemRow, token: string | null): DerivedMedia['thumbnails'] {
    const cover = coverOf(row);
    if (cover === null && (row.media_prefix === null || row.thumbnail_hash === null)) return [];
    const { width, height } = cover === null ? row : sizeOf(cover);
    const url = (name: string) =>
      cover === null ? file(row, name, token) : assetFile(cover, name, token);
    const size = width === null || height === null ? WAVEFORM_SIZE : { width, height };
    return thumbnailSizes(size).flatMap(({ name, ...pixels }) =>
      THUMBNAIL_FORMATS.map(({ ending, type }) => ({
        url: url(`${name}.${ending}`),
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

  return { file, assetFile, thumbnail, derived };
}
