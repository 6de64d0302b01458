/**
 * The decoders that uploaded bytes may reach, by FFmpeg's names. What is missing here is never
 * opened, however a file labels its streams: most of FFmpeg's several hundred decoders are for
 * games and cameras of the past and see little testing.
 */
export const VIDEO_DECODERS: ReadonlySet<string> = new Set([
  'h264',
  'hevc',
  'libdav1d',
  'vp8',
  'vp9',
  'mpeg1video',
  'mpeg2video',
  'mpeg4',
  'msmpeg4v2',
  'msmpeg4',
  'h263',
  'flv',
  'vp6f',
  'mjpeg',
  'prores',
  'dnxhd',
  'theora',
  'ffv1',
]);

export const AUDIO_DECODERS: ReadonlySet<string> = new Set([
  'aac',
  'aac_latm',
  'mp2float',
  'mp3float',
  'mp2',
  'mp3',
  'opus',
  'vorbis',
  'flac',
  'alac',
  'ac3',
  'eac3',
  'amrnb',
  'amrwb',
  'pcm_s16le',
  'pcm_s16be',
  'pcm_s24le',
  'pcm_s24be',
  'pcm_s32le',
  'pcm_f32le',
  'pcm_u8',
  'pcm_s8',
  'pcm_alaw',
  'pcm_mulaw',
  'adpcm_ms',
  'adpcm_ima_wav',
  'adpcm_ima_qt',
  'adpcm_swf',
  'nellymoser',
  'speex',
]);

export const ALL_DECODERS = [...VIDEO_DECODERS, ...AUDIO_DECODERS].join(',');
