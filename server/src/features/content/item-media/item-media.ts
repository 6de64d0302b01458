/**
 * The media of an item: where its bytes come from, how it becomes `ready`, and what plays. This is
 * the interface for features that receive, process or serve media. States and transitions are in
 * `transitions.ts`.
 */
export { coverOf, makeCover, requirePicture, setThumbnailTime } from './cover.ts';
export { setLanguage } from './language.ts';
export {
  liveFolderOf,
  markLive,
  markLiveThumbnail,
  markRecorded,
  type LiveMedia,
} from './live-items.ts';
export { findPlaybackRules, type PlaybackRules } from './playback-rules.ts';
export {
  findMediaSource,
  findUnnamedSources,
  lockEvenArchived,
  lockMedia,
  setSource,
  type MediaSource,
} from './sources.ts';
export {
  failWithoutSource,
  markComplete,
  markFailed,
  markIncomplete,
  markPendingAgain,
  markPlayable,
  markProcessing,
  markReady,
  recordProgress,
  recordTransfer,
  type FailedItem,
} from './transitions.ts';
