import { Filter, type Frame } from 'node-av/lib';
import {
  AVCOL_PRI_UNSPECIFIED,
  AVCOL_SPC_UNSPECIFIED,
  AVCOL_TRC_ARIB_STD_B67,
  AVCOL_TRC_SMPTE2084,
  AV_FRAME_FLAG_INTERLACED,
  type AVColorTransferCharacteristic,
} from 'node-av/constants';
import type { VideoRung } from '../ladder.ts';
import { GRAPH_OUTPUT, videoInput, type InputTiming } from './frame-graph.ts';
import type { Orientation } from './orientation.ts';

/** Where unlabelled pictures are taken for BT.709, as players do; smaller ones are BT.601. */
const HD_SHORT_SIDE = 720;
/** Nits that count as white when HDR is mapped to SDR. */
const HDR_WHITE_NITS = 100;

/** True for the two transfer functions that phones and cameras use for HDR. */
export function isHdrTransfer(transfer: AVColorTransferCharacteristic): boolean {
  return transfer === AVCOL_TRC_SMPTE2084 || transfer === AVCOL_TRC_ARIB_STD_B67;
}

type Target = {
  /** Size after rotation. */
  readonly width: number;
  readonly height: number;
  readonly orientation: Orientation;
};

/** Scaling happens before turning: turning fewer pixels is cheaper. */
function scaleSize(target: Target): { width: number; height: number } {
  return target.orientation.isTransposed
    ? { width: target.height, height: target.width }
    : { width: target.width, height: target.height };
}

function sdrFilters(frame: Frame, target: Target): string[] {
  const { width, height } = scaleSize(target);
  const shortSide = Math.min(frame.width, frame.height);
  const guessedMatrix = shortSide >= HD_SHORT_SIDE ? 'bt709' : 'smpte170m';
  const options = [
    `w=${width}`,
    `h=${height}`,
    'flags=bicubic',
    ...(frame.colorSpace === AVCOL_SPC_UNSPECIFIED ? [`in_color_matrix=${guessedMatrix}`] : []),
    'out_color_matrix=bt709',
    'out_range=tv',
  ];
  return [`scale=${options.join(':')}`, 'format=yuv420p'];
}

/** Brings PQ and HLG to BT.709. The picture is made small first: the rest works in floats. */
function hdrFilters(frame: Frame, target: Target): string[] {
  const { width, height } = scaleSize(target);
  const labels = [
    ...(frame.colorSpace === AVCOL_SPC_UNSPECIFIED ? ['colorspace=bt2020nc'] : []),
    ...(frame.colorPrimaries === AVCOL_PRI_UNSPECIFIED ? ['color_primaries=bt2020'] : []),
  ];
  return [
    ...(labels.length === 0 ? [] : [`setparams=${labels.join(':')}`]),
    `zscale=w=${width}:h=${height}:t=linear:npl=${HDR_WHITE_NITS}`,
    'format=gbrpf32le',
    'zscale=p=bt709',
    'tonemap=tonemap=hable:desat=0',
    'zscale=t=bt709:m=709:r=tv',
    'format=yuv420p',
  ];
}

function canToneMap(): boolean {
  return Filter.getByName('zscale') !== null && Filter.getByName('tonemap') !== null;
}

/**
 * Makes whole pictures of interlaced ones. It comes before any change of the frame rate: a dropped
 * or repeated frame would take a neighbour away, and the filter halves the time base, which
 * `fps` sets right again.
 */
function deinterlacing(frame: Frame): string[] {
  const isInterlaced = (frame.flags & AV_FRAME_FLAG_INTERLACED) !== 0;
  return isInterlaced ? ['bwdif=mode=send_frame:deint=interlaced'] : [];
}

/** Makes pictures of the target's size in limited range BT.709, upright, with square pixels. */
function pictureFilters(frame: Frame, target: Target): string[] {
  const toTarget =
    isHdrTransfer(frame.colorTrc) && canToneMap()
      ? hdrFilters(frame, target)
      : sdrFilters(frame, target);
  return [...toTarget, ...target.orientation.filters, 'setsar=1'];
}

/**
 * The graph text that makes frames for `rung` out of frames like `frame`. Each is numbered by its
 * place in the rendition; the first one is `startFrame`.
 */
export function rungGraph(
  frame: Frame,
  timing: InputTiming,
  rung: VideoRung,
  orientation: Orientation,
  startFrame = 0,
): string {
  const { num, den } = rung.frameRate;
  return [
    videoInput(frame, timing),
    ...deinterlacing(frame),
    `fps=fps=${num}/${den}:start_time=${(startFrame * den) / num}`,
    ...pictureFilters(frame, { width: rung.width, height: rung.height, orientation }),
    'setparams=color_primaries=bt709:color_trc=bt709:colorspace=bt709:range=tv',
    GRAPH_OUTPUT,
  ].join(',');
}

/** The graph text of a rung whose frames keep their times, which are in milliseconds. */
export function liveRungGraph(frame: Frame, rung: VideoRung): string {
  const timeBase = { num: 1, den: 1_000 };
  const { height, width } = rung;
  const orientation = { rotationDegrees: 0, isTransposed: false, filters: [] } as const;
  return [
    videoInput(frame, { timeBase }),
    ...deinterlacing(frame),
    ...pictureFilters(frame, { width, height, orientation }),
    `settb=expr=${timeBase.num}/${timeBase.den}`,
    'setparams=color_primaries=bt709:color_trc=bt709:colorspace=bt709:range=tv',
    GRAPH_OUTPUT,
  ].join(',');
}

/** Red, green and blue bytes out of what {@link pictureFilters} makes for BT.709. */
const TO_RGB = [
  'scale=in_color_matrix=bt709:in_range=tv:flags=bicubic+accurate_rnd',
  'format=rgb24',
];

/**
 * The graph text that makes `rgb24` pictures of a size out of frames like `frame`. `sampling` are
 * filters that choose among the frames, while they are still large and cost nothing to pass on.
 */
export function sampledGraph(
  frame: Frame,
  timing: InputTiming,
  size: { width: number; height: number },
  orientation: Orientation,
  sampling: readonly string[],
): string {
  return [
    videoInput(frame, timing),
    ...deinterlacing(frame),
    ...sampling,
    ...pictureFilters(frame, { ...size, orientation }),
    ...TO_RGB,
    GRAPH_OUTPUT,
  ].join(',');
}

/** The graph text that makes one `rgb24` picture out of one frame. */
export function stillGraph(
  frame: Frame,
  timing: InputTiming,
  size: { width: number; height: number },
  orientation: Orientation,
): string {
  return sampledGraph(frame, timing, size, orientation, []);
}
