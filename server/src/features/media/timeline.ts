/**
 * Every rendition's time line starts here and not at 0. Reordered pictures and the lead-in of AAC need
 * timestamps before the first picture; starting late keeps them positive. Otherwise the muxer
 * shifts each rung by its own reordering delay, and a switch between rungs would break the
 * synchronisation of picture and sound. With `frag_discont` the start stands in the fragments
 * themselves, since browsers ignore the empty edit that FFmpeg would write in its place.
 */
export const TIMELINE_START_SECONDS = 0.2;
