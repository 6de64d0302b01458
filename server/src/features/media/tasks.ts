import { Type, type Static } from 'typebox';
import type { ClipSpec } from './clip-spec.ts';

/**
 * The words that the service and its media child exchange, all of them plain data. What the child
 * says is checked against schemas on arrival, because a child that parses hostile bytes is not
 * trusted. The child takes its task as it is: it starts a quarter faster without the checker.
 */

const Nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const FrameRateSchema = Type.Object({
  num: Type.Integer({ minimum: 1 }),
  den: Type.Integer({ minimum: 1 }),
});

export const MediaInfoSchema = Type.Object({
  kind: Type.Union([Type.Literal('video'), Type.Literal('audio')]),
  durationSeconds: Type.Number({ minimum: 0 }),
  /** After rotation and with square pixels; null for audio. */
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
  /** Clockwise turn that the source asked for: 0, 90, 180 or 270. Outputs are already turned. */
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

/** BCP 47, and what a menu shows. */
const TrackNameSchema = Type.Object({
  language: Type.String({ pattern: '^[A-Za-z0-9-]{2,35}$' }),
  label: Type.String({ minLength: 1, maxLength: 120, pattern: '^[^\\p{Cc}"]+$' }),
});

export const RenditionSchema = Type.Object({
  name: Type.String({ pattern: '^[a-z0-9]+$' }),
  /** Relative to the task's output folder, as are all paths in results. */
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
  /** Of a sound that is kept apart from the pictures, so that players can choose among several. */
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
/** One track of the uploaded file; `reason` says why it is not used. Seconds. */
export type SourceTrack = Static<typeof SourceTrackSchema>;

export const SourceWarningSchema = Type.Object({
  code: Type.Union([
    Type.Literal('SOUND_NOT_SUPPORTED'),
    Type.Literal('CLOCK_JUMPS'),
    Type.Literal('PARTLY_DAMAGED'),
  ]),
  message: Type.String({ maxLength: 500 }),
});
/** What the owner should know of an item that plays all the same. */
export type SourceWarning = Static<typeof SourceWarningSchema>;

export const PrepareResultSchema = Type.Object({
  info: MediaInfoSchema,
  /**
   * The ThumbHash of the thumbnails in base64; null where there are none. Absent in older results,
   * whose thumbnail is one JPEG.
   */
  thumbnailHash: Type.Optional(Nullable(Type.String())),
  rungs: Type.Array(RenditionSchema),
  master: Type.String(),
  remainingRungs: Type.Array(RungSchema),
  /** Whether first segments are shorter than others, in every rendition; absent in older results. */
  hasShortStart: Type.Optional(Type.Boolean()),
  /** Where the segments of the first rendition start, in seconds; absent in older results. */
  segmentStarts: Type.Optional(Type.Array(Type.Number())),
  /** The gain that brings the sound to the common loudness, or null; absent in older results. */
  loudness: Type.Optional(
    Nullable(Type.Object({ gainDb: Type.Number(), isLimited: Type.Boolean() })),
  ),
  /** False where it is certain that nobody speaks; absent where the sound can't be heard. */
  mayBeSpeech: Type.Optional(Type.Boolean()),
  /** Whether H.264 renditions carry captions of CEA-608; absent in older results. */
  hasClosedCaptions: Type.Optional(Type.Boolean()),
  /** Absent in older results. */
  sourceTracks: Type.Optional(Type.Array(SourceTrackSchema)),
  warnings: Type.Optional(Type.Array(SourceWarningSchema)),
});
export type PrepareResult = Static<typeof PrepareResultSchema>;

export const CompleteResultSchema = Type.Object({
  /** All renditions, those of `prepare` first; only the new ones lie in this task's folder. */
  rungs: Type.Array(RenditionSchema),
  master: Type.String(),
  /** Subtitles that the file holds as text: SubRip files in this task's folder. */
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

/** Probe, thumbnails, first rung, and that rung as one MP4. */
export type PrepareTask = {
  readonly type: 'prepare';
  /** Absolute path of the uploaded bytes. */
  readonly sourcePath: string;
  /** Absolute path of a folder that does not exist yet or is empty. */
  readonly outputDir: string;
  readonly maxDurationSeconds: number;
  /** `plus` spends more time on each bit and adds AV1 renditions. */
  readonly quality: 'basic' | 'plus';
  /** See `LadderOptions`. */
  readonly steps?: readonly string[];
  /** Makes playlists that grow while a long video is encoded; `master.m3u8` is there before it. */
  readonly playsEarly?: boolean;
  /** Most threads of each decoder and encoder. Left out: one for each core. */
  readonly threads?: number;
};

/** The rungs that `prepare` left, a preview and a storyboard. */
export type CompleteTask = {
  readonly type: 'complete';
  readonly sourcePath: string;
  readonly outputDir: string;
  readonly prepared: PrepareResult;
  /** Makes no preview, storyboard, subtitles or sounds: they are there. */
  readonly onlyRungs?: boolean;
  /** As in {@link PrepareTask}. */
  readonly threads?: number;
};

/** A still image in two sizes. */
export type ImageTask = {
  readonly type: 'image';
  readonly sourcePath: string;
  readonly outputDir: string;
  /** Writes the files of a video's thumbnail instead. */
  readonly asThumbnails?: boolean;
};

/** The picture of a moment as thumbnails. */
export type StillTask = {
  readonly type: 'still';
  readonly sourcePath: string;
  readonly outputDir: string;
  /** From the start of the video. */
  readonly seconds: number;
};

export const ThumbnailFactsSchema = Type.Object({
  /** Of the largest file. */
  width: Type.Integer({ minimum: 1 }),
  height: Type.Integer({ minimum: 1 }),
  /** ThumbHash in base64. */
  hash: Type.String({ maxLength: 100 }),
});
/** Thumbnails in the sizes and formats of `thumbnail-sizes.ts`. */
export type ThumbnailFacts = Static<typeof ThumbnailFactsSchema>;

export const ImageResultSchema = Type.Object({
  /** Of the large file, upright. */
  width: Type.Integer({ minimum: 1 }),
  height: Type.Integer({ minimum: 1 }),
  /** ThumbHash in base64, of thumbnails. */
  hash: Type.Optional(Type.String({ maxLength: 100 })),
});
/** The files are `large.jpg` and `small.jpg`. */
export type ImageResult = Static<typeof ImageResultSchema>;

/** What is said in a recording, by FFmpeg's whisper filter. */
export type TranscribeTask = {
  readonly type: 'transcribe';
  readonly sourcePath: string;
  readonly outputDir: string;
  /** A model of whisper.cpp. */
  readonly modelPath: string;
  /** As whisper names it; null detects it in the first half minute and goes no further. */
  readonly language: string | null;
  readonly maxDurationSeconds: number;
};

export const TranscribeResultSchema = Type.Object({
  /** What was detected, as whisper names it; null where a language was given, or none was found. */
  language: Nullable(Type.String({ pattern: '^[a-z]{2,3}$' })),
  /** How sure the detection is, from 0 to 1. */
  probability: Type.Number({ minimum: 0, maximum: 1 }),
  /** A SubRip file; null where nothing was said. */
  cues: Nullable(Type.String()),
});
export type TranscribeResult = Static<typeof TranscribeResultSchema>;

export type GenerateTask = {
  readonly type: 'generate';
  readonly clip: ClipSpec;
};

/** Rungs of a broadcast, of pictures that arrive while it goes on; see `live-rungs.ts`. */
export type LiveTask = {
  readonly type: 'live';
  readonly outputDir: string;
};

/** A broadcast from MPEG-TS to FLV, while it goes on; see `live-remux.ts`. */
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

/** What the child says. `work` grows with every packet, so that a slow task is not a stalled task. */
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
