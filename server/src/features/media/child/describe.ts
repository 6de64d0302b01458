import { AV_PKT_DATA_DISPLAYMATRIX } from 'node-av/constants';
import {
  aspectRatio,
  distanceToCommonRate,
  resolutionTier,
  shownFrameRate,
  type FrameRate,
} from '../picture.ts';
import type { MediaInfo } from '../tasks.ts';
import { orientationFromMatrix, type Orientation } from './orientation.ts';
import { isHdrTransfer } from './picture-filters.ts';
import type { Source, SourceStream } from './source.ts';

const DEFAULT_FRAME_RATE = 30;
/** A rate beyond this is a clock of the container and not a rate of pictures. */
const MAX_TRUSTED_RATE = 120;
/** A forged length of frames gives less than any camera, and 0 when it is rounded. */
const MIN_RATE = 0.001;
/** Containers that count in milliseconds state a steady rate a little too high. */
const VARYING_RATE = 1.1;
/** Pixels stretched further than this are a damaged header. */
const MAX_PIXEL_STRETCH = 8;

/** Rotation and mirroring from the stream's display matrix. */
export function readOrientation(stream: SourceStream): Orientation {
  return orientationFromMatrix(stream.stream.codecpar.getCodedSideData(AV_PKT_DATA_DISPLAYMATRIX));
}

function perSecond(rate: FrameRate): number {
  return rate.num > 0 && rate.den > 0 ? rate.num / rate.den : 0;
}

/**
 * The rate of pictures. With a steady rate both of the container's figures agree but for rounding,
 * and the one next to a common rate is meant; with a varying one the higher figure is right as
 * long as it is a plausible rate at all.
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

/** Describes an opened source; `durationSeconds` is what the container claims, or 0. */
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
