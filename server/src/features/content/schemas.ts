import { Type } from 'typebox';
import { Closed, Nullable, OneOf, pageQuery, Timestamp } from '../../platform/http/schemas.ts';
import { contentTypes } from './content-types.ts';

export const uploadStatuses = ['pending', 'processing', 'ready', 'error'] as const;
export const publishStatuses = ['published', 'unpublished'] as const;
export const visibilities = ['public', 'unlisted', 'private'] as const;
const resolutionTiers = ['audio-only', 'SD', 'HD', 'FHD', 'UHD'] as const;
const errorReasons = [
  'UNSUPPORTED_MEDIA',
  'CORRUPT_MEDIA',
  'TOO_LARGE',
  'TOO_LONG',
  'SOURCE_UNREACHABLE',
  'INSUFFICIENT_STORAGE',
  'PROCESSING_FAILED',
] as const;

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const optionalText = (maxLength: number) => Type.Optional(Nullable(Type.String({ maxLength })));

/** Metadata besides the title, accepted by every way of creating an item. */
const metadataFields = {
  description: optionalText(2000),
  tags: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      maxItems: 100,
      description:
        'Whitespace around a tag is trimmed and duplicates are removed. Tags are case-sensitive and must not contain commas.',
    }),
  ),
  section: optionalText(200),
  author: optionalText(200),
  customMetadata: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        'Passed through to the feed. At most 16 KiB and 8 levels deep. `language` is reserved.',
    }),
  ),
  visibility: Type.Optional(OneOf(visibilities)),
  protected: Type.Optional(
    Type.Boolean({
      description:
        'Whether playback requires a signed URL. Default: the setting of the organization.',
    }),
  ),
  publishAt: Type.Optional(Nullable(Timestamp)),
  expiresAt: Type.Optional(Nullable(Timestamp)),
  externalId: Type.Optional(Nullable(text(255))),
  videoQuality: Type.Optional(
    OneOf(['basic', 'plus'] as const, 'Applied when the item is processed. Default: basic.'),
  ),
  articleUrl: Type.Optional(Nullable(Type.String({ format: 'uri', maxLength: 2048 }))),
};

export const NewContentMetadata = Closed({ title: text(200), ...metadataFields });

const { videoQuality: _, ...carouselFields } = metadataFields;
const autoScrollInterval = Type.Optional(
  Nullable(
    Type.Number({
      minimum: 0.5,
      maximum: 3600,
      description:
        'Image carousels only. Seconds between transitions; null for manual swiping only.',
    }),
  ),
);

/** A carousel is created without media and is ready at once. */
export const NewCarousel = Closed({
  contentType: OneOf(['carousel', 'video_carousel'] as const),
  title: text(200),
  ...carouselFields,
  autoScrollInterval,
});

export const ContentPatch = Closed(
  {
    title: Type.Optional(text(200)),
    ...metadataFields,
    autoScrollInterval,
    publishStatus: Type.Optional(OneOf(publishStatuses)),
    thumbnailTime: Type.Optional(
      Nullable(
        Type.Number({
          minimum: 0,
          maximum: 86_400,
          description:
            'Videos only. Position in seconds, at most the duration, of the picture used as the thumbnail, which is made in the background. If null, the first picture that is not black is used.',
        }),
      ),
    ),
  },
  { minProperties: 1 },
);

export const CaptionTrack = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    language: Type.String({ description: 'ISO 639-1.', examples: ['en'] }),
    label: Type.String(),
    source: OneOf(['generated', 'uploaded'] as const),
    url: Type.String({
      description: 'URL of the WebVTT file. Empty during preparation and for protected items.',
    }),
    trackId: Type.String(),
    status: OneOf(['preparing', 'ready'] as const),
    createdAt: Timestamp,
  },
  { title: 'CaptionTrack' },
);

export const CarouselImage = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    imageUrl: Type.String({ description: 'URL of the JPEG. Empty for protected items.' }),
    altText: Nullable(Type.String()),
    position: Type.Integer({ minimum: 0 }),
    createdAt: Timestamp,
  },
  { title: 'CarouselImage' },
);

/** For videos only; empty or null before they exist, and for protected items. */
export const DerivedMediaFields = {
  thumbnails: Type.Array(
    Type.Object({
      url: Type.String(),
      type: OneOf(['image/jpeg', 'image/webp'] as const),
      width: Type.Integer(),
      height: Type.Integer(),
    }),
    { description: 'The thumbnail in two sizes, each as JPEG and WebP, largest first.' },
  ),
  previewUrl: Nullable(Type.String({ description: 'URL of a three-second animated WebP.' })),
  storyboardUrl: Nullable(
    Type.String({
      description: 'URL of a WebVTT file whose cues refer to regions of one picture by `#xywh`.',
    }),
  ),
  downloadUrl: Nullable(
    Type.String({
      description: 'Signed URL of a progressive MP4, valid for at least six hours.',
    }),
  ),
};

