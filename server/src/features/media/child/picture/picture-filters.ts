import { Filter, type Frame } from 'node-av/lib';
import {
  AVCOL_PRI_UNSPECIFIED,
  AVCOL_SPC_UNSPECIFIED,
  AVCOL_TRC_ARIB_STD_B67,
  AVCOL_TRC_SMPTE2084,
  AV_FRAME_FLAG_INTERLACED,
  type AVColorTransferCharacteristic,
} from 'node-av/constants';
import type { VideoRung } from '../../ladder.ts';
import { GRAPH_OUTPUT, videoInput, type InputTiming } from '../engine/frame-graph.ts';
import type { Orientation } from './orientation.ts';

/**
 * Unlabelled pictures of at least this size are assumed to be BT.709, smaller ones BT.601, as in
 * players.
 */
const HD_SHORT_SIDE = 720;
/** Luminance in nits that maps to SDR white. */
const HDR_WHITE_NITS = 100;

/** Whether this is one of the two HDR transfer functions that phones and cameras use. */
export function isHdrTransfer(transfer: AVColorTransferCharacteristic): boolean {
  return transfer === AVCOL_TRC_SMPTE2084 || transfer === AVCOL_TRC_ARIB_STD_B67;
}

type Target = {
  /** Size after rotation. */
  readonly width: number;
  readonly height: number;
  readonly orientation: Orientation;
};

/** Scaling comes before rotation, because rotating fewer pixels is cheaper. */
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

/** Converts PQ and HLG to BT.709. Scales down first, because the other filters work on floats. */
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
 * Deinterlaces. This must precede any frame rate change: a dropped or repeated frame would remove a
 * neighbor that the filter needs, and the filter halves the time base, which `fps` restores.
 */
function deinterlacing(frame: Frame): string[] {
  const isInterlaced = (frame.flags & AV_FRAME_FLAG_INTERLACED) !== 0;
  return isInterlaced ? ['bwdif=mode=send_frame:deint=interlaced'] : [];
}

/** Converts to the target's size in limited range BT.709, upright, with square pixels. */
function pictureFilters(frame: Frame, target: Target): string[] {
  const toTarget =
    isHdrTransfer(frame.colorTrc) && canToneMap()
      ? hdrFilters(frame, target)
      : sdrFilters(frame, target);
  return [...toTarget, ...target.orientation.filters, 'setsar=1'];
}

/**
 * The graph that converts frames with the properties of `frame` for `rung`. Each frame is numbered
 * by its position in the rendition; the first is `startFrame`.
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

/** The graph of a rung whose frames keep their timestamps, which are in milliseconds. */
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

/** Converts the BT.709 output of {@link pictureFilters} to packed RGB. */
const TO_RGB = [
  'scale=in_color_matrix=bt709:in_range=tv:flags=bicubic+accurate_rnd',
  'format=rgb24',
];

/**
 * The graph that converts frames with the properties of `frame` to `rgb24` pictures of a given
 * size. The `sampling` filters select frames first, while passing frames on is still free.
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

/** The graph that converts one frame to one `rgb24` picture. */
export function stillGraph(
  frame: Frame,
  timing: InputTiming,
  size: { width: number; height: number },
  orientation: Orientation,
): string {
  return sampledGraph(frame, timing, size, orientation, []);
}
