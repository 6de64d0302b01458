/**
 * Start of every rendition's timeline. Reordered pictures and AAC priming need timestamps before
 * the first picture; starting late keeps them positive. Otherwise the muxer would shift each rung
 * by its own reordering delay, and switching between rungs would break audio/video sync.
 * `frag_discont` stores the start in the fragments, because browsers ignore the empty edit that
 * FFmpeg would otherwise write.
 */
export const TIMELINE_START_SECONDS = 0.2;
