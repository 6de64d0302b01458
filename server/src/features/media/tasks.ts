import { Type, type Static } from 'typebox';
import type { ClipSpec } from './clip-spec.ts';

/**
 * Messages between the service and its media child, all plain data. The child's messages are
 * validated against schemas, because a child that parses hostile files is not trusted. The child
 * itself does not validate its task: it starts a quarter faster without the validator.
 */

const Nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const FrameRateSchema = Type.Object({
  num: Type.Integer({ minimum: 1 }),
  den: Type.Integer({ minimum: 1 }),
});

export const MediaInfoSchema = Type.Object({
  kind: Type.Union([Type.Literal('video'), Type.Literal('audio')]),
  durationSeconds: Type.Number({ minimum: 0 }),
  /** After rotation, with square pixels; null for audio. */
  width: Nullable(Type.Integer({ minimum: 1 })),
  height: Nullable(Type.Integer({ minimum: 1 })),
  aspectRatio: Nullable(Type.String()),
  maxFrameRate: Nullable(Type.Number({ exclusiveMinimum: 0 })),
  resolutionTier: Type.Union([
    Type.Literal('audio-only'),
    Type.Literal('SD'),
    Type.Literal('HD'),
    Type.Literal('FHD'),
    Type.Literal('UHD'),
  ]),
  hasAudio: Type.Boolean(),
  videoCodec: Nullable(Type.String()),
  audioCodec: Nullable(Type.String()),
  /** Clockwise rotation in the source: 0, 90, 180 or 270. Outputs are already rotated. */
  rotationDegrees: Type.Integer(),
  isHdr: Type.Boolean(),
});
export type MediaInfo = Static<typeof MediaInfoSchema>;

export const RungSchema = Type.Union([
  Type.Object({
    kind: Type.Literal('video'),
    name: Type.String(),
    width: Type.Integer(),
    height: Type.Integer(),
    frameRate: FrameRateSchema,
    maxBitrateBps: Type.Integer(),
    codec: Type.Optional(Type.Union([Type.Literal('h264'), Type.Literal('av1')])),
    effort: Type.Optional(Type.Union([Type.Literal('fast'), Type.Literal('slow')])),
  }),
  Type.Object({ kind: Type.Literal('audio'), name: Type.String() }),
]);

/** A BCP 47 language and a label for menus. */
const TrackNameSchema = Type.Object({
  language: Type.String({ pattern: '^[A-Za-z0-9-]{2,35}$' }),
  label: Type.String({ minLength: 1, maxLength: 120, pattern: '^[^\\p{Cc}"]+$' }),
});

export const RenditionSchema = Type.Object({
  name: Type.String({ pattern: '^[a-z0-9]+$' }),
  /** Relative to the task's output folder, like all paths in results. */
  playlist: Type.String(),
  width: Nullable(Type.Integer()),
  height: Nullable(Type.Integer()),
  frameRate: Nullable(Type.Number()),
  codecs: Type.String(),
  peakBandwidthBps: Type.Integer(),
  averageBandwidthBps: Type.Integer(),
  durationSeconds: Type.Number(),
  segmentCount: Type.Integer(),
  sizeBytes: Type.Integer(),
  /** Set for audio stored separately from the video, so that players can choose between tracks. */
  sound: Type.Optional(TrackNameSchema),
});
/** One finished HLS rendition on disk. */
export type Rendition = Static<typeof RenditionSchema>;

export const SourceTrackSchema = Type.Object({
  kind: Type.Union([
    Type.Literal('video'),
    Type.Literal('audio'),
    Type.Literal('subtitle'),
    Type.Literal('data'),
  ]),
  codec: Type.String({ maxLength: 100 }),
  language: Nullable(Type.String({ maxLength: 35 })),
  duration: Nullable(Type.Number({ minimum: 0 })),
  used: Type.Boolean(),
  reason: Nullable(
    Type.Union([
      Type.Literal('another_track'),
      Type.Literal('codec_not_supported'),
      Type.Literal('cover_picture'),
      Type.Literal('empty'),
      Type.Literal('kind_not_kept'),
    ]),
  ),
});
/** A track of the uploaded file; `reason` says why it is not used. Times are in seconds. */
export type SourceTrack = Static<typeof SourceTrackSchema>;

