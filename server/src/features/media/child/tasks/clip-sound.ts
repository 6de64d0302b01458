import type { ClipSpec } from '../../clip-spec.ts';
import { AUDIO_FRAME_SAMPLES, AUDIO_SAMPLE_RATE } from '../engine/encoders.ts';
import { GRAPH_AUDIO_OUTPUT } from '../engine/frame-graph.ts';
import { escaped } from './filter-text.ts';

/** The tone of a synthetic clip, as a filter graph. */
export function soundGraph(clip: ClipSpec, tone: number): string {
  const silent = clip.silentSeconds ?? 0;
  const delay = clip.soundDelaySeconds ?? 0;
  return [
    `sine=frequency=${tone}:sample_rate=${AUDIO_SAMPLE_RATE}:duration=${clip.toneSeconds ?? clip.seconds}`,
    `volume=${clip.toneVolume ?? 0.5}`,
    ...(silent > 0 ? [`volume=0:enable=lt(t\\,${silent})`] : []),
    clip.surround === true
      ? 'pan=5.1|FL=c0|FR=c0|FC=c0|LFE=0*c0|BL=c0|BR=c0,aformat=sample_fmts=fltp'
      : 'aformat=sample_fmts=fltp:channel_layouts=stereo',
    `asetnsamples=n=${AUDIO_FRAME_SAMPLES}:p=0`,
    ...(delay > 0 ? [`asetpts=PTS+${delay}/TB`] : []),
    ...(clip.keepSound === undefined ? [] : [`aselect=${escaped(clip.keepSound)}`]),
    GRAPH_AUDIO_OUTPUT,
  ].join(',');
}
