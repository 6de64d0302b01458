/** Selects which tracks of a source to use or keep, and describes each to the owner. */
import { avGetCodecName, Codec, type FormatContext, type Stream } from 'node-av/lib';
import {
  AVMEDIA_TYPE_AUDIO,
  AVMEDIA_TYPE_SUBTITLE,
  AVMEDIA_TYPE_VIDEO,
  AV_CODEC_ID_AV1,
  AV_DISPOSITION_ATTACHED_PIC,
  AV_DISPOSITION_DEFAULT,
  AV_DISPOSITION_TIMED_THUMBNAILS,
  AV_NOPTS_VALUE,
  AV_PKT_DATA_DOVI_CONF,
  FF_DECODER_LIBDAV1D,
} from 'node-av/constants';
import { MediaError } from '../../media-error.ts';
import type { SourceTrack } from '../../tasks.ts';
import { AUDIO_DECODERS, VIDEO_DECODERS } from './allowed-formats.ts';
import { isText, MAX_OTHER_SOUNDS, MAX_SUBTITLES } from './kept-tracks.ts';

/** A track that will be decoded. */
export type ChosenTrack = {
  readonly stream: Stream;
  readonly decoder: Codec;
  readonly codecName: string;
};

type Reason = Exclude<SourceTrack['reason'], null>;

/** Forged files can have thousands of tracks. */
const MAX_TOLD_TRACKS = 50;
/** Exceeds any picture area or channel count. */
const DEFAULT_WEIGHT = 1e9;

export function codecNameOf({ codecpar }: Stream): string {
  const name = avGetCodecName(codecpar.codecId) ?? 'unknown';
  return name === 'none' ? 'unknown' : name;
}

function findDecoder(stream: Stream, allowed: ReadonlySet<string>): Codec | null {
  const { codecId } = stream.codecpar;
  const decoder =
    codecId === AV_CODEC_ID_AV1
      ? Codec.findDecoderByName(FF_DECODER_LIBDAV1D)
      : Codec.findDecoder(codecId);
  return decoder !== null && allowed.has(decoder.name ?? '') ? decoder : null;
}

/** Cover art and chapter thumbnails are still images, not video. */
function isCover({ disposition }: Stream): boolean {
  return (disposition & (AV_DISPOSITION_ATTACHED_PIC | AV_DISPOSITION_TIMED_THUMBNAILS)) !== 0;
}

/** Prefers the track marked as default, then the largest picture or the most channels. */
function weight({ codecpar, disposition }: Stream): number {
  const isDefault = (disposition & AV_DISPOSITION_DEFAULT) !== 0;
  const richness =
    codecpar.codecType === AVMEDIA_TYPE_VIDEO
      ? codecpar.width * codecpar.height
      : codecpar.channels;
  return richness + (isDefault ? DEFAULT_WEIGHT : 0);
}

/** Offsets in the Dolby Vision configuration: the profile, and the base layer's compatibility. */
const DOVI_PROFILE_BYTE = 2;
const DOVI_COMPATIBILITY_BYTE = 7;

/** Rejects Dolby Vision whose base layer has colors that no other display understands. */
function checkColors({ stream }: ChosenTrack): void {
  const configuration = stream.codecpar.getCodedSideData(AV_PKT_DATA_DOVI_CONF);
  if (configuration === null) return;
  const profile = configuration[DOVI_PROFILE_BYTE] ?? 0;
  const compatibility = configuration[DOVI_COMPATIBILITY_BYTE] ?? 0;
  if (profile !== 5 && (profile !== 10 || compatibility !== 0)) return;
  throw new MediaError(
    'UNSUPPORTED_MEDIA',
    `Dolby Vision profile ${profile} is not supported: its colours need a Dolby Vision display. Export the video as HDR10, HLG or SDR.`,
  );
}

export type TrackChoice = {
  readonly video: ChosenTrack | null;
  readonly audio: ChosenTrack | null;
  /** Alternative audio tracks, in file order; empty without video. */
  readonly otherSounds: readonly ChosenTrack[];
  /** Subtitles that become captions; empty without video. */
  readonly subtitles: readonly Stream[];
  /** Why each remaining track is not used, by stream index. */
  readonly reasons: ReadonlyMap<number, Reason>;
  /** The codec of the audio track that would have been used had it been decodable. */
  readonly lostSound: string | null;
};

/**
 * Chooses a video track, its main audio track, and the additional tracks to keep.
 * @throws {MediaError} UNSUPPORTED_MEDIA if no video track can be decoded, if there is neither
 *   video nor audio, or if the colors can't be displayed
 */