export const SourceWarningSchema = Type.Object({
  code: Type.Union([
    Type.Literal('SOUND_NOT_SUPPORTED'),
    Type.Literal('CLOCK_JUMPS'),
    Type.Literal('PARTLY_DAMAGED'),
  ]),
  message: Type.String({ maxLength: 500 }),
});
/** A problem that the owner should know about, although the item plays. */
export type SourceWarning = Static<typeof SourceWarningSchema>;

export const PrepareResultSchema = Type.Object({
  info: MediaInfoSchema,
  /**
   * ThumbHash of the thumbnails in base64, or null if there are none. Absent in older results,
   * whose thumbnail is a single JPEG.
   */
  thumbnailHash: Type.Optional(Nullable(Type.String())),
  rungs: Type.Array(RenditionSchema),
  master: Type.String(),
  remainingRungs: Type.Array(RungSchema),
  /** Whether the first segment of every rendition is shorter; absent in older results. */
  hasShortStart: Type.Optional(Type.Boolean()),
  /** Segment start times of the first rendition in seconds; absent in older results. */
  segmentStarts: Type.Optional(Type.Array(Type.Number())),
  /** The gain to the common loudness, or null; absent in older results. */
  loudness: Type.Optional(
    Nullable(Type.Object({ gainDb: Type.Number(), isLimited: Type.Boolean() })),
  ),
  /** False if there is certainly no speech; absent if the audio can't be decoded. */
  mayBeSpeech: Type.Optional(Type.Boolean()),
  /** Whether H.264 renditions carry CEA-608 captions; absent in older results. */
  hasClosedCaptions: Type.Optional(Type.Boolean()),
  /** Absent in older results. */
  sourceTracks: Type.Optional(Type.Array(SourceTrackSchema)),
  warnings: Type.Optional(Type.Array(SourceWarningSchema)),
});
export type PrepareResult = Static<typeof PrepareResultSchema>;

export const CompleteResultSchema = Type.Object({
  /** All renditions, those of `prepare` first; only the new ones are in this task's folder. */
  rungs: Type.Array(RenditionSchema),
  master: Type.String(),
  /** Text subtitles from the file, as SubRip files in this task's folder. */
  subtitles: Type.Optional(
    Type.Array(
      Type.Object({
        ...TrackNameSchema.properties,
        cues: Type.String({ pattern: '^subtitles-[0-9]+\\.srt$' }),
      }),
    ),
  ),
});
export type CompleteResult = Static<typeof CompleteResultSchema>;

/** Probes the file and creates thumbnails and the first rung, which is also written as one MP4. */
export type PrepareTask = {
  readonly type: 'prepare';
  readonly sourcePath: string;
  /** Absolute path of a folder that does not exist or is empty. */
  readonly outputDir: string;
  readonly maxDurationSeconds: number;
  /** `plus` encodes with more effort and adds AV1 renditions. */
  readonly quality: 'basic' | 'plus';
  /** See `LadderOptions`. */
  readonly steps?: readonly string[];
  /** Publishes growing playlists while a long video is encoded; `master.m3u8` is written first. */
  readonly playsEarly?: boolean;
  /** Maximum threads per decoder and encoder. Default: one per core. */
  readonly threads?: number;
};

/** Creates the remaining rungs, a preview and a storyboard. */
export type CompleteTask = {
  readonly type: 'complete';
  readonly sourcePath: string;
  readonly outputDir: string;
  readonly prepared: PrepareResult;
  /** Skips the preview, storyboard, subtitles and audio tracks, which already exist. */
  readonly onlyRungs?: boolean;
  /** As in {@link PrepareTask}. */
  readonly threads?: number;
};