const SourceTrack = Type.Object(
  {
    kind: OneOf(['video', 'audio', 'subtitle', 'data'] as const),
    codec: Type.String({ examples: ['h264'] }),
    language: Nullable(
      Type.String({ description: 'Codec name as given in the file.', examples: ['eng'] }),
    ),
    duration: Nullable(Type.Number({ description: 'Seconds.' })),
    used: Type.Boolean({
      description:
        'Whether the track is used, as part of a rendition, as a selectable audio track, or as captions.',
    }),
    reason: Nullable(
      OneOf(
        [
          'another_track',
          'codec_not_supported',
          'cover_picture',
          'empty',
          'kind_not_kept',
        ] as const,
        'Why the track is not used.',
      ),
    ),
  },
  { title: 'SourceTrack' },
);

const SourceWarning = Type.Object(
  {
    code: OneOf(['SOUND_NOT_SUPPORTED', 'CLOCK_JUMPS', 'PARTLY_DAMAGED'] as const),
    message: Type.String(),
  },
  { title: 'SourceWarning' },
);

/** Public fields of an item that may be shown. */
export const publicItemFields = {
  id: Type.String({ format: 'uuid' }),
  contentType: OneOf(contentTypes),
  title: Type.String(),
  description: Nullable(Type.String()),
  uploadStatus: OneOf(uploadStatuses),
  publishStatus: OneOf(publishStatuses),
  visibility: OneOf(visibilities),
  streamingUrl: Nullable(
    Type.String({
      description:
        'URL of the HLS playlist. Empty for protected items, which require a playback token.',
    }),
  ),
  section: Nullable(Type.String()),
  author: Nullable(Type.String()),
  tags: Type.Array(Type.String()),
  publishAt: Nullable(Timestamp),
  expiresAt: Nullable(Timestamp),
  duration: Nullable(Type.Number({ description: 'Seconds.' })),
  protected: Type.Boolean(),
  thumbnailUrl: Nullable(Type.String()),
  thumbnailHash: Nullable(
    Type.String({
      description: 'ThumbHash in base64, a placeholder to show until a thumbnail is loaded.',
    }),
  ),
  thumbnailTime: Nullable(
    Type.Number({
      description: 'Position chosen for the thumbnail in seconds; null if none was chosen.',
    }),
  ),
  ...DerivedMediaFields,
  customMetadata: Type.Record(Type.String(), Type.Unknown()),
  captionTracks: Type.Array(CaptionTrack),
  images: Type.Array(CarouselImage),
  width: Nullable(Type.Integer()),
  height: Nullable(Type.Integer()),
  aspectRatio: Nullable(Type.String({ examples: ['9:16'] })),
  maxFrameRate: Nullable(Type.Number()),
  videoQuality: Nullable(OneOf(['basic', 'plus'] as const)),
  resolutionTier: Nullable(OneOf(resolutionTiers)),
  autoScrollInterval: Nullable(Type.Number()),
  articleUrl: Nullable(Type.String()),
  externalId: Nullable(Type.String()),
  errorReason: Nullable(Type.Object({ code: OneOf(errorReasons), message: Type.String() })),
  progress: Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'Progress of processing from 0 to 1.',
  }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
};

export const ContentItem = Type.Object(
  {
    ...publicItemFields,
    sourceTracks: Type.Array(SourceTrack, {
      description: 'The tracks of the uploaded file, at most fifty. Empty until the item is ready.',
    }),
    warnings: Type.Array(SourceWarning, {
      description: 'Problems in the source file that do not prevent playback.',
    }),
    archivedAt: Nullable(Timestamp),
  },
  { title: 'Content' },
);

export const ContentGetQuery = Closed({
  archived: Type.Optional(OneOf(['true'] as const, 'Also return the item if it is archived.')),
});

export const SearchText = Type.String({
  minLength: 1,
  maxLength: 200,
  description:
    'Each search word must match the start of a word in the title or the description. Chinese and Japanese text matches anywhere.',
});

export const ContentListQuery = Closed({
  ...pageQuery,
  tags: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2000,
      description: 'Comma-separated list. An item matches if it has any of them.',
    }),
  ),
  contentType: Type.Optional(OneOf(contentTypes)),
  uploadStatus: Type.Optional(OneOf(uploadStatuses)),
  publishStatus: Type.Optional(OneOf(publishStatuses)),
  visibility: Type.Optional(OneOf(visibilities)),
  section: Type.Optional(text(200)),
  author: Type.Optional(text(200)),
  externalId: Type.Optional(text(255)),
  search: Type.Optional(SearchText),
  createdAfter: Type.Optional(Timestamp),
  createdBefore: Type.Optional(Timestamp),
  archived: Type.Optional(
    OneOf(['true', 'only'] as const, 'Include archived items, or return only them.'),
  ),
  sort: Type.Optional(
    OneOf(
      ['createdAt', 'updatedAt', 'title'] as const,
      'createdAt never changes, so use it to page through a catalogue that is being edited.',
    ),
  ),
  order: Type.Optional(OneOf(['asc', 'desc'] as const, 'Default: desc; asc for title.')),
});
