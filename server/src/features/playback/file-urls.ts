/** The paths of an item's files, with or without a token. Who gets which is decided in `media-urls.ts`. */
import type { AssetKind, DerivedMedia, ItemRow, StoredAsset } from '../content/content.ts';
import { DERIVED_FILES, THUMBNAIL_FORMATS, thumbnailSizes, WAVEFORM_SIZE } from '../media/media.ts';

export type FileUrls = {
  file: (row: ItemRow, name: string, token: string | null) => string;
  /** Empty while the asset is being made. */
  assetFile: (asset: StoredAsset, name: string, token: string | null) => string;
  thumbnail: (row: ItemRow, token: string | null) => string | null;
  derived: (row: ItemRow, token: string | null) => DerivedMedia;
};

export function createFileUrls(publicUrl: string): FileUrls {
  const file = (row: ItemRow, name: string, token: string | null) =>
    `${publicUrl}/media/${token === null ? '' : `t/${token}/`}${row.media_prefix ?? ''}/${name}`;

  const assetFile = ({ folder }: StoredAsset, name: string, token: string | null) =>
    folder === null
      ? ''
      : `${publicUrl}/media/${token === null ? '' : `t/${token}/`}${folder}/${name}`;

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

  return { file, assetFile, thumbnail, derived };
}