/** Converts a still image to two sizes. */
export type ImageTask = {
  readonly type: 'image';
  readonly sourcePath: string;
  readonly outputDir: string;
  /** Writes video thumbnail files instead. */
  readonly asThumbnails?: boolean;
};

/** Creates thumbnails from the picture at a given time. */
export type StillTask = {
  readonly type: 'still';
  readonly sourcePath: string;
  readonly outputDir: string;
  readonly seconds: number;
};

export const ThumbnailFactsSchema = Type.Object({
  /** Size of the largest file. */
  width: Type.Integer({ minimum: 1 }),
  height: Type.Integer({ minimum: 1 }),
  /** ThumbHash in base64. */
  hash: Type.String({ maxLength: 100 }),
});
/** Thumbnails in the sizes and formats of `thumbnail-sizes.ts`. */
export type ThumbnailFacts = Static<typeof ThumbnailFactsSchema>;

export const ImageResultSchema = Type.Object({
  /** Size of the large file, upright. */
  width: Type.Integer({ minimum: 1 }),
  height: Type.Integer({ minimum: 1 }),
  /** ThumbHash in base64; only for thumbnails. */
  hash: Type.Optional(Type.String({ maxLength: 100 })),
});
/** The files are `large.jpg` and `small.jpg`. */
export type ImageResult = Static<typeof ImageResultSchema>;

/** Transcribes a recording with FFmpeg's whisper filter. */
export type TranscribeTask = {
  readonly type: 'transcribe';
  readonly sourcePath: string;
  readonly outputDir: string;
  readonly modelPath: string;
  /** Whisper's language code. Null only detects the language in the first half minute. */
  readonly language: string | null;
  readonly maxDurationSeconds: number;
};

export const TranscribeResultSchema = Type.Object({
  /** The detected language as a whisper code, or null if one was given or none was found. */
  language: Nullable(Type.String({ pattern: '^[a-z]{2,3}$' })),
  /** Confidence of the detection, from 0 to 1. */
  probability: Type.Number({ minimum: 0, maximum: 1 }),
  /** A SubRip file, or null if there was no speech. */
  cues: Nullable(Type.String()),
});
export type TranscribeResult = Static<typeof TranscribeResultSchema>;

export type GenerateTask = {
  readonly type: 'generate';
  readonly clip: ClipSpec;
};

/** Creates the rungs of a live broadcast as its pictures arrive; see `live-rungs.ts`. */
export type LiveTask = {
  readonly type: 'live';
  readonly outputDir: string;
};

/** Remuxes a broadcast from MPEG-TS to FLV while it is live; see `live-remux.ts`. */
export type RemuxTask = {
  readonly type: 'remux';
  readonly outputDir: string;
};

export type MediaTask =
  | PrepareTask
  | CompleteTask
  | GenerateTask
  | ImageTask
  | LiveTask
  | RemuxTask
  | StillTask
  | TranscribeTask;

export const GenerateResultSchema = Type.Object({
  sizeBytes: Type.Integer(),
});
export type GenerateResult = Static<typeof GenerateResultSchema>;

/**
 * Messages from the child. `work` grows with every packet, so that a slow task is not mistaken for
 * a stalled one.
 */
export const ChildMessageSchema = Type.Union([
  Type.Object({
    type: Type.Literal('progress'),
    fraction: Type.Number({ minimum: 0, maximum: 1 }),
    work: Type.Number(),
    residentBytes: Type.Number(),
  }),
  Type.Object({ type: Type.Literal('result'), result: Type.Unknown() }),
  Type.Object({
    type: Type.Literal('failure'),
    code: Type.Union([
      Type.Literal('UNSUPPORTED_MEDIA'),
      Type.Literal('CORRUPT_MEDIA'),
      Type.Literal('TOO_LONG'),
      Type.Literal('PROCESSING_FAILED'),
    ]),
    message: Type.String(),
    detail: Type.String(),
    retryable: Type.Boolean(),
  }),
]);
export type ChildMessage = Static<typeof ChildMessageSchema>;
