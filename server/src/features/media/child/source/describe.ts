import { AV_PKT_DATA_DISPLAYMATRIX } from 'node-av/constants';
import {
  aspectRatio,
  distanceToCommonRate,
  resolutionTier,
  shownFrameRate,
  type FrameRate,
} from '../../picture.ts';
import type { MediaInfo } from '../../tasks.ts';
import { orientationFromMatrix, type Orientation } from '../picture/orientation.ts';
import { isHdrTransfer } from '../picture/picture-filters.ts';
import type { Source, SourceStream } from './source.ts';

const DEFAULT_FRAME_RATE = 30;
/** A higher rate is the container's clock rather than a frame rate. */
const MAX_TRUSTED_RATE = 120;
/** A forged frame duration yields a lower rate than any camera's, or 0 after rounding. */
const MIN_RATE = 0.001;
/** Millisecond timestamps yield a slightly high base rate even for a constant rate. */
const VARYING_RATE = 1.1;
/** A pixel aspect ratio beyond this means a damaged header. */
const MAX_PIXEL_STRETCH = 8;

/** Rotation and mirroring from the stream's display matrix. */
export function readOrientation(stream: SourceStream): Orientation {
  return orientationFromMatrix(stream.stream.codecpar.getCodedSideData(AV_PKT_DATA_DISPLAYMATRIX));
}

function perSecond(rate: FrameRate): number {
  return rate.num > 0 && rate.den > 0 ? rate.num / rate.den : 0;
}

/**
 * The frame rate. At a constant rate, the container's two figures agree except for rounding, and
 * the one closer to a common rate is right. At a variable rate, the higher one is right as long as
 * it is plausible.
 */
function framesPerSecond(stream: SourceStream): number {
  const average = perSecond(stream.stream.avgFrameRate);
  const base = perSecond(stream.stream.rFrameRate);
  if (average === 0) return base > 0 && base <= MAX_TRUSTED_RATE ? base : DEFAULT_FRAME_RATE;
  if (base > average * VARYING_RATE) return base <= MAX_TRUSTED_RATE ? base : average;
  return base > 0 && distanceToCommonRate(base) < distanceToCommonRate(average) ? base : average;
}

/** Size on screen: square pixels, after rotation. */
function displaySize(
  stream: SourceStream,
  orientation: Orientation,
): { width: number; height: number } {
  const { codecpar, sampleAspectRatio } = stream.stream;
  const stretch = perSecond(sampleAspectRatio) || perSecond(codecpar.sampleAspectRatio) || 1;
  const isPlausible = stretch <= MAX_PIXEL_STRETCH && stretch >= 1 / MAX_PIXEL_STRETCH;
  const width = Math.max(1, Math.round(codecpar.width * (isPlausible ? stretch : 1)));
  return orientation.isTransposed
    ? { width: codecpar.height, height: width }
    : { width, height: codecpar.height };
}

/** Describes an opened source; `durationSeconds` is the container's claim, or 0. */
export function describeSource(source: Source): MediaInfo {
  const { video, audio } = source;
  const common = {
    durationSeconds: source.declaredSeconds ?? 0,
    hasAudio: audio !== null,
    audioCodec: audio?.codecName ?? null,
  };
  if (video === null) {
    return {
      ...common,
      kind: 'audio',
      width: null,
      height: null,
      aspectRatio: null,
      maxFrameRate: null,
      resolutionTier: resolutionTier(null),
      videoCodec: null,
      rotationDegrees: 0,
      isHdr: false,
    };
  }
  const orientation = readOrientation(video);
  const size = displaySize(video, orientation);
  return {
    ...common,
    ...size,
    kind: 'video',
    aspectRatio: aspectRatio(size.width, size.height),
    maxFrameRate: shownFrameRate(Math.max(MIN_RATE, framesPerSecond(video))),
    resolutionTier: resolutionTier(size),
    videoCodec: video.codecName,
    rotationDegrees: orientation.rotationDegrees,
    isHdr: isHdrTransfer(video.stream.codecpar.colorTrc),
  };
}
