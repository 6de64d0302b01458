/**
 * Files that the engine derives from a video: each kind, which is also the name of its folder, and
 * the file in it that URLs point to.
 */
export const DERIVED_FILES = {
  preview: 'preview.webp',
  storyboard: 'storyboard.vtt',
  download: 'video.mp4',
} as const;

export type DerivedFile = keyof typeof DERIVED_FILES;
