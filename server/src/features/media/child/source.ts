import { open } from 'node:fs/promises';
import {
  avGetCodecName,
  Codec,
  CodecContext,
  Dictionary,
  FormatContext,
  InputFormat,
  type Stream,
} from 'node-av/lib';
import {
  AVDISCARD_ALL,
  AVMEDIA_TYPE_AUDIO,
  AVMEDIA_TYPE_VIDEO,
  AV_CODEC_ID_AV1,
  AV_DISPOSITION_ATTACHED_PIC,
  AV_DISPOSITION_DEFAULT,
  AV_NOPTS_VALUE,
  FF_DECODER_LIBDAV1D,
  type AVMediaType,
} from 'node-av/constants';
import { MediaError } from '../media-error.ts';
import { SNIFF_BYTES, sniffMedia, type SniffedFormat } from '../sniff.ts';
import { ALL_DECODERS, AUDIO_DECODERS, VIDEO_DECODERS } from './allowed-formats.ts';
import { missingEnd } from './completeness.ts';
import { check, EngineError, required } from './engine.ts';

/** What the owner reads, whatever exactly is broken. */
export const DAMAGED = 'The file is damaged or incomplete.';
const MICROSECONDS = 1_000_000;
const MAX_SIDE = 8192;
const MAX_PIXELS = 36_000_000;
/** Decoders count whole blocks beyond the edge of the picture. */
const MAX_DECODED_PIXELS = MAX_PIXELS * 1.1;
/** Bounds what probing reads and decodes of a file that reveals its streams late or never. */
const PROBE_BYTES = 10_000_000;
const PROBE_MICROSECONDS = 10 * MICROSECONDS;

/** One stream of the source that will be decoded. */
export type SourceStream = {
  readonly stream: Stream;
  readonly decoder: Codec;
  readonly codecName: string;
  /** Length that the container claims for this stream, or null where it claims none. */
  readonly declaredSeconds: number | null;
};

/** An opened upload: its demuxer, the best picture and the best sound, at least one of them. */
export type Source = {
  readonly container: FormatContext;
  readonly format: SniffedFormat;
  readonly sizeBytes: number;
  readonly video: SourceStream | null;
  readonly audio: SourceStream | null;
  /** Length that the container claims, or null; live recordings in WebM claim none. */
  readonly declaredSeconds: number | null;
  /** The timestamp that counts as zero, in microseconds. */
  readonly startMicroseconds: bigint;
};

async function readHead(path: string): Promise<{ head: Uint8Array; sizeBytes: number }> {
  await using file = await open(path, 'r');
  const { size } = await file.stat();
  const head = new Uint8Array(SNIFF_BYTES);
  const { bytesRead } = await file.read(head, 0, SNIFF_BYTES, 0);
  return { head: head.subarray(0, bytesRead), sizeBytes: size };
}

/**
 * Options that keep a hostile file from reaching anything but itself: local files only, one fixed
 * demuxer, the listed decoders, and no external tracks of a QuickTime file.
 */
function guardedOptions(format: SniffedFormat): Dictionary {
  return Dictionary.fromObject({
    protocol_whitelist: 'file',
    format_whitelist: required(InputFormat.findInputFormat(format.container), format.container)
      .name,
    codec_whitelist: ALL_DECODERS,
    probesize: PROBE_BYTES,
    analyzeduration: PROBE_MICROSECONDS,
    ...(format.container === 'mov' ? { enable_drefs: 0, use_absolute_path: 0 } : {}),
  });
}

function findDecoder(stream: Stream, allowed: ReadonlySet<string>): Codec | null {
  const { codecId } = stream.codecpar;
  const decoder =
    codecId === AV_CODEC_ID_AV1
      ? Codec.findDecoderByName(FF_DECODER_LIBDAV1D)
      : Codec.findDecoder(codecId);
  return decoder !== null && allowed.has(decoder.name ?? '') ? decoder : null;
}

function seconds(ticks: bigint, stream: Stream): number | null {
  if (ticks === AV_NOPTS_VALUE || ticks <= 0n) return null;
  return Number(ticks) * stream.timeBase.toDouble();
}

/** Prefers the stream marked as default, then the larger picture or the richer sound. */
function pickStream(
  container: FormatContext,
  type: AVMediaType,
  allowed: ReadonlySet<string>,
): SourceStream | null {
  const weight = (stream: Stream): number => {
    const { codecpar } = stream;
    const isDefault = (stream.disposition & AV_DISPOSITION_DEFAULT) !== 0 ? 1 : 0;
    return type === AVMEDIA_TYPE_VIDEO
      ? codecpar.width * codecpar.height * 2 + isDefault
      : isDefault * 100 + codecpar.channels;
  };
  const candidates = container.streams.flatMap((stream) => {
    if (stream.codecpar.codecType !== type) return [];
    if ((stream.disposition & AV_DISPOSITION_ATTACHED_PIC) !== 0) return [];
    const decoder = findDecoder(stream, allowed);
    return decoder === null ? [] : [{ stream, decoder }];
  });
  const best = candidates.reduce<(typeof candidates)[number] | null>(
    (found, next) => (found === null || weight(next.stream) > weight(found.stream) ? next : found),
    null,
  );
  if (best === null) return null;
  return {
    ...best,
    codecName: avGetCodecName(best.stream.codecpar.codecId) ?? 'unknown',
    declaredSeconds: seconds(best.stream.duration, best.stream),
  };
}

