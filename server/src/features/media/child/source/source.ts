import { open } from 'node:fs/promises';
import {
  CodecContext,
  Dictionary,
  FormatContext,
  InputFormat,
  type Codec,
  type Stream,
} from 'node-av/lib';
import { AVDISCARD_ALL, AVMEDIA_TYPE_VIDEO, AV_NOPTS_VALUE } from 'node-av/constants';
import { MediaError } from '../../media-error.ts';
import { id3TagBytes, SNIFF_BYTES, sniffMedia, type SniffedFormat } from '../../sniff.ts';
import type { SourceTrack, SourceWarning } from '../../tasks.ts';
import { ALL_DECODERS } from './allowed-formats.ts';
import { missingEnd } from './completeness.ts';
import { check, EngineError, required } from '../engine/engine.ts';
import { surveyPackets, type Shift, type Survey } from './survey.ts';
import {
  chooseTracks,
  describeTracks,
  indexedLength,
  type TrackChoice,
  type ChosenTrack,
} from './choose-tracks.ts';

/** Message for the owner, no matter what exactly is broken. */
export const DAMAGED = 'The file is damaged or incomplete.';
const MICROSECONDS = 1_000_000;
const MAX_SIDE = 8192;
const MAX_PIXELS = 36_000_000;
/** Decoders round up to whole blocks beyond the picture's edge. */
const MAX_DECODED_PIXELS = MAX_PIXELS * 1.1;
/** Limits probing of files that reveal their streams late or never. */
const PROBE_BYTES = 10_000_000;
const PROBE_MICROSECONDS = 10 * MICROSECONDS;

export type SourceStream = {
  readonly stream: Stream;
  readonly decoder: Codec;
  readonly codecName: string;
  /** End of the stream in seconds from the start of the source, or null if it is not declared. */
  readonly declaredSeconds: number | null;
  /** See {@link Shift}; empty for most files. */
  readonly shifts: readonly Shift[];
};

/** An opened upload: its demuxer and the best video and audio tracks, at least one of them. */
export type Source = {
  readonly path: string;
  readonly container: FormatContext;
  readonly format: SniffedFormat;
  readonly sizeBytes: number;
  readonly video: SourceStream | null;
  readonly audio: SourceStream | null;
  /** See `Choice`; none of them is empty. */
  readonly otherSounds: readonly SourceStream[];
  readonly subtitles: readonly Stream[];
  /** The later of the two ends, in seconds from the start of the source, or null. */
  readonly declaredSeconds: number | null;
  /** The timestamp that counts as zero, in microseconds. */
  readonly startMicroseconds: bigint;
  readonly tracks: readonly SourceTrack[];
  readonly warnings: readonly SourceWarning[];
  readonly survey: Survey | null;
};

async function sniffFile(
  path: string,
): Promise<{ format: SniffedFormat | null; sizeBytes: number }> {
  await using file = await open(path, 'r');
  const { size } = await file.stat();
  const headAt = async (position: number): Promise<Uint8Array> => {
    const head = new Uint8Array(SNIFF_BYTES);
    const { bytesRead } = await file.read(head, 0, SNIFF_BYTES, position);
    return head.subarray(0, bytesRead);
  };
  const head = await headAt(0);
  const tagBytes = id3TagBytes(head);
  // An ID3 tag with a picture in it hides the format that follows.
  const tagged = tagBytes > 0 && tagBytes < size ? sniffMedia(await headAt(tagBytes)) : null;
  const isTaggedAac = tagged?.container === 'aac';
  return { format: isTaggedAac ? tagged : sniffMedia(head), sizeBytes: size };
}

/**
 * Options that keep a hostile file from accessing anything but itself: local files only, one fixed
 * demuxer, the allowed decoders, and no external tracks in QuickTime files.
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
    // The header alone often declares the sizes; rejecting here avoids probing a decompression
    // bomb.
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
 * Opens an upload for decoding. `survey` is the result of an earlier call for the same file.
 * Without it, a file whose container has no index of its tracks is read once in full.
 * @throws {MediaError} UNSUPPORTED_MEDIA if the format is not allowed, if the file has only
 *   undecodable tracks, or if a picture exceeds the limits; CORRUPT_MEDIA if the container cannot
 *   be read
 */
export async function openSource(
  path: string,
  { survey = null, onTurn = () => undefined }: { survey?: Survey | null; onTurn?: () => void } = {},
): Promise<Source> {
  const { format, sizeBytes } = await sniffFile(path);
  if (sizeBytes === 0) throw new MediaError('CORRUPT_MEDIA', 'The file is empty.');
  if (format === null) {
    throw new MediaError('UNSUPPORTED_MEDIA', 'The file is neither video nor audio.');
  }
  const missing = await missingEnd(path, format.container, sizeBytes);
  if (missing !== null) throw new MediaError('CORRUPT_MEDIA', DAMAGED, { detail: missing });
  const container = await openContainer(path, format);
  const choice = chooseTracks(container);
  const picture = choice.video?.stream.codecpar;
  if (picture !== undefined && picture.width * picture.height === 0) {
    throw new MediaError('CORRUPT_MEDIA', DAMAGED, { detail: 'the picture has no size' });
  }
  const chosen = [choice.video, choice.audio].filter((track) => track !== null);
  if (survey === null && !isIndexed(format, chosen)) {
    const timed = new Set(chosen.map(({ stream }) => stream.index));
    const found = await surveyPackets(container, { timed, container: format.container }, onTurn);
    checkEnd(container, format, found);
    // Few containers can seek back exactly, so the file is opened again.
    await container.closeInput();
    return openSource(path, { survey: found });
  }
  const placed = placeTracks(container, choice, survey);
  const read = [placed.video, placed.audio].map((track) => track?.stream.index);
  for (const stream of container.streams) {
    if (!read.includes(stream.index)) stream.discard = AVDISCARD_ALL;
  }
  return { path, container, format, sizeBytes, survey, ...placed };
}