export function chooseTracks(container: FormatContext): TrackChoice {
  const reasons = new Map<number, Reason>();
  const choose = (type: number, allowed: ReadonlySet<string>) => {
    let best: ChosenTrack | null = null;
    let unknown: Stream | null = null;
    const usable: ChosenTrack[] = [];
    for (const stream of container.streams) {
      if (stream.codecpar.codecType !== type) continue;
      if (isCover(stream)) {
        reasons.set(stream.index, 'cover_picture');
        continue;
      }
      const decoder = findDecoder(stream, allowed);
      if (decoder === null) {
        reasons.set(stream.index, 'codec_not_supported');
        unknown ??= stream;
        continue;
      }
      reasons.set(stream.index, 'another_track');
      const track = { stream, decoder, codecName: codecNameOf(stream) };
      usable.push(track);
      if (best === null || weight(stream) > weight(best.stream)) best = track;
    }
    if (best !== null) reasons.delete(best.stream.index);
    return { best, unknown, others: usable.filter((track) => track !== best) };
  };
  const video = choose(AVMEDIA_TYPE_VIDEO, VIDEO_DECODERS);
  const audio = choose(AVMEDIA_TYPE_AUDIO, AUDIO_DECODERS);
  if (video.best === null && video.unknown !== null) throw unsupported('picture', video.unknown);
  if (video.best === null && audio.best === null) {
    if (audio.unknown !== null) throw unsupported('sound', audio.unknown);
    throw new MediaError('UNSUPPORTED_MEDIA', 'The file has neither video nor audio.');
  }
  if (video.best !== null) checkColors(video.best);
  const lostSound =
    audio.best === null && audio.unknown !== null ? codecNameOf(audio.unknown) : null;
  const hasPicture = video.best !== null;
  const otherSounds = hasPicture ? audio.others.slice(0, MAX_OTHER_SOUNDS) : [];
  for (const { stream } of otherSounds) reasons.delete(stream.index);
  const subtitles = chooseSubtitles(container, hasPicture, reasons);
  return { video: video.best, audio: audio.best, otherSounds, subtitles, reasons, lostSound };
}

/** The text subtitles. Records in `reasons` why the others are not kept. */
function chooseSubtitles(
  { streams }: FormatContext,
  hasPicture: boolean,
  reasons: Map<number, Reason>,
): Stream[] {
  const chosen: Stream[] = [];
  for (const stream of streams) {
    if (stream.codecpar.codecType !== AVMEDIA_TYPE_SUBTITLE) continue;
    if (!hasPicture) reasons.set(stream.index, 'kind_not_kept');
    else if (!isText(stream)) reasons.set(stream.index, 'codec_not_supported');
    else if (chosen.length === MAX_SUBTITLES) reasons.set(stream.index, 'another_track');
    else chosen.push(stream);
  }
  return chosen;
}

function unsupported(what: 'picture' | 'sound', stream: Stream): MediaError {
  const codec = codecNameOf(stream);
  return new MediaError(
    'UNSUPPORTED_MEDIA',
    codec === 'unknown'
      ? `The codec of the ${what} is not known.`
      : `The codec of the ${what} is not supported: ${codec}.`,
  );
}

/** The language that the file declares, if it is a valid code other than `und`. */
function languageOf({ metadata }: Stream): string | null {
  const language = metadata?.get('language') ?? null;
  return language !== null && /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(language) && language !== 'und'
    ? language
    : null;
}

/** The tracks as described to the owner; `lengths` are in seconds, by stream index. */
export function describeTracks(
  container: FormatContext,
  { reasons }: TrackChoice,
  {
    isEmpty,
    lengths,
  }: { isEmpty: (stream: Stream) => boolean; lengths: ReadonlyMap<number, number> },
): SourceTrack[] {
  return container.streams.slice(0, MAX_TOLD_TRACKS).map((stream) => {
    const { codecType } = stream.codecpar;
    const kind =
      codecType === AVMEDIA_TYPE_VIDEO
        ? 'video'
        : codecType === AVMEDIA_TYPE_AUDIO
          ? 'audio'
          : codecType === AVMEDIA_TYPE_SUBTITLE
            ? 'subtitle'
            : 'data';
    const known = reasons.get(stream.index) ?? (kind === 'data' ? 'kind_not_kept' : null);
    const reason = known === null && isEmpty(stream) ? 'empty' : known;
    return {
      kind,
      codec: codecNameOf(stream),
      language: languageOf(stream),
      duration: roundedLength(lengths.get(stream.index)),
      used: reason === null,
      reason,
    };
  });
}

function roundedLength(seconds: number | undefined): number | null {
  return seconds === undefined || !Number.isFinite(seconds) || seconds < 0
    ? null
    : Math.round(seconds * 1_000) / 1_000;
}

/**
 * The length that the container's index declares for a track, in seconds, or null if it declares
 * none.
 */
export function indexedLength({ duration, timeBase }: Stream): number | null {
  return duration === AV_NOPTS_VALUE || duration <= 0n
    ? null
    : Number(duration) * timeBase.toDouble();
}
