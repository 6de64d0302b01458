import { Type, type Static } from 'typebox';

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
});
/** One finished HLS rendition on disk. */
export type Rendition = Static<typeof RenditionSchema>;

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
  /** The gain that brings the sound to the common loudness, or null; absent in older results. */
  loudness: Type.Optional(
    Nullable(Type.Object({ gainDb: Type.Number(), isLimited: Type.Boolean() })),
  ),
  /** False where it is certain that nobody speaks; absent in older results. */
  mayBeSpeech: Type.Optional(Type.Boolean()),
});
export type PrepareResult = Static<typeof PrepareResultSchema>;

export const CompleteResultSchema = Type.Object({
  /** All renditions, those of `prepare` first; only the new ones lie in this task's folder. */
  rungs: Type.Array(RenditionSchema),
  master: Type.String(),
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
  /** Most threads of each decoder and encoder. Left out: one for each core. */
  readonly threads?: number;
};

/** The rungs that `prepare` left, a preview and a storyboard. */
export type CompleteTask = {
  readonly type: 'complete';
  readonly sourcePath: string;
  readonly outputDir: string;
  readonly prepared: PrepareResult;
  /** As in {@link PrepareTask}. */
  readonly threads?: number;
};

/** A still image in two sizes. */
export type ImageTask = {
  readonly type: 'image';
  readonly sourcePath: string;
  readonly outputDir: string;
};

export const ImageResultSchema = Type.Object({
  /** Of the large file, upright. */
  width: Type.Integer({ minimum: 1 }),
  height: Type.Integer({ minimum: 1 }),
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

/** A synthetic clip. */
export type ClipSpec = {
  /** Absolute path of the file to write; the container follows its extension. */
  readonly path: string;
  /** FFmpeg's picture source; `none` makes an audio-only file. */
  readonly source:
    | 'testsrc2'
    | 'smptebars'
    | 'mandelbrot'
    | 'gradients'
    | 'life'
    | 'cellauto'
    | 'black'
    | 'none';
  readonly width: number;
  readonly height: number;
  /** Draws this many times smaller and enlarges: smooth pictures look the same and cost less. */
  readonly drawnSmaller?: number;
  readonly seconds: number;
  readonly frameRate: number;
  /** Frequency of the sine tone in hertz; null for a silent clip without an audio stream. */
  readonly tone: number | null;
  /** Factor on the tone, whose amplitude is an eighth. Default 0.5. */
  readonly toneVolume?: number;
  /** Length of the tone where it is not that of the picture. */
  readonly toneSeconds?: number;
  /** Seconds of black before the picture starts. */
  readonly blackSeconds?: number;
  /** Clockwise turn a player has to apply; the pixels are stored unturned. */
  readonly rotationDegrees?: 0 | 90 | 180 | 270;
  /** Puts the index of an MP4 at the front. */
  readonly fastStart?: boolean;
  /** HEVC in ten bits with this transfer; `dolby-vision` labels HLG as profile 8.4. */
  readonly hdr?: 'pq' | 'hlg' | 'dolby-vision';
  /** H.264 in eight bits where it is absent; `h264-422` has ten bits and 4:2:2, as ProRes has. */
  readonly codec?: 'h264-422' | 'prores' | 'theora';
  /** Width to height of one stored pixel. */
  readonly pixelAspect?: readonly [number, number];
  /** Six channels instead of two. */
  readonly surround?: boolean;
  /** How much later than the picture the first sound is stored. */
  readonly soundDelaySeconds?: number;
  /** Varies colours and structure between clips of the same source. */
  readonly seed?: number;
  /** Stores two fields in each picture, as television cameras do. */
  readonly interlaced?: boolean;
  /** Pictures that may be stored out of order between two others. */
  readonly bFrames?: number;
  /** Keeps only the pictures for which this expression of FFmpeg holds: a varying frame rate. */
  readonly keepPictures?: string;
  /** Keeps only the blocks of 1,024 samples for which this expression of FFmpeg holds. */
  readonly keepSound?: string;
  /** Seconds of silence before the tone starts. */
  readonly silentSeconds?: number;
  /** Stores only the first of ten equal pictures; the others are empty packets that repeat it. */
  readonly repeatsPictures?: boolean;
  /** Writes an MP4 in fragments and without an edit list, as recorders do that may be cut off. */
  readonly fragmented?: boolean;
};

export type GenerateTask = {
  readonly type: 'generate';
  readonly clip: ClipSpec;
};

export type MediaTask = PrepareTask | CompleteTask | GenerateTask | ImageTask | TranscribeTask;

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