/** Whether the container declares the start and end of each of these tracks. */
function isIndexed({ container }: SniffedFormat, chosen: readonly ChosenTrack[]): boolean {
  // The index of a fragmented file is empty.
  return container === 'mov' && chosen.every(({ stream }) => stream.nbFrames > 0n);
}

/** Containers whose duration is estimated from the size or from clocks that may jump. */
const GUESSED_LENGTH: ReadonlySet<string> = new Set(['mpegts', 'mpeg', 'aac']);
/** Fraction of the declared duration that must be readable, and the slack for very short clips. */
const MIN_READABLE = 0.95;
const READABLE_SLACK_SECONDS = 0.5;

/** Whether media ends too early to be complete. Both arguments are in seconds. */
export function isShort(endSeconds: number, declaredSeconds: number): boolean {
  return endSeconds < declaredSeconds * MIN_READABLE - READABLE_SLACK_SECONDS;
}

/** Rejects a source whose container declares more than any of its tracks holds. */
function checkEnd(
  { duration }: FormatContext,
  { container }: SniffedFormat,
  { endSeconds, spans }: Survey,
): void {
  if (duration === AV_NOPTS_VALUE || duration <= 0n || GUESSED_LENGTH.has(container)) return;
  const declared = Number(duration) / MICROSECONDS;
  const startSeconds = Math.min(0, ...[...spans.values()].map((span) => span.startSeconds));
  if (!isShort(endSeconds - startSeconds, declared)) return;
  const detail = `the packets end at ${endSeconds.toFixed(3)} of ${declared.toFixed(3)} seconds`;
  throw new MediaError('CORRUPT_MEDIA', DAMAGED, { detail });
}

/** Places the chosen tracks on one timeline; collects descriptions and warnings for all. */
function placeTracks(container: FormatContext, choice: TrackChoice, survey: Survey | null) {
  const lengths = new Map<number, number>();
  const bounds = (stream: Stream): { start: number; end: number | null } => {
    const span = survey?.spans.get(stream.index);
    if (span !== undefined && Number.isFinite(span.startSeconds)) {
      // Anything before 0 is codec priming, which the decoder drops.
      return { start: Math.max(0, span.startSeconds), end: span.endSeconds };
    }
    const { startTime, timeBase } = stream;
    const start = startTime === AV_NOPTS_VALUE ? 0 : Number(startTime) * timeBase.toDouble();
    const length = survey === null ? indexedLength(stream) : null;
    return { start, end: length === null ? null : start + length };
  };
  for (const stream of container.streams) {
    const { start, end } = bounds(stream);
    if (end !== null) lengths.set(stream.index, end - start);
  }
  const isEmpty = ({ index, nbFrames }: Stream): boolean =>
    survey === null ? nbFrames === 0n : !survey.spans.has(index);
  const sounds = [choice.audio, ...choice.otherSounds].filter(
    (track): track is ChosenTrack => track !== null && !isEmpty(track.stream),
  );
  const firstSound = sounds[0] ?? choice.audio;
  const chosen = [choice.video, firstSound].filter((track) => track !== null);
  // A track without packets has no start.
  const filled = chosen.filter(({ stream }) => survey === null || survey.spans.has(stream.index));
  const starts = filled.map(({ stream }) => bounds(stream).start);
  const startSeconds = starts.length === 0 ? 0 : Math.min(...starts);
  const place = (track: ChosenTrack): SourceStream => {
    const { end } = bounds(track.stream);
    return {
      ...track,
      declaredSeconds: end === null ? null : end - startSeconds,
      shifts: survey?.spans.get(track.stream.index)?.shifts ?? [],
    };
  };
  const video = choice.video === null ? null : place(choice.video);
  const audio = firstSound === null ? null : place(firstSound);
  const ends = [video, audio].flatMap((track) => track?.declaredSeconds ?? []);
  return {
    video,
    audio,
    otherSounds: sounds.slice(1).map(place),
    subtitles: choice.subtitles.filter((stream) => !isEmpty(stream)),
    declaredSeconds: ends.length === 0 ? null : Math.max(...ends),
    startMicroseconds: BigInt(Math.round(startSeconds * MICROSECONDS)),
    tracks: describeTracks(container, choice, { isEmpty, lengths }),
    warnings: warningsOf(choice, survey),
  };
}

function warningsOf({ lostSound }: TrackChoice, survey: Survey | null): SourceWarning[] {
  const warnings: SourceWarning[] = [];
  if (lostSound !== null) {
    const message = `The audio codec is not supported: ${lostSound}. The item is silent.`;
    warnings.push({ code: 'SOUND_NOT_SUPPORTED', message });
  }
  if (survey !== null && survey.jumps > 0) {
    const message = 'The timestamps of the file jump. The gaps were removed.';
    warnings.push({ code: 'CLOCK_JUMPS', message });
  }
  return warnings;
}

/**
 * Opens the decoder of a stream with up to `threads` threads.
 * @throws {MediaError} CORRUPT_MEDIA if the decoder rejects the stream's parameters
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