function checkPictureSizes(container: FormatContext): void {
  for (const { codecpar } of container.streams) {
    if (codecpar.codecType !== AVMEDIA_TYPE_VIDEO) continue;
    const { width, height } = codecpar;
    if (width > MAX_SIDE || height > MAX_SIDE || width * height > MAX_PIXELS) {
      throw new MediaError(
        'UNSUPPORTED_MEDIA',
        `The picture is larger than ${MAX_SIDE} pixels on a side or ${MAX_PIXELS / 1e6} megapixels.`,
        { detail: `picture of ${width}x${height}` },
      );
    }
  }
}

async function openContainer(path: string, format: SniffedFormat): Promise<FormatContext> {
  const container = new FormatContext();
  container.allocContext();
  const demuxer = required(InputFormat.findInputFormat(format.container), format.container);
  using options = guardedOptions(format);
  try {
    check(await container.openInput(`file:${path}`, demuxer, options), 'open input');
    // The header alone often gives the sizes; refusing here saves probing a picture bomb.
    checkPictureSizes(container);
    check(await container.findStreamInfo(null), 'find streams');
    checkPictureSizes(container);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    throw damaged(error);
  }
  return container;
}

function damaged(cause: EngineError): MediaError {
  return new MediaError('CORRUPT_MEDIA', DAMAGED, {
    detail: cause.message,
    cause,
  });
}

/**
 * Opens an upload for decoding.
 *
 * Throws {@link MediaError}: UNSUPPORTED_MEDIA when the bytes are not an allowed format, hold nothing
 * that can be decoded, or show a picture beyond the limits; CORRUPT_MEDIA when the container
 * cannot be read.
 */
export async function openSource(path: string): Promise<Source> {
  const { head, sizeBytes } = await readHead(path);
  if (sizeBytes === 0) throw new MediaError('CORRUPT_MEDIA', 'The file is empty.');
  const format = sniffMedia(head);
  if (format === null) {
    throw new MediaError('UNSUPPORTED_MEDIA', 'The file is neither a video nor a sound recording.');
  }
  const missing = await missingEnd(path, format.container, sizeBytes);
  if (missing !== null) throw new MediaError('CORRUPT_MEDIA', DAMAGED, { detail: missing });
  const container = await openContainer(path, format);
  const video = pickStream(container, AVMEDIA_TYPE_VIDEO, VIDEO_DECODERS);
  const audio = pickStream(container, AVMEDIA_TYPE_AUDIO, AUDIO_DECODERS);
  if (video === null && audio === null) {
    throw new MediaError(
      'UNSUPPORTED_MEDIA',
      'The file has no video or audio that can be decoded.',
    );
  }
  const picture = video?.stream.codecpar;
  if (picture !== undefined && picture.width * picture.height === 0) {
    throw new MediaError('CORRUPT_MEDIA', DAMAGED, { detail: 'the picture has no size' });
  }
  for (const stream of container.streams) {
    const isUsed = stream.index === video?.stream.index || stream.index === audio?.stream.index;
    if (!isUsed) stream.discard = AVDISCARD_ALL;
  }
  const { duration, startTime } = container;
  return {
    container,
    format,
    sizeBytes,
    video,
    audio,
    declaredSeconds:
      duration === AV_NOPTS_VALUE || duration <= 0n ? null : Number(duration) / MICROSECONDS,
    startMicroseconds: startTime === AV_NOPTS_VALUE ? 0n : startTime,
  };
}

/**
 * Opens the decoder of a stream with up to `threads` threads. Throws CORRUPT_MEDIA when the
 * decoder rejects what the container says about the stream.
 */
export async function openDecoder(source: SourceStream, threads: number): Promise<CodecContext> {
  const context = new CodecContext();
  context.allocContext3(source.decoder);
  check(context.parametersToContext(source.stream.codecpar), 'set decoder parameters');
  context.pktTimebase = source.stream.timeBase;
  context.threadCount = threads;
  using options = Dictionary.fromObject({ max_pixels: MAX_DECODED_PIXELS });
  const answer = await context.open2(source.decoder, options);
  if (answer < 0) throw damaged(new EngineError('open decoder', answer));
  return context;
}
