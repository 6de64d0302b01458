/** The public interface of the media engine. */
export { describeCage, findCage, knownCage, type Cage, type CageLevel } from './cage.ts';
export { DERIVED_FILES, type DerivedFile } from './derived-files.ts';
export { THUMBNAIL_FORMATS, thumbnailSizes, WAVEFORM_SIZE } from './thumbnail-sizes.ts';
export {
  av1Rungs,
  DEFAULT_STEPS,
  LADDER_STEPS,
  planLadder,
  type LadderStep,
  type VideoRung,
} from './ladder.ts';
export { ImageDecoder, type ImageFiles } from './image-decoder.ts';
export { growingPlaylist, GROWING_MIN_SEGMENTS, parseMediaPlaylist } from './media-playlist.ts';
export {
  liveRungs,
  LiveRungs,
  type LiveCodec,
  type LivePicture,
  type RungSegment,
} from './live-rungs.ts';
export { LiveRemux } from './live-remux.ts';
export { MediaError, type MediaErrorCode } from './media-error.ts';
export { sniffImage, type ImageFormat } from './sniff-image.ts';
export { SNIFF_BYTES, sniffMedia, type SniffedFormat } from './sniff.ts';
export type { MediaTaskLimits, MediaTaskOptions } from './child-process.ts';
export type {
  CompleteResult,
  ImageResult,
  MediaInfo,
  PrepareResult,
  Rendition,
  SourceTrack,
  SourceWarning,
  ThumbnailFacts,
} from './tasks.ts';
export { runMediaTask } from './run-task.ts';
export { generateClip } from './sample-clips.ts';
export type { ClipSpec, PictureLayer } from './clip-spec.ts';
export { TIMELINE_START_SECONDS } from './timeline.ts';
