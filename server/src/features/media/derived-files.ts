/**
 * Files that the engine makes from a video beside its stream: the name of each one's folder, which is
 * also that of its kind, and the file in it that URLs lead to.
 */
export const DERIVED_FILES = {
  preview: 'preview.webp',
  storyboard: 'storyboard.vtt',
  download: 'video.mp4',
} as const;

export type DerivedFile = keyof typeof DERIVED_FILES;
