import type { AudioRecipe, Expected, Recipe, StreamRecipe, VideoRecipe } from './recipe.ts';

export type Options = Readonly<Record<string, string | number>>;

export const X264: Options = { preset: 'ultrafast', crf: 12 };
export const GOOD: Options = { qmin: 2, qmax: 4 };

export const video = (encoder: string, more: Partial<VideoRecipe> = {}): VideoRecipe => ({
  kind: 'video',
  encoder,
  ...more,
});
export const audio = (encoder: string, more: Partial<AudioRecipe> = {}): AudioRecipe => ({
  kind: 'audio',
  encoder,
  ...more,
});
export const h264 = (more: Partial<VideoRecipe> = {}): VideoRecipe =>
  video('libx264', { options: X264, ...more });
export const aac = (more: Partial<AudioRecipe> = {}): AudioRecipe => audio('aac', more);

export const plays = (more: Partial<Extract<Expected, { verdict: 'ready' }>> = {}): Expected => ({
  verdict: 'ready',
  seconds: 2,
  hasSound: true,
  ...more,
});
export const refused = (names: string): Expected => ({ verdict: 'UNSUPPORTED_MEDIA', names });

export function recipe(
  name: string,
  format: string,
  streams: readonly StreamRecipe[],
  expected: Expected = plays(),
  more: Partial<Recipe> = {},
): Recipe {
  return { name, format, streams, expected, ...more };
}

/** The audio codec to use next to a video codec in a container. */
const SOUND_OF: Readonly<Record<string, AudioRecipe>> = {
  webm: audio('libopus'),
  avi: audio('libmp3lame'),
  vob: audio('mp2'),
  mpeg: audio('mp2'),
  asf: audio('wmav2'),
  ogg: audio('libvorbis'),
  flv: aac({ sampleRate: 44_100 }),
};
export const soundOf = (format: string): AudioRecipe => SOUND_OF[format] ?? aac();
